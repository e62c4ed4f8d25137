"""`kilonova config` prints every setting; `kilonova db` brings a database to the newest schema."""

import asyncio
import os
from pathlib import Path

import click

from kilonova import assembly, settings
from kilonova.domain.clock import new_uuid
from kilonova.storage import feed, migrate


def read_settings(path: str | None) -> settings.Settings:
    """The settings of a file (or none) and the environment. Raises SettingsError."""
    return settings.load(Path(path) if path else None, os.environ)


@click.command()
@click.option("--config", "path", type=click.Path(), help="Settings file to start from.")
def config(path: str | None) -> None:
    """Print all settings as TOML, with their meanings."""
    click.echo(settings.render(read_settings(path)))


@click.group()
def db() -> None:
    """Look after the database."""


@db.command()
@click.option("--config", "path", type=click.Path(), required=True, help="Settings file that names the database.")
def upgrade(path: str) -> None:
    """Bring the schema to what this version needs."""
    click.echo(asyncio.run(_upgrade(read_settings(path))))


@db.command("renew-epoch")
@click.option("--config", "path", type=click.Path(), required=True, help="Settings file that names the database.")
def renew_epoch(path: str) -> None:
    """After a restore: have every process read its picture of the ledger anew."""
    asyncio.run(_renew_epoch(read_settings(path)))
    click.echo("every process will read its picture anew")


async def _renew_epoch(chosen: settings.Settings) -> None:
    database = await assembly.open_database(chosen.database, Path(chosen.state.directory or "."))
    try:
        await database.transact(lambda tx: feed.renew_epoch(tx, new_uuid()))
    finally:
        await database.close()


async def _upgrade(chosen: settings.Settings) -> str:
    database = await assembly.open_database(chosen.database, Path(chosen.state.directory or "."))
    try:
        return f"schema {await migrate.upgrade(database)}"
    finally:
        await database.close()
