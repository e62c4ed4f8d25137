"""Asks a placement API over HTTP, with or without a connection that is kept open."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from http_client import Connection, Reply

IDLE_SECONDS: Final = 2.0
VERSION: Final = "placement 1.39"
PROJECT: Final = "b8e4d1a0c1f34d0f9d5b7f3e2a1c0d9e"
USER: Final = "2c6a1f0e7b9d4c3a8e5f6d7c8b9a0f1e"


@dataclass(slots=True)
class Asker:
    """One side's address and how to speak to it. uwsgi ends a connection after each answer; ours stay open."""

    url: str = ""
    prefix: str = ""
    token: str = "admin"
    keep_alive: bool = True
    _kept: list[tuple[float, Connection]] = field(default_factory=list)

    async def ask(self, method: str, path: str, body: Any = None) -> Reply:
        """One request and its answer."""
        content = b"" if body is None else orjson.dumps(body)
        headers = {"X-Auth-Token": self.token, "OpenStack-API-Version": VERSION, "Accept": "application/json"}
        async with self._connection() as connection:
            return await connection.ask(method, self.prefix + path, headers, content)

    async def must(self, method: str, path: str, body: Any = None) -> Reply:
        """One request that has to succeed. Raises RuntimeError."""
        reply = await self.ask(method, path, body)
        if reply.status >= 300:
            raise RuntimeError(f"{method} {path} answered {reply.status}: {reply.body[:300]!r}")
        return reply

    async def answers(self) -> bool:
        """Whether the root page is served."""
        try:
            return (await self.ask("GET", "/")).status == 200
        except (OSError, EOFError):
            return False

    async def close(self) -> None:
        """Close what was kept open."""
        for _, connection in self._kept:
            await connection.close()
        self._kept.clear()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        connection = await self._open()
        try:
            yield connection
        except BaseException:
            await connection.close()
            raise
        if self.keep_alive:
            self._kept.append((time.monotonic(), connection))
        else:
            await connection.close()

    async def _open(self) -> Connection:
        """The connection used last, or a new one where all have been idle so long that the server may end them."""
        if self._kept and self._kept[-1][0] + IDLE_SECONDS > time.monotonic():
            return self._kept.pop()[1]
        await self.close()
        return await Connection.open(self.url)
