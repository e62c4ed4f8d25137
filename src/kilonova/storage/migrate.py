"""Brings a database to the newest schema. Alembic writes the SQL; it runs through our own connection, in one transaction."""

import io
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from kilonova.storage.database import Database
from kilonova.storage.statement import Dialect, Statement

_HAS_VERSION: Final[dict[Dialect, Statement]] = {
    "sqlite": Statement(text("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'")),
    "postgresql": Statement(text("SELECT 1 WHERE to_regclass('alembic_version') IS NOT NULL")),
}
_VERSION: Final = Statement(text("SELECT version_num FROM alembic_version"))


def _config(dialect: Dialect, output: io.StringIO) -> Config:
    config = Config(output_buffer=output)
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("dialect", dialect)
    return config


def newest() -> str:
    """The revision that this code needs."""
    head = ScriptDirectory.from_config(_config("sqlite", io.StringIO())).get_current_head()
    if head is None:
        raise RuntimeError("the package carries no migrations")
    return head


async def current(database: Database) -> str:
    """The revision that the database has; "" for an empty one."""
    async with database.read() as transaction:
        if await transaction.one(_HAS_VERSION[database.dialect]) is None:
            return ""
        row = await transaction.one(_VERSION)
        return str(row[0]) if row else ""


async def upgrade(database: Database) -> str:
    """Run what is missing and return the revision reached. Running it again does nothing."""
    present, wanted = await current(database), newest()
    if present == wanted:
        return wanted
    output = io.StringIO()
    command.upgrade(_config(database.dialect, output), f"{present or 'base'}:head", sql=True)
    await database.script(output.getvalue())
    return wanted
