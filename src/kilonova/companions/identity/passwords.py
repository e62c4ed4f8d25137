"""Passwords as Argon2 hashes. Hashing is slow on purpose, so it runs in threads and only a few at a time."""

import asyncio
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

LONGEST: Final = 4096
"""Characters; the community's limit too, without which a long password would be a cheap way to keep us busy."""

# 19 MiB, two passes: the smallest setting that OWASP's password storage guide names for Argon2id.
_HASHER: Final = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


class Passwords:
    """Makes and checks hashes, at most `at_once` at a time so that a flood of logins leaves threads for others."""

    def __init__(self, at_once: int = 4) -> None:
        self._free = asyncio.Semaphore(at_once)

    async def hashed(self, password: str) -> str:
        """The hash to keep."""
        async with self._free:
            return await asyncio.to_thread(_HASHER.hash, password)

    async def fits(self, password_hash: str, password: str) -> bool:
        """Whether the password is the one; without a hash the answer is no, after the same time, so that it tells nothing."""
        if not password_hash:
            await self.hashed(password)
            return False
        async with self._free:
            return await asyncio.to_thread(_fits, password_hash, password)


def _fits(password_hash: str, password: str) -> bool:
    try:
        return _HASHER.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False
