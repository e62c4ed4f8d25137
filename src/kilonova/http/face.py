"""One HTTP face as an ASGI application: the table of routes and the way that every request takes through it.

The way: find the route, read the version, know the caller, ask the policy, read and check body and query, call the handler,
write the answer. The order matters: nothing is parsed for a stranger, and a path that does not exist is told to anybody.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import parse_qsl

import orjson
import structlog
from starlette.routing import compile_path

from kilonova.domain.clock import new_uuid
from kilonova.domain.errors import BadRequest, Forbidden, KilonovaError, NotFound, Unauthorized
from kilonova.http.calls import Answer, Call, Caller, Route
from kilonova.http.errors import ErrorForm, MethodNotAllowed, NotAccepted, Refusal, TooLarge, UnsupportedMedia, status_of
from kilonova.http.media import HTML, JSON, TEXT, Accepted, page, plain
from kilonova.http.policy import Policy
from kilonova.http.shapes import Checker, Flaw, flaw_sentence
from kilonova.http.versions import UNVERSIONED, NotAcceptable, Versions

Scope = Mapping[str, Any]
log = structlog.get_logger(__name__)
_NOTHING: Final[Mapping[str, str]] = {}
_KNOWN_VERSIONS: Final = 1_000
"""How many ways to ask for a version are remembered; clients know a few."""


class Authenticator(Protocol):
    """Turns a token into a caller."""

    async def caller(self, token: str, headers: Mapping[str, str]) -> Caller:
        """Who the token speaks for. `headers` are the request's, names in lower case. Raises errors.Unauthorized.

        A face never asks with an empty token. What a client says of itself in other headers (`x-roles`) is to be believed
        only by a service that is configured to believe anybody.
        """
        ...


@dataclass(frozen=True, slots=True)
class FaceSettings:
    """`prefix` is the path that the face is mounted at ("/compute/v2.1"); `body_limit` is in bytes.

    `legacy_project` lets a project id stand between prefix and path, as older catalogs have it. `flaws` words what is wrong
    with a body or a query, `malformed` that a body is no JSON (`{reason}`). With `exact_media` a body's media type must be
    named, a client that reads no JSON gets nothing else, and refusals are pages for those who read pages (as placement does).
    """

    name: str
    prefix: str
    errors: ErrorForm
    versions: Versions = UNVERSIONED
    body_limit: int = 114_688
    legacy_project: bool = False
    request_id_headers: Sequence[str] = ("x-openstack-request-id",)
    identity_url: str = ""
    flaws: Callable[[Flaw], str] = flaw_sentence
    malformed: str = "Malformed request body: {reason}"
    exact_media: bool = False


@dataclass(slots=True)
class _Way:
    """One request on its way: its headers, the version once it is read, and the headers that any answer to it will have."""

    request_id: str
    headers: Mapping[str, str]
    version: int | None = None
    told: dict[str, str] = field(default_factory=dict)


_PROJECT = re.compile(r"^/[0-9a-f]{32}(?=/)|^/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=/)")


class Face:
    """An ASGI application made of rows of a route table. `parts` is handed to every handler."""

    def __init__(
        self, settings: FaceSettings, routes: Sequence[Route], parts: Any, authenticator: Authenticator, policy: Policy
    ) -> None:
        for route in routes:
            if route.rule and route.rule not in policy:
                raise ValueError(f"route {route.method} {route.path} names no known rule: {route.rule}")
        self.settings = settings
        self.routes = tuple(routes)
        self._parts = parts
        self._authenticator = authenticator
        self._policy = policy
        self._checker = Checker(settings.flaws)
        self._json = Accepted(JSON)
        self._any = Accepted(JSON, HTML, TEXT)
        self._versioned: dict[tuple[str | None, str | None], tuple[int, dict[str, str]]] = {}
        self._table: dict[tuple[str, int], list[tuple[re.Pattern[str], dict[str, list[Route]]]]] = {}
        patterns: dict[str, dict[str, list[Route]]] = {}
        for route in routes:
            methods = patterns.get(route.path)
            if methods is None:
                methods = patterns[route.path] = {}
                expression = compile_path(route.path)[0]
                self._table.setdefault(_place(route.path), []).append((expression, methods))
            methods.setdefault(route.method, []).append(route)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Serve one request. What nobody expected is logged once with its trace and answered with 500."""
        way = _Way(
            f"req-{new_uuid()}",
            {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]},
        )
        try:
            answer = await self._answer(scope, receive, way)
        except KilonovaError as error:
            answer = self._refusal(error, way)
        except Exception as error:
            log.exception("request.failed", request_id=way.request_id, path=scope["path"], method=scope["method"])
            sentence = f"Unexpected error ({type(error).__name__}). The log has it under {way.request_id}."
            answer = self._told(Refusal(500, "kilonova.unexpected", sentence, way.request_id, way.version), way)
        for name in self.settings.request_id_headers:
            way.told[name] = way.request_id
        await _write(send, answer, {**way.told, **answer.headers}, head=scope["method"] == "HEAD")

    def _refusal(self, error: KilonovaError, way: _Way) -> Answer:
        status = status_of(error)
        if status >= 500:
            log.warning("request.refused", request_id=way.request_id, code=error.code, reason=str(error))
        served = error.served if isinstance(error, NotAcceptable) else None
        headers: dict[str, str] = {}
        if isinstance(error, MethodNotAllowed):
            headers["Allow"] = ", ".join(error.allowed)
        if status == 401:
            headers["WWW-Authenticate"] = f"Keystone uri='{self.settings.identity_url}'"
        return self._told(Refusal(status, error.code, str(error), way.request_id, way.version, served), way, headers)

    def _told(self, refusal: Refusal, way: _Way, headers: Mapping[str, str] = _NOTHING) -> Answer:
        """The refusal in the form that the client reads."""
        kind = self._any.best(way.headers.get("accept")) if self.settings.exact_media else JSON
        if kind == JSON:
            return Answer(refusal.status, self.settings.errors(refusal), headers)
        form = page if kind == HTML else plain
        body = form(refusal.title, refusal.status, refusal.sentence).encode()
        return Answer(refusal.status, body, headers, f"{kind or TEXT}; charset=utf-8")

    async def _answer(self, scope: Scope, receive: Any, way: _Way) -> Answer:
        headers = way.headers
        version = self._version(way)
        path = scope["path"][len(self.settings.prefix) :] or "/"
        if "\x00" in path or b"%00" in scope["query_string"]:
            # No name or id has it, and PostgreSQL's text cannot hold it.
            raise BadRequest("The address holds a NUL character.")
        if self.settings.legacy_project:
            path = _PROJECT.sub("", path, count=1)
        if self.settings.exact_media and "content-type" not in headers and headers.get("content-length", "0") != "0":
            raise BadRequest("A body needs its media type: content-type header required when content-length > 0.")
        rows, found = self._rows(scope["method"], path)
        route = next((row for row in rows if row.serves(version)), None)
        if route is None:
            raise NotFound("The resource could not be found.")
        caller = await self._known(route, headers)
        if route.needs is not None:
            self._check_media(route, headers)
            await route.needs(found, self._parts)
        query = _query(scope["query_string"])
        if route.query is not None:
            self._checker.check(route.query, version, {name: list(values) for name, values in query.items()}, "query")
        body: Any = _chunks(receive) if route.stream else await self._body(route, version, headers, receive)
        root = f"{scope['scheme']}://{headers.get('host', '127.0.0.1')}"

        def allows(rule: str, target: Mapping[str, Any]) -> bool:
            return self._policy.allows(rule, caller, target)

        full = f"{root}{scope['path']}" + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
        call = Call(
            scope["method"],
            found,
            query,
            body,
            caller,
            version,
            way.request_id,
            root + self.settings.prefix,
            full,
            headers,
            allows,
        )
        return await route.handler(call, self._parts)

    def _version(self, way: _Way) -> int:
        """The version that is asked for; whatever the answer will be, its headers tell of it."""
        versions = self.settings.versions
        if versions is UNVERSIONED:
            return 0
        asked = way.headers.get("openstack-api-version"), way.headers.get(versions.legacy_header)
        known = self._versioned.get(asked)
        if known is None:
            way.told["vary"] = versions.vary
            version = versions.asked(way.headers)
            known = version, versions.answer_headers(version)
            if len(self._versioned) < _KNOWN_VERSIONS:
                self._versioned[asked] = known
        way.version, told = known
        way.told = told.copy()
        return known[0]

    def _rows(self, method: str, path: str) -> tuple[list[Route], dict[str, str]]:
        if len(path) > 1 and path.endswith("/"):
            path = path[:-1]
        segments = path.split("/")
        for place in ((segments[1], len(segments)), ("", len(segments)), ("", 0)):
            for expression, methods in self._table.get(place, ()):
                match = expression.match(path)
                if match is None:
                    continue
                rows = methods.get(method) or (methods.get("GET") if method == "HEAD" else None)
                if rows is None:
                    raise MethodNotAllowed(method, tuple(methods))
                return rows, match.groupdict()
        raise NotFound("The resource could not be found.")

    async def _known(self, route: Route, headers: Mapping[str, str]) -> Caller:
        if not route.rule:
            return Caller()
        token = headers.get("x-auth-token", "")
        if not token:
            raise Unauthorized("The request you have made requires authentication.")
        caller = await self._authenticator.caller(token, headers)
        if not self._policy.allows(route.rule, caller, {}):
            raise Forbidden(f"Policy doesn't allow {route.rule} to be performed.")
        if self.settings.exact_media and route.method == "GET" and not self._json.best(headers.get("accept")):
            raise NotAccepted(f"Only {JSON} is provided, which the client does not accept.")
        return caller

    async def _body(self, route: Route, version: int, headers: Mapping[str, str], receive: Any) -> Any:
        exact = self.settings.exact_media
        if route.body is None and (exact or route.method in {"GET", "DELETE", "HEAD"}):
            return None
        self._check_media(route, headers)
        data = await self._read(receive)
        if not data and not exact:
            if route.body is not None:
                raise BadRequest("The request needs a body and has none.")
            return None
        if not exact:
            kind = headers.get("content-type", JSON).partition(";")[0].strip().lower()
            if not kind.startswith("application/") or (not kind.endswith("json") and "json" not in kind):
                raise UnsupportedMedia(f"The media type {kind} is not supported, use {JSON}")
        try:
            body = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise BadRequest(self.settings.malformed.format(reason=error)) from error
        if route.body is not None:
            self._checker.check(route.body, version, body)
        # As in addresses: PostgreSQL's text cannot hold it.
        place = _place_of_nul(body) if b"\\u0000" in data else None
        if place is not None:
            raise BadRequest(f"Invalid input for field/attribute {place}. It holds a NUL character.")
        return body

    def _check_media(self, route: Route, headers: Mapping[str, str]) -> None:
        """Where media types are taken exactly, a body's must be named even if the body is missing. Raises UnsupportedMedia."""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if self.settings.exact_media and route.body is not None and kind != JSON:
            raise UnsupportedMedia(f"The media type {kind or None} is not supported, use {JSON}")

    async def _read(self, receive: Any) -> bytes:
        chunks = []
        size = 0
        async for chunk in _chunks(receive):
            size += len(chunk)
            if size > self.settings.body_limit:
                raise TooLarge(f"The request is larger than {self.settings.body_limit} bytes.")
            chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _place_of_nul(body: Any) -> str | None:
    """Where in the body a text or a name has U+0000.

    The bytes alone do not tell: a backslash may stand before what looks like it.
    """
    waiting = [("", body)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, str) and "\x00" in value:
            return place.lstrip("/")
        if isinstance(value, dict):
            waiting += [(place, name) for name in value]
            waiting += [(f"{place}/{name}", inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{place}/{number}", inner) for number, inner in enumerate(value)]
    return None


def _place(path: str) -> tuple[str, int]:
    """Where a path stands in the table: its first word and its number of segments; ("", 0) where a segment takes the rest."""
    segments = path.split("/")
    if ":path}" in path:
        return "", 0
    return ("" if segments[1].startswith("{") else segments[1]), len(segments)


async def _chunks(receive: Any) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadRequest("The client went away before the body was whole.")
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body"):
            return


def _query(raw: bytes) -> dict[str, tuple[str, ...]]:
    if not raw:
        return {}
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict")
    except UnicodeError as error:
        raise BadRequest("The query string is not UTF-8.") from error
    found: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        found[name] = (*found.get(name, ()), value)
    return found


async def _write(send: Any, answer: Answer, headers: Mapping[str, str], *, head: bool) -> None:
    body = answer.body
    lines = [(name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    if isinstance(body, AsyncIterator):
        lines.append((b"content-type", answer.media_type.encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": lines})
        async for chunk in body:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        return
    if body is None:
        data = b""
    else:
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        lines.append((b"content-type", answer.media_type.encode()))
    if answer.status != 204:
        lines.append((b"content-length", str(len(data)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": lines})
    await send({"type": "http.response.body", "body": b"" if head else data})
