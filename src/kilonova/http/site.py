"""All faces of one process on one port: the longest prefix that fits a path decides which face serves it."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

Application = Callable[[Mapping[str, Any], Any, Any], Awaitable[None]]
Health = Callable[[], Awaitable[Mapping[str, str]]]


class Metrics:
    """What a process counts, as Prometheus reads it."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "kilonova_http_requests", "Requests answered.", ("face", "method", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "kilonova_http_request_seconds",
            "Wall time from request to answer.",
            ("face",),
            buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0),
            registry=self.registry,
        )
        self._known: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def request(self, face: str, method: str, status: int, seconds: float) -> None:
        """One request was answered."""
        key = (face, method, status)
        pair = self._known.get(key)
        if pair is None:
            pair = self._known[key] = (self._requests.labels(face, method, str(status)), self._seconds.labels(face))
        pair[0].inc()
        pair[1].observe(seconds)


class Site:
    """An ASGI application over faces by prefix, with `/healthz` and `/metrics` beside them.

    A face with the prefix "" serves every path that nothing else does.
    """

    def __init__(self, faces: Sequence[tuple[str, Application]], metrics: Metrics, health: Health) -> None:
        self._faces = sorted(((prefix, face) for prefix, face in faces if prefix), key=lambda pair: len(pair[0]), reverse=True)
        self._root = dict(faces).get("")
        self._metrics = metrics
        self._health = health

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        path = scope["path"]
        for prefix, face in self._faces:
            if path.startswith(prefix) and (len(path) == len(prefix) or path[len(prefix)] == "/"):
                await self._counted(prefix, face, scope, receive, send)
                return
        if path == "/healthz":
            state = await self._health()
            good = all(value == "ok" for value in state.values())
            body = "".join(f"{name}: {value}\n" for name, value in state.items()).encode()
            await _answer(send, 200 if good else 503, body, b"text/plain")
        elif path == "/metrics":
            await _answer(send, 200, generate_latest(self._metrics.registry), CONTENT_TYPE_LATEST.encode())
        elif self._root is not None:
            await self._counted("", self._root, scope, receive, send)
        else:
            await _answer(
                send, 404, b'{"itemNotFound": {"code": 404, "message": "No face is served here."}}', b"application/json"
            )

    async def _counted(self, *call: Any) -> None:
        prefix, face, scope, receive, send = call
        began = time.perf_counter()
        status = 500

        async def noting(message: Mapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await face(scope, receive, noting)
        finally:
            self._metrics.request(prefix, scope["method"], status, time.perf_counter() - began)


async def _answer(send: Any, status: int, body: bytes, media_type: bytes) -> None:
    headers = [(b"content-type", media_type), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
