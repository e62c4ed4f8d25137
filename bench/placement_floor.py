"""The least that a server can do for an answer: filter the cloud's rows with numpy, join ready pieces of JSON, send them.

It stands on the same HTTP server with the same settings as Kilonova does.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy
import numpy.typing
import orjson

from kilonova.cli import serving
from kilonova.cli.up import uvloop_runner
from kilonova.settings import ApiSettings

CLASSES: Final = 3
"""How many classes of resources the filter looks at."""

Part = tuple[bytes, Sequence[bytes], bytes]


def parts_of(answer: bytes) -> list[Part]:
    """An answer as a list of (head, pieces, tail): what stands before a list or an object, its elements, what stands behind."""
    parts: list[Part] = []
    for name, value in orjson.loads(answer).items():
        head = orjson.dumps(name) + b":"
        if isinstance(value, list):
            parts.append((head + b"[", [orjson.dumps(element) for element in value], b"]"))
        elif isinstance(value, dict):
            pieces = [orjson.dumps(key) + b":" + orjson.dumps(element) for key, element in value.items()]
            parts.append((head + b"{", pieces, b"}"))
        else:
            parts.append((head + orjson.dumps(value), [], b""))
    return parts


class Bare:
    """An ASGI application with one answer."""

    def __init__(self, answer: bytes, rows: int) -> None:
        self._parts = parts_of(answer)
        self._free = numpy.full((CLASSES, max(rows, 1)), 100, dtype=numpy.int64)
        self._asked = numpy.ones((CLASSES, 1), dtype=numpy.int64)
        most = max((len(pieces) for _, pieces, _ in self._parts), default=0)
        self._order: numpy.typing.NDArray[numpy.int64] = numpy.arange(max(rows, most, 1))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, whatever it asks."""
        await receive()
        fits = numpy.flatnonzero((self._free >= self._asked).all(axis=0))
        body = b"{" + b",".join(self._joined(part, fits) for part in self._parts) + b"}"
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _joined(self, part: Part, fits: numpy.typing.NDArray[numpy.intp]) -> bytes:
        head, pieces, tail = part
        places = fits[: len(pieces)] if len(fits) >= len(pieces) else self._order[: len(pieces)]
        return head + b",".join([pieces[place] for place in places.tolist()]) + tail


async def serve(answer: bytes, rows: int) -> None:
    """Serve until the process is asked to end."""
    asked = serving.ending()
    settings = ApiSettings(port=0)
    listener = serving.listen(settings)
    serving.settle_memory()
    print(f"ready {serving.address(settings, listener)}", flush=True)
    await serving.serve_until(asked, serving.make_server(Bare(answer, rows), settings), listener)


def main() -> None:
    """The first argument is a file that has the answer, the second how many rows the cloud has."""
    answer, rows = Path(sys.argv[1]).read_bytes(), int(sys.argv[2])
    with uvloop_runner() as runner:
        runner.run(serve(answer, rows))


if __name__ == "__main__":
    main()
