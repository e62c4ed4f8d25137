"""Reading the query parameters that lists and candidates share: resources, traits, aggregates. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kilonova.placement_api.errors import BadValue
from kilonova.placement_api.wording import invalid_query

_FORBIDDEN_TRAITS: Final = 22
_ANY_OF_TRAITS: Final = 39
_MANY_MEMBER_OF: Final = 24
_FORBIDDEN_AGGREGATES: Final = 32
_CLASS: Final = re.compile(r"[A-Z0-9_]{1,255}")
_TRAIT: Final = re.compile(r"[A-Z0-9_]{1,255}")
_WHOLE: Final = re.compile(r"-?[0-9]+", re.ASCII)
_BAD_RESOURCES: Final = (
    "Badly formed resources parameter. Expected resources query string parameter in form: ?resources=VCPU:2,MEMORY_MB:1024."
)
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
    if not value.strip():
        raise BadValue(f"{_BAD_RESOURCES} Got: empty string.")
    for entry in value.split(","):
        name, colon, text = entry.partition(":")
        if not colon or not _CLASS.fullmatch(name):
            raise BadValue(f"{_BAD_RESOURCES} Got: {entry}.")
        # White space around an amount is forgiven, as clients put it there.
        amount = text.strip()
        if not _WHOLE.fullmatch(amount):
            raise BadValue(f"Requested resource {name} expected positive integer amount. Got: {amount}.")
        if len(amount) > _MOST_DIGITS or not 0 < int(amount) < 2**31:
            raise BadValue(f"Requested resource {name} requires amount >= 1. It must be less than 2**31, too. Got: {amount}.")
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
                    invalid_query(
                        "The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' only supported since microversion 1.39. "
                        f"Got: {value} as {key}"
                    )
                )
            names = [name.strip() for name in value[3:].split(",")]
            if not all(_TRAIT.fullmatch(name) for name in names):
                raise BadValue(_bad_traits(key, "in:HW_CPU_X86_VMX,CUSTOM_MAGIC", value))
            required.append(frozenset(names))
            continue
        for name in map(str.strip, value.split(",")):
            forbids = name.startswith("!") and version >= _FORBIDDEN_TRAITS
            if not _TRAIT.fullmatch(name.removeprefix("!") if forbids else name):
                form = f"HW_CPU_X86_VMX,{'!' if version >= _FORBIDDEN_TRAITS else ''}CUSTOM_MAGIC"
                raise BadValue(_bad_traits(key, form, value))
            if forbids:
                forbidden.add(name[1:])
            else:
                required.append(frozenset({name}))
    clash = frozenset().union(*(names for names in required if len(names) == 1)) & forbidden
    if clash:
        raise BadValue(f"Conflicting required and forbidden traits found in {key}: {', '.join(sorted(clash))}")
    return Terms(tuple(dict.fromkeys(required)), frozenset(forbidden))


def read_root_traits(values: Sequence[str], version: int) -> Terms:
    """The value of `root_required`, which knows no sets. Raises BadValue."""
    if any(value.startswith("in:") for value in values):
        raise BadValue(invalid_query("root_required takes no in: sets"))
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
        if not rest.startswith("in:") and "," in rest:
            raise BadValue(
                f"Multiple values for '{key}' must be prefixed with the 'in:' or '!in:' keyword using the valid microversion."
            )
        found = frozenset(_aggregate(key, uuid) for uuid in rest.removeprefix("in:").split(","))
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
        raise BadValue(invalid_query(f"Expected '{key}' parameter to be a format of uuid. Got: {value}")) from error


def _aggregate(key: str, value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError as error:
        raise BadValue(invalid_query(f"Expected '{key}' parameter to contain valid UUID(s). Got: {value}")) from error


def _bad_traits(key: str, form: str, value: str) -> str:
    return invalid_query(f"Expected '{key}' parameter value of the form: {form}. Got: {value}")
