"""`kilonova config` prints every setting; `kilonova db` brings a database to the newest schema."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import click

from kilonova import assembly, settings
from kilonova.domain.clock import new_uuid
from kilonova.storage import feed, migrate
from kilonova.storage.database import Database

Result = TypeVar("Result")


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
    click.echo(f"schema {asyncio.run(with_database(read_settings(path), migrate.upgrade))}")


@db.command("renew-epoch")
@click.option("--config", "path", type=click.Path(), required=True, help="Settings file that names the database.")
def renew_epoch(path: str) -> None:
    """After a restore: have every process read its picture of the ledger anew."""
    asyncio.run(with_database(read_settings(path), _renew_epoch))
    click.echo("every process will read its picture anew")


async def _renew_epoch(database: Database) -> None:
    await database.transact(lambda tx: feed.renew_epoch(tx, new_uuid()))


async def with_database(chosen: settings.Settings, work: Callable[[Database], Awaitable[Result]]) -> Result:
    """What `work` gives for the database that the settings name, which is closed afterwards. Raises errors.Unavailable."""
    database = await assembly.open_database(chosen.database, Path(chosen.state.directory))
    try:
        return await work(database)
    finally:
        await database.close()
