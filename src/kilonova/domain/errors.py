"""The short tree of errors that callers may be told of. Each carries a stable code and a sentence for people."""


class KilonovaError(Exception):
    """Something that has a name; `code` is stable, `str(error)` is the sentence a person reads."""

    code = "kilonova.error"


class BadRequest(KilonovaError):
    """The request cannot be understood or can never be right; the sentence names the field."""

    code = "request.bad"


class Unauthorized(KilonovaError):
    """Nobody, or nobody any more, stands behind the token."""

    code = "identity.unauthorized"


class Forbidden(KilonovaError):
    """The caller may not do this."""

    code = "policy.forbidden"


class OverQuota(Forbidden):
    """A limit of the project would be passed."""

    code = "quota.exceeded"


class NotFound(KilonovaError):
    """There is no such thing, or none that the caller may know of."""

    code = "resource.not_found"


class Conflict(KilonovaError):
    """Right in itself, but not in the present state."""

    code = "state.conflict"


class StaleGeneration(Conflict):
    """Somebody else wrote since the caller last read; read again and repeat."""

    code = "placement.concurrent_update"


class OverCapacity(Conflict):
    """A claim would take a provider over its capacity."""

    code = "kilonova.over_capacity"


class BadAmount(Conflict):
    """An amount breaks min_unit, max_unit or step_size."""

    code = "kilonova.bad_amount"


class Unavailable(KilonovaError):
    """A part of the cloud that this needs does not answer now; the sentence says which."""

    code = "service.unavailable"


class LeaseLost(KilonovaError):
    """The operation's token has moved on: whoever holds this must stop and undo nothing."""

    code = "operation.lease_lost"
