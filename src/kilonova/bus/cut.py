"""A bus that a chaos rule can cut off, as a broken network to a cell would be. Used only where chaos is on."""

from kilonova.bus import Bus, Handler, Message, Subscription
from kilonova.bus.chaos import ChaosRules
from kilonova.domain import errors


class CuttableBus:
    """Another bus, seen from a cell: while the cell is cut, nothing gets out and nothing comes in."""

    def __init__(self, bus: Bus, chaos: ChaosRules, cell: str) -> None:
        self._bus = bus
        self._chaos = chaos
        self._cell = cell

    async def publish(self, subject: str, data: bytes) -> None:
        """Send, or lose it while cut."""
        if not self._chaos.is_cut(self._cell):
            await self._bus.publish(subject, data)

    async def request(self, subject: str, data: bytes, seconds: float) -> bytes:
        """Ask; raises errors.Unavailable at once while cut."""
        if self._chaos.is_cut(self._cell):
            raise errors.Unavailable(f"Cell {self._cell} is cut off.")
        return await self._bus.request(subject, data, seconds)

    async def subscribe(self, pattern: str, handler: Handler, queue: str = "") -> Subscription:
        """Listen; what arrives while cut is lost."""

        async def hear(message: Message) -> bytes | None:
            return None if self._chaos.is_cut(self._cell) else await handler(message)

        return await self._bus.subscribe(pattern, hear, queue)

    async def close(self) -> None:
        """Close the bus behind it."""
        await self._bus.close()
