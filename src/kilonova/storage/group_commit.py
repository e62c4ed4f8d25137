"""Many small writes in one transaction: requests that arrive together are committed together, each with its own verdict."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

import structlog

Item = TypeVar("Item")
Verdict = TypeVar("Verdict")
log = structlog.get_logger(__name__)


class GroupCommit(Generic[Item, Verdict]):
    """Collects items and hands at most `most` at a time to `work`, which gives one verdict or error for each, in order.

    While a group is being written the next one gathers, so a group grows with the load and nobody waits for a timer.
    """

    def __init__(
        self, name: str, work: Callable[[Sequence[Item]], Awaitable[Sequence[Verdict | Exception]]], most: int = 64
    ) -> None:
        self._name = name
        self._work = work
        self._most = most
        self._waiting: list[tuple[Item, asyncio.Future[Verdict]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def submit(self, item: Item) -> Verdict:
        """The verdict on this item; raises what `work` gave as its error."""
        future: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write(), name=f"group-commit:{self._name}")
        return await future

    async def _write(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._one_group(group)
        finally:
            self._writer = None

    async def _one_group(self, group: Sequence[tuple[Item, "asyncio.Future[Verdict]"]]) -> None:
        try:
            verdicts: Sequence[Verdict | Exception] = await self._work([item for item, _ in group])
        except Exception as error:  # noqa: BLE001 - it is handed to whoever waits
            if len(group) > 1:
                # One bad item must not take the others with it.
                log.warning("group_commit.split", group=self._name, items=len(group), error=repr(error))
                for single in group:
                    await self._one_group([single])
                return
            verdicts = [error]
        for (_, future), verdict in zip(group, verdicts, strict=True):
            if future.done():
                continue
            if isinstance(verdict, Exception):
                future.set_exception(verdict)
            else:
                future.set_result(verdict)
