"""Reports on their way to conductors: sent again until they are taken, those that are ready together in one message."""

import asyncio
from typing import Final

import orjson
import structlog

from kilonova.agent.book import Book
from kilonova.agent.journal import Entry
from kilonova.agent.settings import AgentSettings
from kilonova.bus import Bus
from kilonova.bus.messages import encode_reports, report_subject
from kilonova.bus.tasks import Tasks
from kilonova.domain import errors

BATCH: Final = 256
"""How many reports go in one message; the broker limits its size."""

log = structlog.get_logger(__name__)


class Outbox:
    """What one host has to tell. A conductor that does not answer holds up only what is meant for it."""

    def __init__(self, host: str, bus: Bus, book: Book, settings: AgentSettings) -> None:
        self._host = host
        self._bus = bus
        self._book = book
        self._settings = settings
        self._tasks = Tasks()
        self._waiting: dict[str, dict[str, Entry]] = {}
        self._fresh: dict[str, asyncio.Event] = {}

    def add(self, entry: Entry) -> None:
        """Send an entry's report to the entry's conductor until it is acknowledged or dropped."""
        waiting = self._waiting.get(entry.conductor)
        if waiting is None:
            waiting = self._waiting[entry.conductor] = {}
            self._fresh[entry.conductor] = asyncio.Event()
            self._tasks.start(self._deliver(entry.conductor), f"report:{self._host}:{entry.conductor}")
        waiting[entry.key] = entry
        self._fresh[entry.conductor].set()

    def redirect(self, entry: Entry, conductor: str) -> None:
        """Send it to another conductor, who has asked for it, and no more to the one before."""
        self._waiting.get(entry.conductor, {}).pop(entry.key, None)
        entry.conductor = conductor
        self.add(entry)

    def drop(self, entry: Entry) -> None:
        """Stop sending it: it is safe, or a later command has made it worthless."""
        self._waiting.get(entry.conductor, {}).pop(entry.key, None)
        self._book.acknowledge(entry)

    async def end(self) -> None:
        """Stop sending; what was not taken is still in the journal."""
        await self._tasks.end()

    async def _deliver(self, conductor: str) -> None:
        waiting, fresh = self._waiting[conductor], self._fresh[conductor]
        while waiting:
            fresh.clear()
            batch = list(waiting.values())[:BATCH]
            taken = await self._send(conductor, batch)
            if taken is None:
                await asyncio.sleep(self._settings.report_seconds)
                continue
            for entry in batch:
                if entry.key in taken:
                    self.drop(entry)
                elif waiting.pop(entry.key, None) is not None:
                    # To the end: what is never taken must not keep the rest from being sent.
                    waiting[entry.key] = entry
            if not taken.intersection(entry.key for entry in batch):
                await _wait(fresh, self._settings.report_seconds)
        del self._waiting[conductor], self._fresh[conductor]

    async def _send(self, conductor: str, batch: list[Entry]) -> set[str] | None:
        """The keys that the conductor took; None when it did not answer."""
        data = encode_reports([entry.report for entry in batch if entry.report is not None])
        try:
            answer = await self._bus.request(report_subject(self._host, conductor), data, self._settings.request_seconds)
            return set(orjson.loads(answer))
        except errors.Unavailable:
            return None
        except (ValueError, TypeError) as error:
            log.error("report_answer_unreadable", host=self._host, conductor=conductor, error=str(error))
            return None


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
