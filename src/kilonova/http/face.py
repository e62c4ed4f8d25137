"""One HTTP face as an ASGI application: the table of routes and the way that every request takes through it.

The way: find the route, read the version, know the caller, ask the policy, read and check body and query, call the handler,
write the answer. The order matters: nothing is parsed for a stranger, and a path that does not exist is told to anybody.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import parse_qsl

import orjson
import structlog
from starlette.routing import compile_path

from kilonova.domain.clock import new_uuid
from kilonova.domain.errors import BadRequest, Forbidden, KilonovaError, NotFound, Unauthorized
from kilonova.http.calls import Answer, Call, Caller, Route
from kilonova.http.errors import ErrorForm, MethodNotAllowed, TooLarge, UnsupportedMedia, status_of
from kilonova.http.policy import Policy
from kilonova.http.shapes import Checker
from kilonova.http.versions import UNVERSIONED, Versions

Scope = Mapping[str, Any]
log = structlog.get_logger(__name__)


class Authenticator(Protocol):
    """Turns a token into a caller."""

    async def caller(self, token: str) -> Caller:
        """Who the token speaks for. Raises errors.Unauthorized."""
        ...


@dataclass(frozen=True, slots=True)
class FaceSettings:
    """`prefix` is the path that the face is mounted at ("/compute/v2.1"); `body_limit` is in bytes.

    `legacy_project` lets a project id stand between prefix and path, as older catalogs have it.
    """

    name: str
    prefix: str
    errors: ErrorForm
    versions: Versions = UNVERSIONED
    body_limit: int = 114_688
    legacy_project: bool = False
    request_id_headers: Sequence[str] = ("x-openstack-request-id",)
    identity_url: str = ""


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
        self._checker = Checker()
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
        request_id = f"req-{new_uuid()}"
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        extra: dict[str, str] = {}
        try:
            answer = await self._answer(scope, receive, headers, request_id, extra)
        except KilonovaError as error:
            answer = self._refusal(error, request_id)
        except Exception as error:
            log.exception("request.failed", request_id=request_id, path=scope["path"], method=scope["method"])
            sentence = f"Unexpected error ({type(error).__name__}). The log has it under {request_id}."
            body = self.settings.errors(500, "kilonova.unexpected", sentence, request_id)
            answer = Answer(500, body)
        for name in self.settings.request_id_headers:
            extra[name] = request_id
        await _write(send, answer, {**extra, **answer.headers}, head=scope["method"] == "HEAD")

    def _refusal(self, error: KilonovaError, request_id: str) -> Answer:
        status = status_of(error)
        if status >= 500:
            log.warning("request.refused", request_id=request_id, code=error.code, reason=str(error))
        body = self.settings.errors(status, error.code, str(error), request_id)
        headers = {"WWW-Authenticate": f"Keystone uri='{self.settings.identity_url}'"} if status == 401 else {}
        return Answer(status, body, headers)

    async def _answer(
        self, scope: Scope, receive: Any, headers: Mapping[str, str], request_id: str, extra: dict[str, str]
    ) -> Answer:
        path = scope["path"][len(self.settings.prefix) :] or "/"
        if "\x00" in path or b"%00" in scope["query_string"]:
            # No name or id has it, and PostgreSQL's text cannot hold it.
            raise BadRequest("The address holds a NUL character.")
        if self.settings.legacy_project:
            path = _PROJECT.sub("", path, count=1)
        rows, found = self._rows(scope["method"], path)
        versions = self.settings.versions
        version = versions.asked(headers) if versions is not UNVERSIONED else 0
        if versions is not UNVERSIONED:
            extra.update(versions.answer_headers(version))
        route = next((row for row in rows if row.serves(version)), None)
        if route is None:
            raise NotFound("The resource could not be found.")
        caller = await self._known(route, headers)
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
            request_id,
            root + self.settings.prefix,
            full,
            headers,
            allows,
        )
        return await route.handler(call, self._parts)

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
                    raise MethodNotAllowed(f"The method is not allowed for this resource, which takes {', '.join(methods)}.")
                return rows, match.groupdict()
        raise NotFound("The resource could not be found.")

    async def _known(self, route: Route, headers: Mapping[str, str]) -> Caller:
        if not route.rule:
            return Caller()
        token = headers.get("x-auth-token", "")
        if not token:
            raise Unauthorized("The request you have made requires authentication.")
        caller = await self._authenticator.caller(token)
        if not self._policy.allows(route.rule, caller, {}):
            raise Forbidden(f"Policy doesn't allow {route.rule} to be performed.")
        return caller

    async def _body(self, route: Route, version: int, headers: Mapping[str, str], receive: Any) -> Any:
        if route.method in {"GET", "DELETE", "HEAD"} and route.body is None:
            return None
        data = await self._read(receive)
        if not data:
            if route.body is not None:
                raise BadRequest("The request needs a body and has none.")
            return None
        kind = headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        if not kind.startswith("application/") or (not kind.endswith("json") and "json" not in kind):
            raise UnsupportedMedia(f"The media type {kind} is not supported, use application/json")
        try:
            body = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise BadRequest(f"Malformed request body: {error}") from error
        if route.body is not None:
            self._checker.check(route.body, version, body)
        # As in addresses: PostgreSQL's text cannot hold it.
        place = _place_of_nul(body) if b"\\u0000" in data else None
        if place is not None:
            raise BadRequest(f"Invalid input for field/attribute {place}. It holds a NUL character.")
        return body

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
