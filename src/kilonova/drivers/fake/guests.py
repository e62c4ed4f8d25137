"""The guests of a fake host, in memory and, where a path is given, in a log that outlives the process.

One line a change, appended by one write: a killed process loses nothing that it had written, so nothing is synced.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson

from kilonova.drivers.contract import Guest, GuestPort

SPARE_LINES: Final = 1_000
"""The log is written anew when it has this many lines more than twice the guests."""


@dataclass(frozen=True, slots=True)
class HeldGuest:
    """A guest as it is now; `history` is what its console has seen: "boot" and "halt", oldest first."""

    guest: Guest
    power: str
    history: tuple[str, ...] = ()


class GuestStore:
    """Guests by server id. The file belongs to one store at a time."""

    def __init__(self, path: Path | None) -> None:
        self._held: dict[str, HeldGuest] = {}
        self._path = path
        self._lines = 0
        self._file: int | None = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._load(path)
            self._rewrite(path)

    def find(self, server: str) -> HeldGuest | None:
        """The guest, if it is here."""
        return self._held.get(server)

    def put(self, held: HeldGuest) -> None:
        """Keep a guest in place of what was there for its server."""
        self._held[held.guest.server] = held
        self._append({"held": held})

    def remove(self, server: str) -> None:
        """Forget a guest; absent is no error."""
        if self._held.pop(server, None) is not None:
            self._append({"removed": server})

    def powers(self) -> Mapping[str, str]:
        """Power state by server id."""
        return {server: held.power for server, held in self._held.items()}

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _load(self, path: Path) -> None:
        for content in _read_log(path):
            if "removed" in content:
                self._held.pop(content["removed"], None)
            else:
                held = _held_from(content["held"])
                self._held[held.guest.server] = held

    def _append(self, content: Mapping[str, Any]) -> None:
        if self._file is None or self._path is None:
            return
        os.write(self._file, orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE))
        self._lines += 1
        if self._lines > 2 * len(self._held) + SPARE_LINES:
            self._rewrite(self._path)

    def _rewrite(self, path: Path) -> None:
        """Write only what is here now, into a new file that then takes the old one's place."""
        self.close()
        fresh = path.with_name(path.name + ".new")
        fresh.write_bytes(
            b"".join(orjson.dumps({"held": held}, option=orjson.OPT_APPEND_NEWLINE) for held in self._held.values())
        )
        fresh.replace(path)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._lines = len(self._held)


def with_event(held: HeldGuest, power: str, event: str) -> HeldGuest:
    """The guest in another power state, with what its console saw; only the last events are kept."""
    return replace(held, power=power, history=(*held.history, event)[-20:])


def _read_log(path: Path) -> Iterator[Mapping[str, Any]]:
    if not path.exists():
        return
    for line in path.read_bytes().splitlines():
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError:
            # A kill in the middle of the last write; the change had not been answered yet.
            return


def _held_from(content: Mapping[str, Any]) -> HeldGuest:
    fields = dict(content["guest"])
    ports = tuple(GuestPort(**{**port, "fixed_ips": tuple(port["fixed_ips"])}) for port in fields.pop("ports"))
    return HeldGuest(Guest(**fields, ports=ports), content["power"], tuple(content["history"]))
