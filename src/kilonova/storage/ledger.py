"""Reads of the ledger: providers as whole values, consumers, what they hold. It decides nothing and writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, func, select, text

from kilonova.domain.ledger import Consumer
from kilonova.domain.resources import Provider
from kilonova.storage.database import Transaction
from kilonova.storage.provider_reading import COLUMNS, provider_of
from kilonova.storage.statement import Dialect, Statement, any_of
from kilonova.storage.tables import allocations, consumers, providers


def _in(column: str) -> Mapping[Dialect, str]:
    return {"sqlite": f"{column} IN (SELECT value FROM json_each(:keys))", "postgresql": f"{column} = ANY(:keys)"}


def _providers(where: Mapping[Dialect, str], tail: str = "ORDER BY p.id") -> Mapping[Dialect, Statement]:
    return {
        dialect: Statement(text(f"SELECT {COLUMNS[dialect]} FROM providers p WHERE {where[dialect]} {tail}"))
        for dialect in COLUMNS
    }


_BY_ID: Final = _providers(_in("p.id"))
_BY_UUID: Final = _providers(_in("p.uuid"))
_BY_NAME: Final = _providers(_in("p.name"))
_AFTER: Final = _providers({"sqlite": "p.id > :after", "postgresql": "p.id > :after"}, "ORDER BY p.id LIMIT :many")
_CONSUMER: Final = (
    consumers.c.uuid,
    consumers.c.generation,
    consumers.c.project_id,
    consumers.c.user_id,
    consumers.c.consumer_type,
)
CONSUMERS: Final = select(*_CONSUMER).where(any_of(consumers.c.uuid, "uuids")).order_by(consumers.c.uuid)
_CONSUMERS: Final = Statement(CONSUMERS)
_HELD: Final = Statement(
    select(allocations.c.consumer, allocations.c.provider_id, allocations.c.resource_class, allocations.c.used).where(
        any_of(allocations.c.consumer, "uuids")
    )
)
_OF_PROVIDER: Final = Statement(
    select(*_CONSUMER, allocations.c.resource_class, allocations.c.used)
    .join(consumers, consumers.c.uuid == allocations.c.consumer)
    .where(allocations.c.provider_id == bindparam("provider_id"))
    .order_by(allocations.c.consumer, allocations.c.resource_class)
)
_WHOLE: Final = Statement(
    select(*_CONSUMER, providers.c.uuid, providers.c.generation, allocations.c.resource_class, allocations.c.used)
    .join(allocations, allocations.c.consumer == consumers.c.uuid)
    .join(providers, providers.c.id == allocations.c.provider_id)
    .where(consumers.c.uuid == bindparam("consumer"))
    .order_by(providers.c.id, allocations.c.resource_class)
)
_USAGES: Final = (
    select(consumers.c.consumer_type, allocations.c.resource_class, func.sum(allocations.c.used))
    .join(consumers, consumers.c.uuid == allocations.c.consumer)
    .where(consumers.c.project_id == bindparam("project_id"))
    .group_by(consumers.c.consumer_type, allocations.c.resource_class)
)
_COUNTS: Final = (
    select(consumers.c.consumer_type, func.count())
    .where(consumers.c.project_id == bindparam("project_id"))
    .group_by(consumers.c.consumer_type)
)
_BY_PROJECT: Final = (Statement(_USAGES), Statement(_COUNTS))
_BY_USER: Final = tuple(Statement(query.where(consumers.c.user_id == bindparam("user_id"))) for query in (_USAGES, _COUNTS))


async def providers_by_id(transaction: Transaction, ids: Sequence[int]) -> dict[int, Provider]:
    """Those of the providers that exist, in the order of their ids."""
    rows = await transaction.rows(_BY_ID[transaction.dialect], {"keys": list(ids)})
    return {row[0]: provider_of(row) for row in rows}


async def providers_by_uuid(transaction: Transaction, uuids: Sequence[str]) -> dict[str, Provider]:
    """Those of the providers that exist, by uuid."""
    rows = await transaction.rows(_BY_UUID[transaction.dialect], {"keys": list(uuids)})
    return {row[1]: provider_of(row) for row in rows}


async def providers_by_name(transaction: Transaction, names: Sequence[str]) -> dict[str, Provider]:
    """Those of the providers that exist, by name."""
    rows = await transaction.rows(_BY_NAME[transaction.dialect], {"keys": list(names)})
    return {row[2]: provider_of(row) for row in rows}


async def providers_after(transaction: Transaction, after: int, many: int) -> list[Provider]:
    """The next `many` providers in the order of ids, to walk through all of them."""
    rows = await transaction.rows(_AFTER[transaction.dialect], {"after": after, "many": many})
    return [provider_of(row) for row in rows]


async def consumers_by_uuid(transaction: Transaction, uuids: Sequence[str]) -> dict[str, Consumer]:
    """Those of the consumers that exist."""
    return {row[0]: Consumer(*row) for row in await transaction.rows(_CONSUMERS, {"uuids": list(uuids)})}


async def allocations_of_consumers(transaction: Transaction, uuids: Sequence[str]) -> dict[str, dict[int, dict[str, int]]]:
    """What the consumers hold, by consumer, provider id and class; those that hold nothing are not in it."""
    held: dict[str, dict[int, dict[str, int]]] = {}
    for consumer, provider_id, resource_class, used in await transaction.rows(_HELD, {"uuids": list(uuids)}):
        held.setdefault(consumer, {}).setdefault(provider_id, {})[resource_class] = used
    return held


@dataclass(frozen=True, slots=True)
class Held:
    """What a consumer holds of one provider, by class."""

    provider_uuid: str
    provider_generation: int
    amounts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WholeConsumer:
    """A consumer and all that it holds."""

    consumer: Consumer
    held: Sequence[Held]


async def whole_consumer(transaction: Transaction, uuid: str) -> WholeConsumer | None:
    """A consumer with what it holds, as of one moment; None where it holds nothing."""
    found = await transaction.rows(_WHOLE, {"consumer": uuid})
    amounts: dict[tuple[str, int], dict[str, int]] = {}
    for row in found:
        amounts.setdefault((row[5], row[6]), {})[row[7]] = row[8]
    if not found:
        return None
    first = found[0]
    who = Consumer(first[0], first[1], first[2], first[3], first[4])
    return WholeConsumer(who, [Held(*provider, by_class) for provider, by_class in amounts.items()])


@dataclass(frozen=True, slots=True)
class Holding:
    """What one consumer holds of one provider, by class."""

    consumer: Consumer
    amounts: Mapping[str, int]


async def allocations_of_provider(transaction: Transaction, provider_id: int) -> list[Holding]:
    """Who holds what of a provider, in the order of consumer uuids."""
    found: dict[str, Consumer] = {}
    amounts: dict[str, dict[str, int]] = {}
    for row in await transaction.rows(_OF_PROVIDER, {"provider_id": provider_id}):
        found.setdefault(row[0], Consumer(row[0], row[1], row[2], row[3], row[4]))
        amounts.setdefault(row[0], {})[row[5]] = row[6]
    return [Holding(consumer, amounts[uuid]) for uuid, consumer in found.items()]


@dataclass(frozen=True, slots=True)
class TypeUsage:
    """What the consumers of one type hold together, and how many they are."""

    consumers: int
    amounts: Mapping[str, int]


async def usages_of_project(transaction: Transaction, project_id: str, user_id: str | None = None) -> dict[str, TypeUsage]:
    """What a project (or one user of it) holds, by consumer type."""
    sums, counts = _BY_PROJECT if user_id is None else _BY_USER
    who = {"project_id": project_id} if user_id is None else {"project_id": project_id, "user_id": user_id}
    amounts: dict[str, dict[str, int]] = {}
    for consumer_type, resource_class, used in await transaction.rows(sums, who):
        amounts.setdefault(consumer_type, {})[resource_class] = int(used)
    return {
        consumer_type: TypeUsage(count, amounts.get(consumer_type, {}))
        for consumer_type, count in await transaction.rows(counts, who)
    }
