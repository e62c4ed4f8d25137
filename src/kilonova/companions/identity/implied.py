"""Which roles a role brings with it."""

from collections.abc import Iterable, Mapping
from typing import Final

BUILT_IN: Final = ("admin", "manager", "member", "reader", "service")
"""Roles that every cloud has; they can be neither renamed nor deleted, because policies name them."""

_NEXT: Final[Mapping[str, str]] = {"admin": "manager", "manager": "member", "member": "reader"}


def with_implied(names: Iterable[str]) -> frozenset[str]:
    """The role names given and all that they imply: admin has manager, manager has member, member has reader."""
    found: set[str] = set()
    for name in names:
        implied: str | None = name
        while implied is not None and implied not in found:
            found.add(implied)
            implied = _NEXT.get(implied)
    return frozenset(found)
