"""Finds out which hosts are alive: of all conductors one watches each cell, from beats, and writes only what changes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from kilonova.bus import Bus, Message, word
from kilonova.bus.messages import beat_subject
from kilonova.domain.errors import Unavailable
from kilonova.storage import watch
from kilonova.storage.database import Database

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LivenessSettings:
    """In seconds: silence after which a host is down, and how often one looks. `watcher` names this process."""

    watcher: str
    down: float = 30.0
    look: float = 5.0


class Liveness:
    """One conductor's watch. It hears every beat but speaks only for cells that it holds the lease of."""

    def __init__(self, database: Database, bus: Bus, settings: LivenessSettings) -> None:
        self._database = database
        self._bus = bus
        self._settings = settings
        self._heard: dict[str, float] = {}
        self._watching: dict[str, float] = {}
        self._nudge = asyncio.Event()
        self._down: frozenset[str] = frozenset()

    async def start(self) -> None:
        """Begin to hear signs of life."""
        for pattern in ("beat.*", "hello.*"):
            await self._bus.subscribe(pattern, self._on_sign)

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            try:
                await self._look()
            except Unavailable as error:
                log.warning("liveness.cannot_look", reason=str(error))
            self._nudge.clear()
            try:
                async with asyncio.timeout(self._settings.look):
                    await self._nudge.wait()
            except TimeoutError:
                continue

    async def _on_sign(self, message: Message) -> None:
        host = message.subject.split(".")[1]
        self._heard[host] = asyncio.get_running_loop().time()
        if host in self._down:
            self._nudge.set()

    async def _look(self) -> None:
        at = asyncio.get_running_loop().time()
        await self._bus.publish(beat_subject(self._settings.watcher), b"")
        if at - self._heard.get(word(self._settings.watcher), at) > 2 * self._settings.look:
            # It does not even hear itself: the silence is its own, so it begins to listen anew.
            self._watching.clear()
        lease = int(self._settings.look * 3 * 1_000_000)
        cells = await self._database.transact(lambda tx: watch.take_cells(tx, self._settings.watcher, lease))
        # Who has just begun to watch must first listen for as long as a host may be silent.
        self._watching = {cell: self._watching.get(cell, at) for cell in cells}
        async with self._database.read() as transaction:
            present = await watch.hosts_of(transaction, list(cells))
        up, down = self._changes(present, at)
        self._down = frozenset(word(entry.name) for entry in present if not entry.alive) - {word(name) for name in up}
        if up or down:
            await self._database.transact(lambda tx: watch.set_alive(tx, up, down))
            log.info("liveness.changed", up=up, down=down)

    def _changes(self, present: Sequence[watch.Watched], at: float) -> tuple[list[str], list[str]]:
        up, down = [], []
        for entry in present:
            heard = self._heard.get(word(entry.name))
            silence = at - max(heard or 0.0, self._watching[entry.cell])
            if entry.alive and silence > self._settings.down:
                down.append(entry.name)
            elif not entry.alive and heard is not None and at - heard <= self._settings.down:
                up.append(entry.name)
        return up, down
