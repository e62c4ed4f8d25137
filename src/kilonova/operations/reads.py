"""Reads that go straight to a host with a limit; they are no operations and leave no trace."""

from collections.abc import Mapping
from typing import Any

import orjson

from kilonova.bus import Bus
from kilonova.bus.messages import read_subject
from kilonova.domain.errors import Conflict


class HostReads:
    """Asks hosts; an answer may take `seconds`."""

    def __init__(self, bus: Bus, seconds: float) -> None:
        self._bus = bus
        self._seconds = seconds

    async def console(self, host: str, server_id: str, lines: int | None) -> str:
        """The last `lines` of a guest's console, all for None. Raises errors.Unavailable, errors.Conflict."""
        answer = await self._ask(host, {"name": "console", "server": server_id, "lines": lines})
        return str(answer["output"])

    async def guests(self, host: str) -> Mapping[str, str]:
        """Every guest of a host and its power state. Raises errors.Unavailable, errors.Conflict."""
        answer: Mapping[str, str] = (await self._ask(host, {"name": "guests"}))["guests"]
        return answer

    async def _ask(self, host: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = orjson.loads(
            await self._bus.request(read_subject(host), orjson.dumps(question), self._seconds)
        )
        if "error" in answer:
            raise Conflict(answer["error"])
        return answer
