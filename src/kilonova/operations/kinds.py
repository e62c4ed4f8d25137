"""The kinds of operations as ACCEPT sees them: one row a kind. What they do is in operations/table.py."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind. `version` is its definition's, stored with each operation; `event_for` its input's event in the lifecycle.

    Exclusive kinds are alone on their server; one that `takes_over` cancels what runs there. One that `waits` can be done on
    the server's own host only: while its whole cell cannot be reached it is parked, and goes on when the cell is back.
    """

    name: str
    version: int
    event_for: Callable[[Mapping[str, Any]], str]
    exclusive: bool = True
    takes_over: bool = False
    waits: bool = False


def _reboot_event(content: Mapping[str, Any]) -> str:
    return "reboot-hard" if content.get("hard") else "reboot"


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            Kind("create", 1, lambda content: "create"),
            Kind("delete", 1, lambda content: "delete", takes_over=True, waits=True),
            Kind("start", 1, lambda content: "start", waits=True),
            Kind("stop", 1, lambda content: "stop", waits=True),
            Kind("reboot", 1, _reboot_event, waits=True),
        )
    }
)
