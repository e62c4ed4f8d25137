"""Providers as rows and rows as providers: one row has the whole of a provider, so that one statement has it as of one moment.

Equal parts of different providers become the same object: hosts are alike, and a hundred thousand of them must fit into
memory.
"""

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import orjson
from sqlalchemy import text

from kilonova.domain.resources import Inventory, Provider
from kilonova.storage.database import Row, Transaction
from kilonova.storage.statement import Dialect, Statement

PIECE: Final = 1000
"""How many providers are read at a time: few enough that nobody is held up, many enough that a statement is worth it."""

_END: Final = 2**62
_INVENTORY: Final = "resource_class, total, reserved, min_unit, max_unit, step_size, {ratio}, used"
# SQLite's own JSON keeps 15 digits of a number, and three times a third must be one.
_SQLITE_INVENTORY: Final = _INVENTORY.format(ratio="json(printf('%!.17g', allocation_ratio))")
_POSTGRESQL_INVENTORY: Final = _INVENTORY.format(ratio="allocation_ratio")
_ITSELF: Final = "p.id, p.uuid, p.name, p.generation, p.parent_id, coalesce(p.root_id, p.id), p.partition"
_PARTS: Final[Mapping[Dialect, Sequence[tuple[str, str]]]] = {
    "sqlite": (
        ("inventories", f"json_group_array(json_array({_SQLITE_INVENTORY}))"),
        ("provider_traits", "json_group_array(trait)"),
        ("provider_aggregates", "json_group_array(aggregate)"),
    ),
    "postgresql": (
        ("inventories", f"json_agg(json_build_array({_POSTGRESQL_INVENTORY}))"),
        ("provider_traits", "json_agg(trait)"),
        ("provider_aggregates", "json_agg(aggregate)"),
    ),
}


def _looked_up(dialect: Dialect) -> str:
    """Parts of each provider by themselves: for a few providers."""
    parts = (f"(SELECT {part} FROM {table} x WHERE x.provider_id = p.id)" for table, part in _PARTS[dialect])
    return ", ".join((_ITSELF, *parts))


def _joined(dialect: Dialect) -> str:
    """Parts of all providers with ids in a range at once: for many providers, PostgreSQL needs half the time."""
    there = ":after < {0} AND {0} <= :upto"
    parts = " ".join(
        f"LEFT JOIN (SELECT provider_id, {part} AS parts FROM {table} WHERE {there.format('provider_id')} GROUP BY provider_id) "
        f"x{number} ON x{number}.provider_id = p.id"
        for number, (table, part) in enumerate(_PARTS[dialect])
    )
    return f"SELECT {_ITSELF}, x0.parts, x1.parts, x2.parts FROM providers p {parts} WHERE {there.format('p.id')} ORDER BY p.id"


COLUMNS: Final[Mapping[Dialect, str]] = {"sqlite": _looked_up("sqlite"), "postgresql": _looked_up("postgresql")}
"""The columns that `provider_of` reads, of a providers table called p."""

WIDTH: Final = 10
"""How many columns these are."""

_BOUNDS: Final = Statement(
    text("""SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS number FROM providers) p
    WHERE number % CAST(:many AS bigint) = 0 ORDER BY id""")
)
_BETWEEN: Final[Mapping[Dialect, Statement]] = {
    "sqlite": Statement(text(f"SELECT {COLUMNS['sqlite']} FROM providers p WHERE p.id > :after AND p.id <= :upto ORDER BY p.id")),
    "postgresql": Statement(text(_joined("postgresql"))),
}


def provider_of(row: Row, start: int = 0) -> Provider:
    """The provider in a row whose columns from `start` on are COLUMNS."""
    number, uuid, name, generation, parent_id, root_id, partition, offered, traits, aggregates = row[start : start + WIDTH]
    return Provider(
        number,
        uuid,
        name,
        generation,
        parent_id,
        # One number object instead of two.
        number if root_id == number else root_id,
        sys.intern(partition),
        _inventories(offered) if offered else _NOTHING,
        _names(traits) if traits else _NO_NAMES,
        _names(aggregates) if aggregates else _NO_NAMES,
    )


def providers_of(rows: Sequence[Row]) -> list[Provider]:
    """The providers in rows that `rows_between` gave. It may run in a thread of its own."""
    return [provider_of(row) for row in rows]


async def pieces(transaction: Transaction) -> list[tuple[int, int]]:
    """Ranges of ids (after, up to) that together hold all providers, about PIECE in each."""
    bounds = [row[0] for row in await transaction.rows(_BOUNDS, {"many": PIECE})]
    return list(zip((0, *bounds), (*bounds, _END), strict=True))


async def rows_between(transaction: Transaction, piece: tuple[int, int]) -> Sequence[Row]:
    """The rows of a piece, in the order of ids."""
    rows: Sequence[Row] = await transaction.rows(_BETWEEN[transaction.dialect], {"after": piece[0], "upto": piece[1]})
    return rows


_NOTHING: Final[Mapping[str, Inventory]] = {}
_NO_NAMES: Final[frozenset[str]] = frozenset()


# As large as the kinds of hosts that a cloud may have; a host with amounts of its own costs one miss.
@lru_cache(maxsize=4096)
def _inventories(parts: str) -> Mapping[str, Inventory]:
    return {sys.intern(entry[0]): _inventory(*entry[1:]) for entry in orjson.loads(parts)}


@lru_cache(maxsize=16_384)
def _inventory(*amounts: int) -> Inventory:
    total, reserved, min_unit, max_unit, step_size, ratio, used = amounts
    # PostgreSQL writes a whole ratio without its point.
    return Inventory(total, reserved, min_unit, max_unit, step_size, float(ratio), used)


@lru_cache(maxsize=4096)
def _names(parts: str) -> frozenset[str]:
    return frozenset(map(sys.intern, orjson.loads(parts)))
