"""The network service as operations call it: with a limit on every call, and with its calls at the chaos door."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from kilonova.bus.chaos import ChaosRules
from kilonova.companions.network.contract import Binding, NetworkService
from kilonova.domain.errors import Unavailable
from kilonova.domain.network import AskedNetwork, ServerPort
from kilonova.http.calls import Caller

Result = TypeVar("Result")
POINTS: Final = ("network.bind", "network.release")


class GuardedNetworks:
    """A network service behind limits (seconds) and faults; it changes no answer."""

    def __init__(self, service: NetworkService, chaos: ChaosRules, seconds: float) -> None:
        self._service = service
        self._chaos = chaos
        self._seconds = seconds

    async def check(self, caller: Caller, asked: Sequence[AskedNetwork]) -> tuple[AskedNetwork, ...]:
        """See NetworkService."""
        return await self._limited(lambda: self._service.check(caller, asked))

    async def automatic(self, caller: Caller) -> tuple[AskedNetwork, ...]:
        """See NetworkService."""
        return await self._limited(lambda: self._service.automatic(caller))

    async def name_groups(self, caller: Caller, asked: Sequence[str]) -> tuple[str, ...]:
        """See NetworkService."""
        return await self._limited(lambda: self._service.name_groups(caller, asked))

    async def bind(self, binding: Binding) -> tuple[ServerPort, ...]:
        """See NetworkService."""
        await self._chaos.hit("network.bind", "before", binding.host, binding.server_id)
        ports = await self._limited(lambda: self._service.bind(binding))
        await self._chaos.hit("network.bind", "after", binding.host, binding.server_id)
        return ports

    async def release(self, server_id: str) -> None:
        """See NetworkService."""
        await self._chaos.hit("network.release", "before", "", server_id)
        await self._limited(lambda: self._service.release(server_id))
        await self._chaos.hit("network.release", "after", "", server_id)

    async def _limited(self, call: Callable[[], Awaitable[Result]]) -> Result:
        try:
            async with asyncio.timeout(self._seconds):
                return await call()
        except TimeoutError as error:
            raise Unavailable(f"The network service did not answer within {self._seconds:g} s.") from error
