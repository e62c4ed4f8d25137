"""Background tasks that are named, ended together, and whose failures are told."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

log = structlog.get_logger(__name__)


async def keep_going(work: Callable[[], Coroutine[Any, Any, None]], name: str, pause: float) -> None:
    """Run `work`, which should never end, and begin it again `pause` seconds after it broke: a loop that others rely on must
    not die in silence. The trace is logged each time.
    """
    while True:
        try:
            await work()
        except Exception:
            log.exception("loop_broke", loop=name)
        await asyncio.sleep(pause)


class Tasks:
    """The running tasks of one owner. A task that fails is logged with its name; it takes nothing else down."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run `work` on the running loop and keep it from being collected."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def end(self) -> None:
        """Cancel all that run and wait until they are gone; the caller's own task is left alone."""
        ending = [task for task in self._running if task is not asyncio.current_task()]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task_failed", task=task.get_name(), exc_info=error)
