"""`kilonova audit` and `kilonova explain`: look at a cloud, by HTTP where it runs, in its database where it does not."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from kilonova.cli.door import Door, door_of_cloud, door_of_state
from kilonova.cli.settings_commands import read_settings, with_database
from kilonova.domain.clock import iso_z
from kilonova.own_api.explaining import explanation_of
from kilonova.reconcilers import audit as auditing
from kilonova.settings import Settings
from kilonova.storage.database import Database

Finding = dict[str, Any]
BETWEEN_LOOKS = 1.0
"""Pause between the two looks that a finding must survive to count as drift."""

_STATE = click.option("--state", type=click.Path(exists=True), help="State directory of a `kilonova up`, running or not.")
_CONFIG = click.option("--config", "path", type=click.Path(), help="Settings file of the cloud.")
_CLOUD = click.option("--os-cloud", "cloud", help="Name of the cloud in clouds.yaml.")


def _door(state: str | None, cloud: str | None) -> Door | None:
    """Where the cloud answers; None when it does not run and its database must be read."""
    if cloud:
        return door_of_cloud(cloud)
    if not state:
        return None
    door = door_of_state(Path(state))
    return door if door is not None and door.is_open() else None


def _offline(state: str | None, path: str | None) -> Settings:
    if not state and not path:
        raise click.UsageError("one of --state, --config and --os-cloud is needed")
    settings = read_settings(path)
    if state and not (Path(state) / "kilonova.sqlite").is_file() and not path:
        raise click.UsageError(f"there is no cloud in {state}")
    return settings if path else replace(settings, state=replace(settings.state, directory=str(state)))


@click.command()
@_STATE
@_CONFIG
@_CLOUD
@click.option("--repair", is_flag=True, help="Set right what can be: sums, counts, allocations without an owner.")
def audit(state: str | None, path: str | None, cloud: str | None, repair: bool) -> None:
    """Check every invariant between servers, allocations, quotas, ports, operations and hosts. Exit 1 on drift."""
    door = _door(state, cloud)
    looks = _OnlineLooks(door) if door is not None else _OfflineLooks(_offline(state, path))
    drift = _drift(looks.find)
    if drift and repair:
        for entry in looks.repair():
            click.echo(f"repaired {entry['invariant']}: {entry['subject']}: {entry['sentence']}")
        drift = _drift(looks.find)
    for entry in drift:
        click.echo(f"{entry['invariant']}: {entry['subject']}: {entry['sentence']}")
    click.echo(f"{len(drift)} finding{'' if len(drift) == 1 else 's'}" if drift else "clean")
    sys.exit(1 if drift else 0)


@dataclass(frozen=True, slots=True)
class _OnlineLooks:
    """The audit of a cloud that runs, its hosts included."""

    door: Door

    def find(self) -> list[Finding]:
        found: list[Finding] = self.door.ask("GET", "/kilonova/audit")["findings"]
        return found

    def repair(self) -> list[Finding]:
        repaired: list[Finding] = self.door.ask("POST", "/kilonova/audit/repair")["repaired"]
        return repaired


@dataclass(frozen=True, slots=True)
class _OfflineLooks:
    """The audit of a database whose cloud does not run."""

    settings: Settings

    def find(self) -> list[Finding]:
        return self._run(lambda database: auditing.audit(database, None))

    def repair(self) -> list[Finding]:
        return self._run(auditing.repair)

    def _run(self, work: Callable[[Database], Awaitable[list[auditing.Finding]]]) -> list[Finding]:
        return [asdict(entry) for entry in asyncio.run(with_database(self.settings, work))]


def _drift(look: Callable[[], list[Finding]]) -> list[Finding]:
    """What is found twice: what an operation just finished may be found once."""
    first = look()
    if not first:
        return []
    time.sleep(BETWEEN_LOOKS)
    seen = {(entry["invariant"], entry["subject"]) for entry in first}
    return [entry for entry in look() if (entry["invariant"], entry["subject"]) in seen]


@click.command()
@_STATE
@_CONFIG
@_CLOUD
@click.argument("server")
def explain(state: str | None, path: str | None, cloud: str | None, server: str) -> None:
    """Say why a server (its id) is where it is, or why nowhere."""
    door = _door(state, cloud)
    if door is not None:
        found = door.ask("GET", f"/kilonova/explanations/{server}")["explanation"]
    else:
        found = asyncio.run(with_database(_offline(state, path), lambda database: _explained(database, server)))
    place = f"on {found['host']} in {found['cell']}" if found["host"] else f"on no host, in {found['cell']}"
    click.echo(f"{found['name']} ({found['server']}) is {place}.")
    if found["fault"]:
        click.echo(f"\nFault: {found['fault']['message']}")
    for entry in found["decisions"]:
        click.echo(f"\n{iso_z(entry['at'])} {entry['operation']} ({entry['request_id']}): {entry['host'] or 'nowhere'}")
        click.echo(entry["details"])


async def _explained(database: Database, server: str) -> dict[str, Any]:
    async with database.read() as transaction:
        return await explanation_of(transaction, server)
