"""Clouds of up to a hundred thousand providers, written straight into a database: by HTTP it would take an hour."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from placement_data import GOLD, SILVER, Spec, flat, named, nested

from kilonova.domain.clock import now
from kilonova.domain.resources import Inventory
from kilonova.storage.database import Database, Transaction
from kilonova.storage.migrate import upgrade
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase
from kilonova.storage.statement import BulkInsert
from kilonova.storage.tables import inventories, provider_aggregates, provider_traits, providers, traits

TREE: Final = 7
HOSTS_OF_A_RACK: Final = 40
MORE_TRAITS: Final = ("HW_CPU_X86_SSE42", "COMPUTE_NODE", "COMPUTE_VOLUME_ATTACH", "COMPUTE_NET_ATTACH_INTERFACE")
AT_ONCE: Final = 5_000

_PROVIDERS: Final = BulkInsert(
    providers, ("id", "uuid", "name", "generation", "parent_id", "root_id", "partition", "created_at", "updated_at")
)
_INVENTORIES: Final = BulkInsert(
    inventories,
    ("provider_id", "resource_class", "total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio", "used"),
)
_TRAITS: Final = BulkInsert(provider_traits, ("provider_id", "trait"))
_AGGREGATES: Final = BulkInsert(provider_aggregates, ("provider_id", "aggregate"))
_NAMES: Final = BulkInsert(traits, ("name", "created_at"), "nothing")
Rows = list[Sequence[object]]


def cloud_of(kind: str, count: int) -> Iterator[Spec]:
    """About `count` providers, flat or in trees of seven, as the other benches have them, but with five traits and two
    aggregates a root, and amounts in use of which hardly two hosts have the same.
    """
    if kind == "flat":
        specs = flat(count).providers
    else:
        hosts = count // TREE
        specs = nested(hosts).providers[: hosts * TREE]
    rack = itertools.count()
    for number, spec in enumerate(specs):
        used = {name: _used(entry, number) for name, entry in spec.inventories.items()}
        if spec.parent is None:
            place = named(f"rack-{next(rack) // HOSTS_OF_A_RACK}")
            spec = replace(spec, traits=(*spec.traits, *MORE_TRAITS), aggregates=(*spec.aggregates, place))
        yield replace(spec, inventories=used)


def _used(entry: Inventory, number: int) -> Inventory:
    """Up to half in use, in steps as flavors have them."""
    step = max(1, entry.total // 512)
    return replace(entry, used=step * (number % max(1, entry.total // step // 2)))


async def fill(database: Database, specs: Iterator[Spec]) -> int:
    """Write providers into an empty database with a schema; how many."""
    moment = now()
    ids: dict[str, int] = {}
    roots: dict[str, int] = {}
    while chunk := list(itertools.islice(specs, AT_ONCE)):
        rows: tuple[Rows, Rows, Rows, Rows] = ([], [], [], [])
        for spec in chunk:
            number = ids[spec.uuid] = len(ids) + 1
            parent = ids[spec.parent] if spec.parent else None
            root = roots[spec.uuid] = roots[spec.parent] if spec.parent else number
            rows[0].append((number, spec.uuid, spec.name, 1, parent, root, "", moment, moment))
            for name, entry in spec.inventories.items():
                rows[1].append((number, name, *_amounts(entry)))
            rows[2].extend((number, trait) for trait in spec.traits)
            rows[3].extend((number, aggregate) for aggregate in spec.aggregates)

        async def write(transaction: Transaction, rows: tuple[Rows, Rows, Rows, Rows] = rows) -> None:
            for bulk, some in zip((_PROVIDERS, _INVENTORIES, _TRAITS, _AGGREGATES), rows, strict=True):
                await transaction.many(bulk, some)

        await database.transact(write)
    await database.transact(lambda t: t.many(_NAMES, [(name, moment) for name in (GOLD, SILVER)]))
    return len(ids)


def _amounts(entry: Inventory) -> Sequence[object]:
    return (
        entry.total, entry.reserved, entry.min_unit, entry.max_unit, entry.step_size, entry.allocation_ratio, entry.used,
    )  # fmt: skip


async def open_sqlite(path: Path) -> Database:
    """A SQLite file with the newest schema."""
    database = SqliteDatabase(path)
    await upgrade(database)
    return database


async def open_postgresql(url: str) -> Database:
    """A PostgreSQL database with the newest schema."""
    async with asyncio.timeout(60):
        database = await PostgresqlDatabase.connect(url, connections=4, seconds=120)
    await upgrade(database)
    return database
