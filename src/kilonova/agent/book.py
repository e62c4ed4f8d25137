"""One host's page of the journal, held in memory: what was asked before, and which generation each server has reached."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kilonova.agent.journal import Entry, Journal, Tombstone, now_micros
from kilonova.bus.messages import Command, Report

ENTRY_MICROS: Final = 10 * 60 * 1_000_000
"""How long an acknowledged report is kept to answer a late repeat."""
TOMBSTONE_MICROS: Final = 7 * 24 * 3600 * 1_000_000
"""How long a destroyed server is remembered; no command is under way for longer."""


class Book:
    """Everything that this host took on and may still be asked for. All writes go on to the journal."""

    def __init__(self, host: str, journal: Journal) -> None:
        self._host = host
        self._journal = journal
        self._entries: dict[str, Entry] = {}
        self._last: dict[str, Entry] = {}
        self._generations: dict[str, int] = {}
        self._tombstones: dict[str, Tombstone] = {}
        entries, tombstones = journal.load(host)
        for entry in entries:
            self._index(entry)
        for tombstone in tombstones:
            self._tombstones[tombstone.server] = tombstone
            self.raise_generation(tombstone.server, tombstone.generation)

    def find(self, key: str) -> Entry | None:
        """What was taken on under this key."""
        return self._entries.get(key)

    def find_last(self, server: str) -> Entry | None:
        """The newest that was taken on for a server."""
        return self._last.get(server)

    def highest(self, server: str) -> int:
        """The highest generation seen for a server, destroyed ones included; -1 for an unknown one."""
        return self._generations.get(server, -1)

    def raise_generation(self, server: str, generation: int) -> None:
        """Learn of a generation; one that is not higher changes nothing."""
        if generation > self.highest(server):
            self._generations[server] = generation

    def is_buried(self, server: str) -> bool:
        """Whether the last that is known of a server is that it was destroyed here."""
        tombstone = self._tombstones.get(server)
        return tombstone is not None and tombstone.generation >= self.highest(server)

    def unfinished(self) -> list[Entry]:
        """What was taken on and has no report, oldest first."""
        return [entry for entry in self._entries.values() if entry.report is None]

    def unacknowledged(self) -> list[Entry]:
        """What has a report that nobody has taken yet, oldest first."""
        return [entry for entry in self._entries.values() if entry.report is not None and not entry.is_acknowledged]

    def accept(self, conductor: str, command: Command) -> Entry:
        """Take a command on; it counts once the journal is durable."""
        entry = self._journal.accept(self._host, conductor, command)
        self._index(entry)
        return entry

    def withdraw(self, entries: Iterable[Entry]) -> None:
        """Take back what could not be written, so that the next time it is asked it is new again."""
        for entry in entries:
            self._entries.pop(entry.key, None)
            if self._last.get(entry.server) is entry:
                del self._last[entry.server]

    def report(self, entry: Entry, report: Report, *, destroyed: bool) -> None:
        """Write how it ended; `destroyed` says that the server is gone from this host."""
        self._journal.report(entry, report)
        if destroyed:
            tombstone = Tombstone(entry.server, entry.generation, now_micros())
            self._tombstones[entry.server] = tombstone
            self._journal.bury(self._host, tombstone)

    def acknowledge(self, entry: Entry) -> None:
        """Write that a report is safe or not wanted any more; twice is no error."""
        if not entry.is_acknowledged:
            self._journal.acknowledge(entry)

    def prune(self, now: int) -> None:
        """Forget what is old and safe. The last entry of a server without a tombstone stays: it holds the generation."""
        old = [entry for entry in self._safe() if entry.at < now - ENTRY_MICROS]
        tombstones = [
            tombstone
            for tombstone in self._tombstones.values()
            if tombstone.at < now - TOMBSTONE_MICROS and tombstone.server not in self._last
        ]
        for entry in old:
            del self._entries[entry.key]
            if self._last.get(entry.server) is entry:
                del self._last[entry.server]
        for tombstone in tombstones:
            del self._tombstones[tombstone.server]
            self._generations.pop(tombstone.server, None)
        if old or tombstones:
            self._journal.forget(self._host, old, tombstones)

    def welcome(self, servers: Mapping[str, int]) -> None:
        """Learn the generations of the servers that belong here: a lost journal must not make late commands welcome."""
        for server, generation in servers.items():
            self.raise_generation(server, generation)

    def _safe(self) -> Iterator[Entry]:
        for entry in self._entries.values():
            if entry.is_acknowledged and (self._last.get(entry.server) is not entry or self.is_buried(entry.server)):
                yield entry

    def _index(self, entry: Entry) -> None:
        self._entries[entry.key] = entry
        self._last[entry.server] = entry
        self.raise_generation(entry.server, entry.generation)
