"""Bytes of images as files in one directory. An upload is written beside its place and moved there whole or not at all."""

import asyncio
import hashlib
import os
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

CHUNK: Final = 1 << 20
"""Bytes read and written at once; each piece costs one trip to a thread."""
_PART: Final = ".part"


@dataclass(frozen=True, slots=True)
class Written:
    """A finished upload: its size in bytes, and the checksums that the image API shows."""

    size: int
    md5: str
    sha512: str


class _Draft:
    """An upload under way. Its methods wait for the disk, so they run in threads."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(f"{path.name}.{secrets.token_hex(4)}{_PART}")
        self._goal = path
        self._file = self.path.open("xb")
        self._size = 0
        # The md5 only tells a damaged copy; nothing is trusted because of it.
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._sha512 = hashlib.sha512()

    def add(self, data: bytes) -> None:
        self._file.write(data)
        self._md5.update(data)
        self._sha512.update(data)
        self._size += len(data)

    def finish(self) -> Written:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self.path.replace(self._goal)
        return Written(self._size, self._md5.hexdigest(), self._sha512.hexdigest())

    def drop(self) -> None:
        self._file.close()
        self.path.unlink(missing_ok=True)


class ImageFiles:
    """The directory, which belongs to one cloud; it is made if it is not there."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory

    async def write(self, image_id: str, chunks: AsyncIterator[bytes]) -> Written:
        """Keep what comes. Whatever `chunks` raises is passed on and leaves nothing behind."""
        draft = await asyncio.to_thread(_Draft, self._path(image_id))
        try:
            waiting = bytearray()
            async for chunk in chunks:
                waiting += chunk
                if len(waiting) >= CHUNK:
                    await asyncio.to_thread(draft.add, bytes(waiting))
                    waiting.clear()
            await asyncio.to_thread(draft.add, bytes(waiting))
            return await asyncio.to_thread(draft.finish)
        finally:
            # After the move there is nothing of that name any more.
            draft.drop()

    async def open(self, image_id: str) -> AsyncIterator[bytes]:
        """The bytes, piece by piece. Raises FileNotFoundError at once, not at the first piece."""
        return _pieces(await asyncio.to_thread(self._path(image_id).open, "rb"))

    async def remove(self, image_id: str) -> None:
        """Delete the bytes, if there are any. Whoever is reading them reads on to the end."""
        await asyncio.to_thread(self._path(image_id).unlink, missing_ok=True)

    def drop_drafts(self) -> None:
        """Delete uploads that the end of their process cut off; only before any upload begins."""
        for draft in self._directory.glob(f"*{_PART}"):
            draft.unlink(missing_ok=True)

    def _path(self, image_id: str) -> Path:
        return self._directory / image_id


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, CHUNK):
            yield piece
