"""The placement services that the suite is run against: processes of `kilonova placement` and the database that they share."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from child_processes import end, ready_address

BIN = Path(sys.executable).parent
SCHEMA_SECONDS = 60.0
# Nothing here must survive a power cut.
FAST = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")


class ServerDied(RuntimeError):
    """A service did not come up in time; the sentence ends with what it wrote."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """How the services of one group of files are configured: `placement` is the branch of that name of their settings."""

    name: str
    placement: Mapping[str, Any]


class Process:
    """One process of `kilonova placement` with a settings file of its own."""

    def __init__(self, directory: Path, settings: Mapping[str, Mapping[str, Any]], command: Sequence[str]) -> None:
        (directory / "state").mkdir(parents=True)
        self.url = ""
        self._config = directory / "placement.toml"
        self._config.write_text(_toml({"state": {"directory": str(directory / "state")}, "api": {"port": 0}, **settings}))
        self._log = directory / "log"
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def make_schema(self) -> None:
        """Bring the database to the newest schema. Raises ServerDied."""
        command = [str(BIN / "kilonova"), "db", "upgrade", "--config", str(self._config)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SCHEMA_SECONDS, env=_environment(), check=False)
        if done.returncode:
            raise ServerDied(f"kilonova db upgrade gave {done.returncode}:\n{done.stderr[-4000:]}")

    def __enter__(self) -> "Process":
        with self._log.open("wb") as log:
            self._process = subprocess.Popen([*self._command, str(self._config)], stdout=log, stderr=log, env=_environment())
        address = ready_address(self._process, self._log)
        if address is not None:
            self.url = address
            return self
        self.__exit__(None, None, None)
        raise ServerDied(f"kilonova placement is not ready:\n{self._log.read_text()[-4000:]}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        process, self._process = self._process, None
        if process is not None:
            end(process)


@contextmanager
def serving(
    directory: Path, configuration: Configuration, processes: int, database: str, command: Sequence[str]
) -> Iterator[list[str]]:
    """The addresses of services that share an empty database: `database` is its address, or "" for SQLite."""
    settings: dict[str, Mapping[str, Any]] = {"placement": {"auth_strategy": "noauth2", **configuration.placement}}
    if database:
        settings["database"] = {"url": database}
    with ExitStack() as stack:
        members = [Process(directory / f"{configuration.name}-{number}", settings, command) for number in range(processes)]
        members[0].make_schema()
        yield [stack.enter_context(member).url for member in members]


def new_database(server: str, name: str) -> str:
    """The address of a new, empty database of a PostgreSQL server."""

    async def create() -> None:
        connection = await asyncpg.connect(server)
        for setting in FAST:
            await connection.execute(f"ALTER SYSTEM SET {setting}")
        await connection.execute("SELECT pg_reload_conf()")
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()

    asyncio.run(create())
    return urlsplit(server)._replace(path=f"/{name}").geturl()


def _toml(sections: Mapping[str, Mapping[str, Any]]) -> str:
    lines = []
    for section, values in sections.items():
        lines += [f"[{section}]", *(f"{key} = {_value(value)}" for key, value in values.items()), ""]
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(item) for item in value)}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "KILONOVA_"))}
