"""Serves HTTP in this process until it is asked to end."""

import asyncio
import contextlib
import gc
import signal
import socket
from collections.abc import Iterator
from typing import Any, Final

import uvicorn

from kilonova.domain.errors import Unavailable
from kilonova.settings import ApiSettings

BACKLOG: Final = 2048
"""How many connections may wait to be accepted."""


def listen(settings: ApiSettings) -> socket.socket:
    """The socket that HTTP will be served on. Raises errors.Unavailable where its port is taken.

    It listens already, so that whoever read `ready` and connects at once waits for the server and is not refused.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in settings.listen else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.listen, settings.port))
    except OSError as error:
        raise Unavailable(f"Port {settings.port} of {settings.listen} cannot be had: {error}") from error
    listener.listen(BACKLOG)
    return listener


def address(settings: ApiSettings, listener: socket.socket) -> str:
    """The address that clients use."""
    return settings.public_url or f"http://{settings.listen}:{listener.getsockname()[1]}"


class Server(uvicorn.Server):
    """Uvicorn without its own signal handlers: the process has one place that ends it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command."""
        yield


def make_server(site: Any, settings: ApiSettings) -> Server:
    """A server of `site`, to be run with `serve(sockets=[...])`."""
    return Server(
        uvicorn.Config(
            site,
            loop="none",
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=int(settings.shutdown_seconds),
        )
    )


def settle_memory() -> None:
    """Call it when all is loaded: what is there now lives as long as the process, and a page of a thousand servers makes
    tens of thousands of short-lived objects that reference counting frees. Without this a tenth of the time goes to looking
    for cycles among them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def ending() -> asyncio.Event:
    """An event that SIGINT and SIGTERM set."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, asked.set)
    return asked


async def serve_until(asked: asyncio.Event, server: Server, listener: socket.socket) -> None:
    """Serve until `asked` is set, then let running requests end. A server that dies by itself is an error."""
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="http")
    waiting = asyncio.create_task(asked.wait(), name="ending")
    await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    server.should_exit = True
    await serving
