"""A light HTTP/1.1 client on asyncio's streams: it costs little, so that a burst of it measures the server and not itself."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

READ_LIMIT = 64 * 1024 * 1024
ANSWER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `seconds` is from the first byte sent to the last byte read."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float

    def json(self) -> Any:
        """The body's value."""
        return json.loads(self.body)


class Connection:
    """One connection that is kept open; one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self._reader = reader
        self._writer = writer
        self._host = host

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect to the server of `url`."""
        parts = urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=READ_LIMIT)
        return cls(reader, writer, parts.netloc)

    async def ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> Reply:
        """Send a request and read its answer, which must have a Content-Length or no body. Raises TimeoutError."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self._host}", f"Content-Length: {len(body)}"]
        if body:
            lines.append("Content-Type: application/json")
        lines += [f"{name}: {value}" for name, value in headers.items()]
        begun = time.perf_counter()
        self._writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        async with asyncio.timeout(ANSWER_SECONDS):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            answered = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
            content = await self._reader.readexactly(int(answered.get("content-length", 0)))
        return Reply(int(head[0].split()[1]), answered, content, time.perf_counter() - begun)

    async def close(self) -> None:
        """Close it."""
        self._writer.close()
        await self._writer.wait_closed()
