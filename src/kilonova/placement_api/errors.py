"""How the placement API tells errors: its own codes where it has one, the code for everything else where it has none."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from kilonova.domain.errors import BadAmount, BadRequest, Conflict, OverCapacity
from kilonova.http.errors import Refusal, errors_form

UNDEFINED: Final = "placement.undefined_code"
_CODES: Final = 23
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


def placement_form(refusal: Refusal) -> Mapping[str, Any]:
    """The list of errors, from 1.23 on with the codes that clients of placement know."""
    known = refusal.code.startswith(("placement.", "kilonova."))
    form = errors_form(refusal if known else replace(refusal, code=UNDEFINED))
    if refusal.version is None or refusal.version < _CODES:
        del form["errors"][0]["code"]
    return form


@contextmanager
def told_at(version: int) -> Iterator[None]:
    """A full provider and a broken unit have codes of their own from 1.1002 on; before, clients know only the undefined one."""
    try:
        yield
    except (OverCapacity, BadAmount) as error:
        if version >= _OWN:
            raise
        over = " The requested amount would exceed the capacity." if isinstance(error, OverCapacity) else ""
        raise Conflict(f"Unable to allocate inventory: {error}{over}") from error
