"""What is no HTTP: refused in a form that clients can read."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from kilonova.cli import serving
from kilonova.settings import ApiSettings

SECONDS = 10.0


async def application(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def told(request: bytes) -> bytes:
    """All that a server answers to these bytes."""
    settings = ApiSettings(port=0)
    listener = serving.listen(settings)
    asked = asyncio.Event()
    running = asyncio.create_task(serving.serve_until(asked, serving.make_server(application, settings), listener))
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
            writer.write(request)
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
    finally:
        asked.set()
        await running
    return answer


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (b"POST /x HTTP/1.1\r\nhost: c\r\ncontent-length: hi mom\r\n\r\n", "content-length header must be an integer"),
        (
            b"POST /x HTTP/1.1\r\nhost: c\r\ncontent-length: 99999999999999999999999\r\n\r\n",
            "content-length header must be an integer",
        ),
        (b"this is no request at all\r\n\r\n", "Invalid HTTP request received."),
    ],
)
async def test_what_is_no_request_is_a_400_in_the_form_of_errors(request_, sentence):
    head, _, body = (await told(request_)).partition(b"\r\n\r\n")

    (error,) = json.loads(body)["errors"]
    assert head.startswith(b"HTTP/1.1 400 ")
    assert error["status"] == 400
    assert sentence in error["detail"]


async def test_a_request_is_served():
    assert (await told(b"GET / HTTP/1.1\r\nhost: c\r\nconnection: close\r\n\r\n")).startswith(b"HTTP/1.1 204 ")
