"""`kilonova placement`: the placement API alone, for clouds that bring the rest; and the takeover of their ledger."""

import asyncio
import socket
from pathlib import Path

import click

from kilonova import assembly
from kilonova.cli import serving
from kilonova.cli.logging import configure
from kilonova.cli.settings_commands import read_settings, with_database
from kilonova.cli.up import uvloop_runner
from kilonova.domain.errors import KilonovaError
from kilonova.settings import Settings
from kilonova.storage import migrate
from kilonova.storage.database import Database
from kilonova.storage.takeover.checks import WholeLedger

_CONFIG = "--config"


class OldSchema(KilonovaError):
    """The database is empty or of another version."""

    code = "storage.old_schema"


@click.group(invoke_without_command=True)
@click.option(_CONFIG, "path", type=click.Path(), help="Settings file.")
@click.option("--log", "level", type=click.Choice(["debug", "info", "warning", "error"]), default="info")
@click.pass_context
def placement(context: click.Context, path: str | None, level: str) -> None:
    """Serve the placement API alone; any number of such processes on one PostgreSQL."""
    configure(level)
    if context.invoked_subcommand is not None:
        return
    if path is None:
        raise click.UsageError(f"Missing option '{_CONFIG}'.")
    settings = read_settings(path)
    if not settings.state.directory and (not settings.database.url or settings.placement.auth_strategy == "embedded"):
        raise click.UsageError("[state] directory must be set")
    if settings.state.directory:
        Path(settings.state.directory).mkdir(parents=True, exist_ok=True)
    with uvloop_runner() as runner:
        runner.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    asked = serving.ending()
    listener = serving.listen(settings.api)
    database = await assembly.open_database(settings.database, Path(settings.state.directory))
    try:
        await _check_schema(database)
        alone = assembly.make_placement_alone(settings, database)
        try:
            await _serve_alone(alone, asked, listener)
        finally:
            await alone.identity.close()
    finally:
        await database.close()


async def _serve_alone(alone: assembly.PlacementAlone, asked: asyncio.Event, listener: socket.socket) -> None:
    api = alone.settings.api
    server = serving.make_server(assembly.make_placement_site(alone), api)
    # The first question shall not wait for the whole ledger.
    await alone.ledger.refresh()
    chores = assembly.start_placement_chores(alone)
    try:
        serving.settle_memory()
        click.echo(f"ready {serving.address(api, listener)}")
        await serving.serve_until(asked, server, listener)
    finally:
        chores.cancel()
        await asyncio.gather(chores, return_exceptions=True)


async def _check_schema(database: Database) -> None:
    """Raises OldSchema: many processes may start at once, so none of them changes the database."""
    present, wanted = await migrate.current(database), migrate.newest()
    if present != wanted:
        raise OldSchema(f"The database has schema {present or 'none'}, not {wanted}: run `kilonova db upgrade` first.")


@placement.command("import")
@click.option(_CONFIG, "path", type=click.Path(), required=True, help="Settings file that names our database.")
@click.option(
    "--from", "url", required=True, help="Database of the service to be replaced: mysql://…, postgresql://… or sqlite:///…."
)
def take_over(path: str, url: str) -> None:
    """Take over the ledger of the community's placement service, all of it or nothing. That service must not run any more."""
    asyncio.run(with_database(read_settings(path), lambda database: _take_over(database, url)))


async def _take_over(database: Database, url: str) -> None:
    await _check_schema(database)
    taken = await assembly.take_over(database, url)
    for line in (*_counts(taken), *taken.remarks):
        click.echo(line)


def _counts(taken: WholeLedger) -> list[str]:
    trees = sum(node.parent is None for node in taken.nodes)
    return [
        f"{len(taken.nodes)} providers in {trees} trees",
        f"{len(taken.inventories)} inventories",
        f"{len(taken.traits)} traits of providers, {len(taken.aggregates)} memberships in aggregates",
        f"{len(taken.trait_names)} custom traits, {len(taken.classes)} custom resource classes",
        f"{len(taken.holders)} consumers with {len(taken.allocations)} allocations",
    ]
