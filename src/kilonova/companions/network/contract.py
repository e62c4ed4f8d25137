"""What Kilonova asks of a network service, whichever it is. Calls of operations are find-or-create: a repeated call finds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kilonova.domain.network import AskedNetwork, ServerPort
from kilonova.http.calls import Caller


@dataclass(frozen=True, slots=True)
class Binding:
    """Whose cards to bind where: the device is the server's id; `asked` in order, each with a place of its own."""

    server_id: str
    project_id: str
    hostname: str
    host: str
    zone: str
    asked: Sequence[AskedNetwork]
    security_groups: Sequence[str]


class NetworkService(Protocol):
    """Cards of servers."""

    async def check(self, caller: Caller, asked: Sequence[AskedNetwork]) -> tuple[AskedNetwork, ...]:
        """What was asked, if the caller may use it and it exists. Raises errors.BadRequest naming the network or port,
        errors.Conflict for a port in use, errors.Unavailable.
        """
        ...

    async def automatic(self, caller: Caller) -> tuple[AskedNetwork, ...]:
        """The cards of a server whose user left the choice to us: one on the project's only usable network, none if there
        is none. Raises errors.Conflict where there are several.
        """
        ...

    async def name_groups(self, caller: Caller, asked: Sequence[str]) -> tuple[str, ...]:
        """Security groups, asked for by name or id, by their names. Raises errors.BadRequest naming one that is not there."""
        ...

    async def bind(self, binding: Binding) -> tuple[ServerPort, ...]:
        """Find or make the ports of a server and bind them to its host; the same call again gives the same ports.

        Raises errors.Conflict where a network has no address left, errors.Unavailable.
        """
        ...

    async def release(self, server_id: str) -> None:
        """Delete the ports that `bind` made for the server and free those that its user brought. Nothing left is success."""
        ...
