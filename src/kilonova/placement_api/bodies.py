"""Large bodies: put together from pieces in slices, so that others are served in between, and sent in parts."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from typing import Final

from kilonova.http.calls import Answer, Call
from kilonova.placement_api.replies import reply

_SLICE: Final = 0.004
"""How long a body is worked on, in seconds, before others are let in."""

_TOGETHER: Final = 16_384
"""How many pieces are joined at a time: about a megabyte, and half a millisecond."""

_WHOLE: Final = 2 * 2**20
"""Bytes up to which a body is handed over in one; what the socket does not take at once is copied."""


class Body:
    """JSON on its way out. What is added must be bytes of a valid text when all is there."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._parts: list[bytes] = []
        self._pause = time.perf_counter() + _SLICE

    def add(self, pieces: Iterable[bytes]) -> None:
        """Add pieces, in order."""
        self._pieces.extend(pieces)
        if len(self._pieces) > _TOGETHER:
            self._parts.append(b"".join(self._pieces))
            self._pieces = []

    @property
    def due(self) -> bool:
        """Whether it is time to breathe; asking costs less than an await."""
        return time.perf_counter() > self._pause

    async def breathe(self) -> None:
        """Let others have the loop if they have waited long enough. What is read in pieces must be pinned."""
        if time.perf_counter() > self._pause:
            await asyncio.sleep(0)
            self._pause = time.perf_counter() + _SLICE

    def answer(self, call: Call) -> Answer:
        """The answer with this body."""
        whole = self.whole()
        if isinstance(whole, bytes):
            return reply(call, whole)
        return reply(call, whole, headers={"Content-Length": str(self._size)})

    def whole(self) -> bytes | AsyncIterator[bytes]:
        """All of it: in one where that is small, else in parts. Nothing can be added any more."""
        if not self._parts:
            return b"".join(self._pieces)
        self._parts.append(b"".join(self._pieces))
        return b"".join(self._parts) if self._size <= _WHOLE else _sent(self._parts)

    @property
    def _size(self) -> int:
        return sum(map(len, self._parts))


async def _sent(parts: list[bytes]) -> AsyncIterator[bytes]:
    """The parts, each let go of when it is out."""
    for number, part in enumerate(parts):
        parts[number] = b""
        yield part
