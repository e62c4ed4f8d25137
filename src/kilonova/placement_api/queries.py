"""Reading the query parameters that lists and candidates share: resources, traits, aggregates. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kilonova.placement_api.errors import BadValue

_FORBIDDEN_TRAITS: Final = 22
_ANY_OF_TRAITS: Final = 39
_MANY_MEMBER_OF: Final = 24
_FORBIDDEN_AGGREGATES: Final = 32
_CLASS: Final = re.compile(r"[A-Z0-9_]{1,255}")
_TRAIT: Final = re.compile(r"[A-Z0-9_]{1,255}")
# Python refuses to read numbers of thousands of digits; no amount has more than these.
_MOST_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class Terms:
    """Names asked for, each set by one of its members, and names ruled out."""

    required: tuple[frozenset[str], ...] = ()
    forbidden: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """Every name in it."""
        return frozenset().union(*self.required, self.forbidden)


def read_resources(key: str, value: str) -> dict[str, int]:
    """`VCPU:1,MEMORY_MB:512` as amounts by class. Raises BadValue."""
    amounts: dict[str, int] = {}
    for entry in value.split(","):
        name, colon, amount = entry.partition(":")
        if not colon or not _CLASS.fullmatch(name):
            raise BadValue(f"Badly formed resources parameter. Expected {key}=NAME1:COUNT1,NAME2:COUNT2 and got {value!r}.")
        # White space around an amount is forgiven, as clients put it there.
        amount = amount.strip()
        if not (amount.isascii() and amount.isdigit() and len(amount) <= _MOST_DIGITS) or not 0 < int(amount) < 2**31:
            raise BadValue(f"Requested resource {name} of {key} requires a whole amount of at least 1, not {amount!r}.")
        if name in amounts:
            raise BadValue(f"Resource class {name} is more than once in {key}.")
        amounts[name] = int(amount)
    return amounts


def read_traits(key: str, values: Sequence[str], version: int) -> Terms:
    """The values of a `required` parameter. Before 1.39 the last one counts. Raises BadValue."""
    required: list[frozenset[str]] = []
    forbidden: set[str] = set()
    for value in values if version >= _ANY_OF_TRAITS else values[-1:]:
        if value.startswith("in:"):
            if version < _ANY_OF_TRAITS:
                raise BadValue(
                    f"Invalid query string parameters: The format 'in:' of {key} is only supported since version 1.39."
                )
            required.append(frozenset(_traits(key, value, value[3:])))
            continue
        for name in value.split(","):
            if name.startswith("!") and version >= _FORBIDDEN_TRAITS:
                forbidden.update(_traits(key, value, name[1:]))
            else:
                required.append(frozenset(_traits(key, value, name)))
    clash = frozenset().union(*(names for names in required if len(names) == 1)) & forbidden
    if clash:
        raise BadValue(f"Conflicting required and forbidden traits found in {key}: {', '.join(sorted(clash))}")
    return Terms(tuple(dict.fromkeys(required)), frozenset(forbidden))


def read_root_traits(values: Sequence[str], version: int) -> Terms:
    """The value of `root_required`, which knows no sets. Raises BadValue."""
    if any(value.startswith("in:") for value in values):
        raise BadValue("Invalid query string parameters: root_required takes no in: sets.")
    return read_traits("root_required", values, version)


def read_member_of(key: str, values: Sequence[str], version: int) -> Terms:
    """The values of a `member_of` parameter. Raises BadValue."""
    if len(values) > 1 and version < _MANY_MEMBER_OF:
        raise BadValue(f"Multiple {key} parameters are not supported")
    required: list[frozenset[str]] = []
    forbidden: set[str] = set()
    for value in values:
        rest = value.removeprefix("!")
        if rest != value and version < _FORBIDDEN_AGGREGATES:
            raise BadValue(f"Forbidden {key} parameters are not supported in the specified microversion")
        uuids = rest[3:].split(",") if rest.startswith("in:") else [rest]
        found = frozenset(read_uuid(key, uuid) for uuid in uuids)
        if rest != value:
            forbidden |= found
        else:
            required.append(found)
    return Terms(tuple(required), frozenset(forbidden))


def read_uuid(key: str, value: str) -> str:
    """A uuid in its usual form. Raises BadValue."""
    try:
        return str(UUID(value))
    except ValueError as error:
        raise BadValue(f"Invalid query string parameters: Expected '{key}' to contain valid UUIDs, not {value!r}.") from error


def _traits(key: str, whole: str, names: str) -> list[str]:
    found = [name.strip() for name in names.split(",")]
    if not all(_TRAIT.fullmatch(name) for name in found):
        raise BadValue(f"Invalid query string parameters: Expected '{key}' to be names of traits, got {whole!r}.")
    return found
