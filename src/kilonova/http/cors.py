"""Lets web pages of named origins use an API: preflights are answered here, other answers get what a browser asks for.

Source: the Fetch standard, "CORS protocol". A request whose origin is not allowed is served as any other, without the headers
that would let the page read the answer; its preflight is a 200 that allows nothing, as the community's services have it. No
page may send cookies or the like along: who asks is said by a token alone. Every answer varies by origin, also one to nobody's
page: a cache must not give it to a page of another origin.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kilonova.http.site import Application

ANY: Final = "*"
_METHODS: Final = frozenset({"GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"})
_ASKED: Final = frozenset(
    {
        "accept",
        "content-type",
        "openstack-api-version",
        "x-auth-token",
        "x-openstack-nova-api-version",
        "x-openstack-request-id",
        "x-subject-token",
    }
)
"""Headers that clients of the community's services send; those that any page may send need no leave."""
_EXPOSED: Final = b"location, openstack-api-version, x-openstack-nova-api-version, x-openstack-request-id, x-subject-token"
_VARY: Final = (b"vary", b"origin")
_SECONDS: Final = b"3600"
"""How long a browser may go without asking again."""


class Cors:
    """An application around another one. `origins` may use it ("*": all); `headers` may be sent besides the usual ones."""

    def __init__(self, application: Application, origins: Sequence[str], headers: Sequence[str] = ()) -> None:
        self._application = application
        self._origins = frozenset(origins)
        self._headers = _ASKED | {name.lower() for name in headers}

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Serve one request."""
        headers = {name: value.decode("latin-1") for name, value in scope.get("headers", ())}
        origin = headers.get(b"origin")
        asked = headers.get(b"access-control-request-method")
        if origin is not None and scope["method"] == "OPTIONS" and asked is not None:
            lines = self._leave(origin, asked, headers.get(b"access-control-request-headers", ""))
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0"), *lines]})
            await send({"type": "http.response.body", "body": b""})
            return
        told = [_VARY]
        if origin is not None and self._allows(origin):
            told += [_allowed(origin), (b"access-control-expose-headers", _EXPOSED)]

        async def telling(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *told]}
            await send(message)

        await self._application(scope, receive, telling)

    def _allows(self, origin: str) -> bool:
        return ANY in self._origins or origin in self._origins

    def _leave(self, origin: str, method: str, names: str) -> list[tuple[bytes, bytes]]:
        """The headers that answer a preflight; none that allows anything where it is refused."""
        wanted = [name.strip().lower() for name in names.split(",") if name.strip()]
        if not self._allows(origin) or method not in _METHODS or not self._headers.issuperset(wanted):
            return [_VARY]
        lines = [
            _VARY,
            _allowed(origin),
            (b"access-control-allow-methods", method.encode()),
            (b"access-control-max-age", _SECONDS),
        ]
        if wanted:
            lines.append((b"access-control-allow-headers", ",".join(wanted).encode("latin-1")))
        return lines


def _allowed(origin: str) -> tuple[bytes, bytes]:
    """The origin is told back, even where all are allowed."""
    return b"access-control-allow-origin", origin.encode("latin-1")
