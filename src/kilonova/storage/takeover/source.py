"""Connections to a database that is only read, and at one moment: PostgreSQL, SQLite, and MySQL where its driver is installed."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol
from urllib.parse import quote

import asyncpg
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from kilonova.domain.errors import BadRequest, KilonovaError, Unavailable

CONNECT_SECONDS: Final = 10.0
QUERY_SECONDS: Final = 300.0
"""How long one table may take."""

_MYSQL_OPTIONS: Final = ("unix_socket", "ssl_ca", "ssl_cert", "ssl_key")
"""Options of an address that say how to connect, by the names that the driver has for them, too."""
_MYSQL_IGNORED: Final = ("charset",)


class Unreadable(KilonovaError):
    """The database answers, but it has not the tables or columns that are asked for."""

    code = "takeover.unreadable"


class Source(Protocol):
    """One moment of a database."""

    async def rows(self, query: str) -> Sequence[Sequence[Any]]:
        """All rows of a query without parameters. Raises Unreadable, errors.Unavailable."""
        ...


@asynccontextmanager
async def open_source(address: str) -> AsyncIterator[Source]:
    """The database at an SQLAlchemy URL; a driver that it names (`mysql+pymysql`) does not matter.

    Raises errors.BadRequest for an address that names no such database, errors.Unavailable.
    """
    try:
        url = make_url(address)
    except ArgumentError as error:
        raise BadRequest("The address of the database is no URL such as postgresql://user:password@host/placement.") from error
    opener = _OPENERS.get(url.get_backend_name())
    if opener is None:
        raise BadRequest(f"A database of the kind {url.get_backend_name()} cannot be read; postgresql, mysql and sqlite can.")
    async with opener(url) as source:
        yield source


class _Postgresql:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def rows(self, query: str) -> Sequence[Sequence[Any]]:
        """See Source."""
        try:
            found: Sequence[Sequence[Any]] = await self._connection.fetch(query, timeout=QUERY_SECONDS)
        except (asyncpg.PostgresConnectionError, asyncpg.InterfaceError, TimeoutError, ConnectionError) as error:
            raise Unavailable(f"The database to be taken over went away: {error}") from error
        except asyncpg.PostgresError as error:
            raise Unreadable(str(error)) from error
        return found


@asynccontextmanager
async def _open_postgresql(url: URL) -> AsyncIterator[Source]:
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        connection = await asyncpg.connect(dsn, timeout=CONNECT_SECONDS)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
        raise _cannot_connect(error) from error
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            yield _Postgresql(connection)
    finally:
        await connection.close()


class _Blocking:
    """A connection whose driver waits: nothing else goes on in a process that takes a database over."""

    def __init__(self, connection: Any, refusals: tuple[type[Exception], ...]) -> None:
        self._connection = connection
        self._refusals = refusals

    async def rows(self, query: str) -> Sequence[Sequence[Any]]:
        """See Source."""
        cursor = self._connection.cursor()
        try:
            cursor.execute(query)
            found: Sequence[Sequence[Any]] = cursor.fetchall()
        except self._refusals as error:
            raise Unreadable(str(error)) from error
        finally:
            cursor.close()
        return found


@asynccontextmanager
async def _open_sqlite(url: URL) -> AsyncIterator[Source]:
    # Read only: a path that is wrong must not become a new file.
    uri = f"file:{quote(url.database or '')}?mode=ro"
    try:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=CONNECT_SECONDS)
    except sqlite3.Error as error:
        raise _cannot_connect(f"{url.database}: {error}") from error
    try:
        connection.execute("BEGIN")
        yield _Blocking(connection, (sqlite3.Error,))
    finally:
        connection.close()


@asynccontextmanager
async def _open_mysql(url: URL) -> AsyncIterator[Source]:
    unknown = url.query.keys() - {*_MYSQL_OPTIONS, *_MYSQL_IGNORED}
    if unknown:
        raise BadRequest(f"The address of the database has options that are not known here: {', '.join(sorted(unknown))}.")
    options = {name: url.query[name] for name in _MYSQL_OPTIONS if name in url.query}
    try:
        import pymysql  # noqa: PLC0415 - optional: only clouds on MySQL need it
    except ImportError as error:
        raise Unavailable("Reading MySQL needs the package PyMySQL: install kilonova[mysql].") from error
    try:
        connection = pymysql.connect(
            host=url.host or "127.0.0.1",
            port=url.port or 3306,
            user=url.username,
            password=url.password or "",
            database=url.database,
            charset="utf8mb4",
            connect_timeout=int(CONNECT_SECONDS),
            read_timeout=QUERY_SECONDS,
            **options,
        )
    except (pymysql.MySQLError, OSError) as error:
        raise _cannot_connect(error) from error
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        yield _Blocking(connection, (pymysql.MySQLError,))
    finally:
        connection.close()


def _cannot_connect(reason: object) -> Unavailable:
    return Unavailable(f"The database to be taken over cannot be opened: {reason}")


_OPENERS: Final = {
    "postgresql": _open_postgresql,
    "postgres": _open_postgresql,
    "sqlite": _open_sqlite,
    "mysql": _open_mysql,
    "mariadb": _open_mysql,
}
