"""How the placement API tells errors: its own codes where it has one, the code for everything else where it has none."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from kilonova.domain.errors import BadAmount, BadRequest, Conflict, OverCapacity
from kilonova.http.errors import errors_form

UNDEFINED: Final = "placement.undefined_code"
_OWN: Final = 1002


class BadValue(BadRequest):
    """A query parameter has a value that cannot be right."""

    code = "placement.query.bad_value"


class DuplicateKey(BadRequest):
    """A query parameter that may be given once is there more often."""

    code = "placement.query.duplicate_key"


class MissingValue(BadRequest):
    """A query parameter is needed, or another that it needs is not there."""

    code = "placement.query.missing_value"


class UnknownProvider(BadRequest):
    """A body speaks of a provider that does not exist."""

    code = "placement.resource_provider.not_found"


def placement_form(status: int, code: str, sentence: str, request_id: str) -> Mapping[str, Any]:
    """The list of errors, with the codes that clients of placement know."""
    known = code.startswith(("placement.", "kilonova."))
    return errors_form(status, code if known else UNDEFINED, sentence, request_id)


@contextmanager
def told_at(version: int) -> Iterator[None]:
    """A full provider and a broken unit have codes of their own from 1.1002 on; before, clients know only the undefined one."""
    try:
        yield
    except (OverCapacity, BadAmount) as error:
        if version >= _OWN:
            raise
        raise Conflict(f"Unable to allocate inventory: {error}") from error
