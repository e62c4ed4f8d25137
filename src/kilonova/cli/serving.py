"""Serves HTTP in this process until it is asked to end."""

import asyncio
import contextlib
import ctypes
import gc
import signal
import socket
from collections.abc import Iterator
from typing import Any, Final

import uvicorn

from kilonova.cli.protocol import Protocol
from kilonova.domain.errors import Unavailable
from kilonova.settings import ApiSettings

BACKLOG: Final = 2048
"""How many connections may wait to be accepted."""

LARGEST_BLOCK: Final = 32 * 2**20
"""Up to so many bytes a block comes from the heap and not from the system by itself; more is not possible."""

KEPT: Final = 64 * 2**20
"""How many free bytes at the top of the heap a process keeps for its next large answer."""

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3


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
            http=Protocol,
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
    _keep_large_blocks()


def _keep_large_blocks() -> None:
    """Let the C library keep the memory of large answers: else it gives each back to the system at once and asks for it again,
    which costs a page fault for every 4 KiB, more than writing the answer does. Other C libraries than GNU's do as they like.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, LARGEST_BLOCK)
        mallopt(_TRIM_THRESHOLD, KEPT)


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
