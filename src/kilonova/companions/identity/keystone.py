"""A client of Keystone's API v3: what a token means, asked for with a token of our own. Source: Identity API v3, "Tokens"."""

import asyncio
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import httpx
import orjson

from kilonova.domain.errors import Unauthorized, Unavailable
from kilonova.settings import KeystoneSettings, SettingsError

RENEWED_BEFORE: Final = 60.0
"""Seconds before its end at which our own token is replaced, or a tenth of its life where that is less."""

LOGIN_PAUSE: Final = 5.0
"""Seconds without another try after a refused login: Keystone locks out users that fail too often."""

CONNECTIONS: Final = 32


@dataclass(frozen=True, slots=True)
class Meaning:
    """What Keystone says of a token: the document under "token", and when it ends (seconds since the epoch)."""

    document: Mapping[str, Any]
    ends: float


@dataclass(frozen=True, slots=True)
class _OwnToken:
    token: str
    renew_at: float


class KeystoneClient:
    """Asks one Keystone. Raises SettingsError where the settings cannot name one."""

    def __init__(self, settings: KeystoneSettings) -> None:
        if not _is_address(settings.url):
            raise SettingsError(f"[keystone] url: {settings.url!r} is not the address of a Keystone")
        try:
            trusted = ssl.create_default_context(cafile=settings.ca_file or None)
        except (OSError, ssl.SSLError) as error:
            raise SettingsError(f"[keystone] ca_file: {settings.ca_file}: {error}") from error
        self._settings = settings
        self._url = f"{settings.url.rstrip('/').removesuffix('/v3')}/v3/auth/tokens"
        self._http = httpx.AsyncClient(
            verify=trusted, timeout=settings.call_seconds, limits=httpx.Limits(max_connections=CONNECTIONS)
        )
        self._own: _OwnToken | None = None
        self._logging_in = asyncio.Lock()
        self._refused_until = 0.0

    async def meaning(self, token: str) -> Meaning:
        """What the token means. Raises errors.Unauthorized for one that is not valid, errors.Unavailable after at most
        `call_seconds` where Keystone cannot say.
        """
        try:
            async with asyncio.timeout(self._settings.call_seconds):
                return await self._asked(token)
        except TimeoutError as error:
            raise Unavailable(f"Keystone did not answer within {self._settings.call_seconds} s.") from error
        except httpx.HTTPError as error:
            raise Unavailable(f"Keystone cannot be reached: {str(error) or type(error).__name__}") from error

    async def close(self) -> None:
        """Give back all connections."""
        await self._http.aclose()

    async def _asked(self, token: str) -> Meaning:
        for _ in range(2):
            own = await self._own_token()
            headers = {"X-Auth-Token": own.token, "X-Subject-Token": token}
            answer = await self._http.get(self._url, params={"nocatalog": ""}, headers=headers)
            if answer.status_code != 401:
                return self._read(answer)
            # It is our own token that Keystone does not know any more: its keys were changed, or somebody revoked it.
            if self._own is own:
                self._own = None
        raise Unavailable("Keystone refuses the token that it has just given to the user in [keystone].")

    def _read(self, answer: httpx.Response) -> Meaning:
        if answer.status_code == 404:
            raise Unauthorized("The token is not valid.")
        if answer.status_code == 403:
            user = self._settings.username
            raise Unavailable(f"Keystone does not let the user {user} look at tokens: give it the role service or admin.")
        if answer.status_code != 200:
            raise Unavailable(f"Keystone answered {answer.status_code} to a question about a token.")
        return _meaning_in(answer)

    async def _own_token(self) -> _OwnToken:
        async with self._logging_in:
            if self._own is None or self._own.renew_at <= time.time():
                self._own = await self._log_in()
            return self._own

    async def _log_in(self) -> _OwnToken:
        if time.monotonic() < self._refused_until:
            raise Unavailable("Keystone has just refused the user in [keystone].")
        answer = await self._http.post(self._url, params={"nocatalog": ""}, json=self._login())
        if answer.status_code == 401:
            self._refused_until = time.monotonic() + LOGIN_PAUSE
            raise Unavailable("Keystone refuses the user in [keystone]: name, password, project or a domain is wrong.")
        if answer.status_code != 201 or "x-subject-token" not in answer.headers:
            raise Unavailable(f"Keystone answered {answer.status_code} to a login.")
        ends = _meaning_in(answer).ends
        early = min(RENEWED_BEFORE, (ends - time.time()) / 10)
        return _OwnToken(answer.headers["x-subject-token"], ends - early)

    def _login(self) -> Mapping[str, Any]:
        settings = self._settings
        user = {"name": settings.username, "password": settings.password, "domain": {"name": settings.user_domain}}
        project = {"name": settings.project_name, "domain": {"name": settings.project_domain}}
        return {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": {"project": project}}}


def _is_address(url: str) -> bool:
    """Whether a request can be sent there at all."""
    try:
        read = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return read.scheme in {"http", "https"} and bool(read.host)


def _meaning_in(answer: httpx.Response) -> Meaning:
    try:
        document = orjson.loads(answer.content)["token"]
        return Meaning(document, datetime.fromisoformat(document["expires_at"]).timestamp())
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable("What Keystone answered is no token document.") from error
