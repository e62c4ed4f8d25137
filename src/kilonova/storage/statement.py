"""SQL built once with SQLAlchemy Core and compiled once per dialect; what runs is text and parameters.

Bulk statements take one sequence a row: on PostgreSQL they become one `unnest`, on SQLite one `executemany`.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, cast

from sqlalchemy import BigInteger, Boolean, ColumnElement, Float, Integer, LargeBinary, Table, Text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import asyncpg as asyncpg_dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import BindParameter, ClauseElement
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import TypeEngine

Dialect = Literal["sqlite", "postgresql"]

# The library's own dialect factories carry no types.
_SQLITE: Final = sqlite.dialect(paramstyle="named")
_POSTGRESQL: Final = asyncpg_dialect.dialect()  # type: ignore[no-untyped-call]


class now_us(GenericFunction[int]):
    """The database's own clock in microseconds; leases compare with nothing else."""

    type = BigInteger()
    inherit_cache = True


@compiles(now_us, "sqlite")
def _now_sqlite(element: Any, compiler: Any, **options: Any) -> str:
    return "kilonova_now()"


@compiles(now_us, "postgresql")
def _now_postgresql(element: Any, compiler: Any, **options: Any) -> str:
    return "(extract(epoch from clock_timestamp()) * 1000000)::bigint"


class any_of(ColumnElement[bool]):
    """`column` is one of the values in the list parameter `name`: ANY on PostgreSQL, json_each on SQLite."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.parameter: BindParameter[Any] = BindParameter(name, required=True)

    def self_group(self, against: Any = None) -> "any_of":
        """Itself: it needs no brackets, and without this the compiler writes "= 1" behind it, so that no index serves."""
        return self


@compiles(any_of, "sqlite")
def _any_of_sqlite(element: any_of, compiler: Any, **options: Any) -> str:
    column = compiler.process(element.column, **options)
    return f"{column} IN (SELECT value FROM json_each({compiler.process(element.parameter, **options)}))"


@compiles(any_of, "postgresql")
def _any_of_postgresql(element: any_of, compiler: Any, **options: Any) -> str:
    column = compiler.process(element.column, **options)
    parameter = BindParameter(element.parameter.key, required=True, type_=postgresql.ARRAY(element.column.type))
    return f"{column} = ANY({compiler.process(parameter, **options)})"


class Statement:
    """One SQL statement; `text(dialect)` gives the SQL and the order of its parameters, made at first use and kept."""

    __slots__ = ("_clause", "_texts")

    def __init__(self, clause: ClauseElement) -> None:
        self._clause = clause
        self._texts: dict[Dialect, tuple[str, tuple[str, ...], dict[str, Any]]] = {}

    def text(self, dialect: Dialect) -> tuple[str, tuple[str, ...], dict[str, Any]]:
        """SQL, parameter names in order, and the values that the statement itself fixes (limits, constants)."""
        made = self._texts.get(dialect)
        if made is None:
            compiled = cast(SQLCompiler, self._clause.compile(dialect=_SQLITE if dialect == "sqlite" else _POSTGRESQL))
            fixed = {
                key: value for key, value in compiled.params.items() if value is not None or not compiled.binds[key].required
            }
            made = (str(compiled), tuple(compiled.positiontup or ()), fixed)
            self._texts[dialect] = made
        return made


_ARRAYS: Final[Mapping[type[TypeEngine[Any]], str]] = {
    BigInteger: "bigint",
    Integer: "integer",
    Boolean: "boolean",
    Float: "double precision",
    LargeBinary: "bytea",
    Text: "text",
}


def _unnest(table: Table, columns: Sequence[str]) -> str:
    types = [_ARRAYS[type(table.c[name].type)] for name in columns]
    return "unnest(" + ", ".join(f"${number}::{kind}[]" for number, kind in enumerate(types, 1)) + ")"


class BulkInsert:
    """Insert many rows of `columns`; `on_conflict` "nothing" leaves rows that exist, "update" overwrites their other columns."""

    def __init__(
        self, table: Table, columns: Sequence[str], on_conflict: Literal["error", "nothing", "update"] = "error"
    ) -> None:
        names = ", ".join(columns)
        tail = ""
        keys = [column.name for column in table.primary_key.columns]
        if on_conflict == "nothing":
            tail = " ON CONFLICT DO NOTHING"
        elif on_conflict == "update":
            sets = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in keys)
            tail = f" ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {sets}"
        places = ", ".join("?" for _ in columns)
        self.sqlite = f"INSERT INTO {table.name} ({names}) VALUES ({places}){tail}"
        self.postgresql = f"INSERT INTO {table.name} ({names}) SELECT * FROM {_unnest(table, columns)}{tail}"


class BulkUpdate:
    """Update many rows found by `keys`: columns of `sets` get the row's value, columns of `adds` are raised by it.

    A row is keys, then sets, then adds.
    """

    def __init__(self, table: Table, keys: Sequence[str], sets: Sequence[str] = (), adds: Sequence[str] = ()) -> None:
        columns = [*keys, *sets, *adds]
        numbered = {name: f"?{number}" for number, name in enumerate(columns, 1)}
        here = [f"{name} = {numbered[name]}" for name in sets] + [f"{name} = {name} + {numbered[name]}" for name in adds]
        where = " AND ".join(f"{name} = {numbered[name]}" for name in keys)
        self.sqlite = f"UPDATE {table.name} SET {', '.join(here)} WHERE {where}"
        there = [f"{name} = v.{name}" for name in sets] + [f"{name} = t.{name} + v.{name}" for name in adds]
        match = " AND ".join(f"t.{name} = v.{name}" for name in keys)
        self.postgresql = (
            f"UPDATE {table.name} AS t SET {', '.join(there)} "
            f"FROM {_unnest(table, columns)} AS v({', '.join(columns)}) WHERE {match}"
        )


class BulkDelete:
    """Delete many rows found by `keys`."""

    def __init__(self, table: Table, keys: Sequence[str]) -> None:
        where = " AND ".join(f"{name} = ?{number}" for number, name in enumerate(keys, 1))
        self.sqlite = f"DELETE FROM {table.name} WHERE {where}"
        match = " AND ".join(f"t.{name} = v.{name}" for name in keys)
        self.postgresql = f"DELETE FROM {table.name} AS t USING {_unnest(table, keys)} AS v({', '.join(keys)}) WHERE {match}"


Bulk = BulkInsert | BulkUpdate | BulkDelete

_PLACE: Final = re.compile(r"\$(\d+)")


@lru_cache(maxsize=512)
def together(bulks: tuple[Bulk, ...]) -> str:
    """One PostgreSQL statement that runs all of `bulks`, which must not touch the same rows; it has their parameters in order."""
    texts = []
    before = 0
    for bulk in bulks:
        texts.append(_shifted(bulk.postgresql, before))
        before += max(int(number) for number in _PLACE.findall(bulk.postgresql))
    named = ", ".join(f"w{number} AS ({text})" for number, text in enumerate(texts[:-1]))
    return f"WITH {named} {texts[-1]}" if named else texts[-1]


def _shifted(text: str, places: int) -> str:
    return _PLACE.sub(lambda found: f"${int(found[1]) + places}", text)
