"""Callers as a real Keystone knows them: its answers are kept for a limited time, and nobody asks twice at once."""

import asyncio
import re
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from kilonova.companions.identity.keystone import KeystoneClient, Meaning
from kilonova.domain.errors import Unauthorized, Unavailable
from kilonova.http.calls import Caller
from kilonova.settings import KeystoneSettings

REFUSAL_SECONDS: Final = 10.0
"""How long at most a token that was not valid is not asked about again."""

_NO_HEADERS: Final[Mapping[str, str]] = {}
_TOKEN: Final = re.compile(r"[\x21-\x7e]+")
_INVALID: Final = "The token is not valid."


class RemoteIdentity:
    """Knows callers by asking Keystone. Raises SettingsError where the settings cannot name one.

    Tokens are remembered by their digests, refused ones apart from valid ones: a flood of wrong tokens then pushes nobody
    out, and needs no more memory than `cached_tokens` digests.
    """

    def __init__(self, settings: KeystoneSettings) -> None:
        self._keystone = KeystoneClient(settings)
        self._seconds = settings.cache_seconds
        self._most = settings.cached_tokens
        self._callers: dict[bytes, tuple[Caller, float]] = {}
        self._refused: dict[bytes, tuple[None, float]] = {}
        self._asking: dict[bytes, asyncio.Task[Caller]] = {}

    async def caller(self, token: str, headers: Mapping[str, str] = _NO_HEADERS) -> Caller:
        """See IdentityService. Calls with the same token that come together are one question to Keystone."""
        if not _TOKEN.fullmatch(token):
            raise Unauthorized(_INVALID)
        key = sha256(token.encode()).digest()
        moment = time.monotonic()
        held = self._callers.get(key)
        if held is not None and held[1] > moment:
            return held[0]
        refused = self._refused.get(key)
        if refused is not None and refused[1] > moment:
            raise Unauthorized(_INVALID)
        asking = self._asking.get(key)
        if asking is None:
            asking = self._asking[key] = asyncio.create_task(self._ask(key, token), name="keystone:token")
            asking.add_done_callback(lambda done: self._answered(key, done))
        # A client that goes away must not end the question that others wait for, too.
        return await asyncio.shield(asking)

    async def close(self) -> None:
        """End what is still being asked, and give back all connections."""
        for asking in list(self._asking.values()):
            asking.cancel()
        await self._keystone.close()

    async def _ask(self, key: bytes, token: str) -> Caller:
        try:
            meaning = await self._keystone.meaning(token)
            left = meaning.ends - time.time()
            if left <= 0:
                raise Unauthorized(_INVALID)
        except Unauthorized:
            self._remember(self._refused, key, None, min(REFUSAL_SECONDS, self._seconds))
            raise
        found = _caller_of(meaning)
        self._remember(self._callers, key, found, min(left, self._seconds))
        return found

    def _remember(self, kept: dict[bytes, Any], key: bytes, value: Caller | None, seconds: float) -> None:
        """Keep `value`; the oldest entries make room."""
        kept.pop(key, None)
        while kept and len(kept) >= self._most:
            del kept[next(iter(kept))]
        if self._most > 0:
            kept[key] = (value, time.monotonic() + seconds)

    def _answered(self, key: bytes, asking: "asyncio.Task[Caller]") -> None:
        del self._asking[key]
        if not asking.cancelled():
            # Whoever waited has it; where nobody does any more, the loop must not report it as lost.
            asking.exception()


def _caller_of(meaning: Meaning) -> Caller:
    """The caller in a token's document. Raises errors.Unavailable where it is not one.

    Roles on a domain count for nothing here: all that is served belongs to projects or to the whole system.
    """
    document = meaning.document
    try:
        user = document["user"]
        project = document.get("project") or {"id": "", "name": ""}
        system = bool(document.get("system"))
        roles = document.get("roles", ()) if project["id"] or system else ()
        return Caller(
            user_id=user["id"],
            project_id=project["id"],
            roles=frozenset(role["name"].lower() for role in roles),
            user_name=user["name"],
            project_name=project["name"],
            domain_id=user["domain"]["id"],
            system=system,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise Unavailable("What Keystone answered is no token document.") from error
