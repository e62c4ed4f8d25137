"""`kilonova api`, `conductor` and `agent`: one box each, for clouds of many processes on PostgreSQL and NATS."""

import asyncio
import socket
from pathlib import Path

import click

from kilonova import assembly
from kilonova.agent.journal import Journal
from kilonova.bus.chaos import ChaosRules
from kilonova.cli import serving
from kilonova.cli.logging import configure
from kilonova.cli.settings_commands import read_settings
from kilonova.cli.up import uvloop_runner
from kilonova.settings import Settings

_CONFIG = click.option("--config", "path", type=click.Path(), required=True, help="Settings file.")
_CHAOS = click.option("--chaos", is_flag=True, help="Take part in /chaos.")
_LOG = click.option("--log", "level", type=click.Choice(["debug", "info", "warning", "error"]), default="info")


def _start(path: str, level: str) -> Settings:
    configure(level)
    settings = read_settings(path)
    if not settings.state.directory:
        raise click.UsageError("[state] directory must be set")
    Path(settings.state.directory).mkdir(parents=True, exist_ok=True)
    return settings


@click.command()
@_CONFIG
@_CHAOS
@_LOG
def api(path: str, chaos: bool, level: str) -> None:
    """Serve HTTP; any number of such processes."""
    with uvloop_runner() as runner:
        runner.run(_api(_start(path, level), ChaosRules(enabled=chaos)))


async def _ground(settings: Settings, chaos: ChaosRules, name: str) -> assembly.Ground:
    database = await assembly.open_database(settings.database, Path(settings.state.directory))
    bus = await assembly.open_bus(settings.bus, name)
    await chaos.attach(bus)
    return assembly.make_ground(settings, database, bus, chaos)


async def _leave(ground: assembly.Ground) -> None:
    await ground.bus.close()
    await ground.database.close()


async def _api(settings: Settings, chaos: ChaosRules) -> None:
    asked = serving.ending()
    listener = serving.listen(settings.api)
    url = serving.address(settings.api, listener)
    ground = await _ground(settings, chaos, "kilonova-api")
    companions = await assembly.open_companions(ground)
    site = assembly.make_site(ground, companions, url)
    serving.settle_memory()
    click.echo(f"ready {url}")
    await serving.serve_until(asked, serving.make_server(site, settings.api), listener)
    await _leave(ground)


@click.command()
@_CONFIG
@_CHAOS
@_LOG
def conductor(path: str, chaos: bool, level: str) -> None:
    """Run operations; any number of such processes."""
    with uvloop_runner() as runner:
        runner.run(_conductor(_start(path, level), ChaosRules(enabled=chaos)))


async def _conductor(settings: Settings, chaos: ChaosRules) -> None:
    asked = serving.ending()
    ground = await _ground(settings, chaos, "kilonova-conductor")
    companions = await assembly.open_companions(ground)
    worker = assembly.make_conductor(ground, companions.networks)
    await worker.start()
    chores = await assembly.start_chores(ground, companions)
    serving.settle_memory()
    click.echo("ready")
    await asked.wait()
    chores.cancel()
    await asyncio.gather(chores, return_exceptions=True)
    await worker.stop()
    await _leave(ground)


@click.command()
@_CONFIG
@_CHAOS
@_LOG
@click.option("--host", help="Name of the host, instead of the setting.")
def agent(path: str, chaos: bool, level: str, host: str | None) -> None:
    """Look after one host."""
    settings = _start(path, level)
    name = host or settings.agent.host or socket.gethostname()
    with uvloop_runner() as runner:
        runner.run(_agent(settings, ChaosRules(enabled=chaos), name))


async def _agent(settings: Settings, chaos: ChaosRules, name: str) -> None:
    asked = serving.ending()
    state = Path(settings.state.directory)
    bus = await assembly.open_bus(settings.bus, f"kilonova-agent-{name}", host=name)
    await chaos.attach(bus)
    journal = Journal(state / f"agent-{name}.sqlite")
    worker = assembly.make_agent(bus, chaos, journal, assembly.HostPlace(name, settings.agent.cell, state), settings)
    await worker.start()
    click.echo("ready")
    await asked.wait()
    await worker.stop()
    await journal.close()
    await bus.close()
