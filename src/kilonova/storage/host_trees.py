"""The ledger's side of a host: its root provider's traits and aggregates, the amounts of its tree, and the tree's end."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import os_traits
from sqlalchemy import BigInteger, bindparam, cast, delete, func, select, update

from kilonova.domain.clock import now
from kilonova.domain.errors import Conflict
from kilonova.storage.changes import PROVIDER, note
from kilonova.storage.database import Transaction
from kilonova.storage.statement import BulkInsert, Statement, any_of
from kilonova.storage.tables import allocations, inventories, provider_aggregates, provider_traits, providers

_ROOT: Final = Statement(select(providers.c.id).where(providers.c.uuid == bindparam("uuid")).with_for_update(key_share=True))
_TREE: Final = Statement(
    select(providers.c.id, providers.c.parent_id)
    .where(providers.c.root_id == bindparam("root_id"))
    .order_by(providers.c.id)
    .with_for_update()
)
_TOUCH: Final = Statement(
    update(providers)
    .where(providers.c.id == bindparam("number"))
    .values(generation=providers.c.generation + 1, updated_at=bindparam("moment"))
)
_ADD_TRAIT: Final = BulkInsert(provider_traits, ("provider_id", "trait"), on_conflict="nothing")
_DROP_TRAIT: Final = Statement(
    delete(provider_traits).where(
        provider_traits.c.provider_id == bindparam("number"), provider_traits.c.trait == bindparam("trait")
    )
)
_ADD_AGGREGATE: Final = BulkInsert(provider_aggregates, ("provider_id", "aggregate"), on_conflict="nothing")
_DROP_AGGREGATE: Final = Statement(
    delete(provider_aggregates).where(
        provider_aggregates.c.provider_id == bindparam("number"),
        provider_aggregates.c.aggregate == bindparam("aggregate"),
    )
)
_HELD: Final = Statement(select(allocations.c.consumer).where(any_of(allocations.c.provider_id, "ids")).limit(1))
_CLEAR: Final = tuple(
    Statement(delete(table).where(any_of(table.c.provider_id, "ids")))
    for table in (inventories, provider_traits, provider_aggregates)
)
_DELETE: Final = Statement(delete(providers).where(any_of(providers.c.id, "ids")))

_NODES: Final = providers.alias("nodes")
_ROOTS: Final = providers.alias("roots")
_AMOUNTS: Final = Statement(
    select(
        _ROOTS.c.uuid,
        inventories.c.resource_class,
        # PostgreSQL sums bigint as numeric, which would come back as Decimal.
        cast(func.sum(inventories.c.total), BigInteger),
        cast(func.sum(inventories.c.reserved), BigInteger),
        cast(func.sum(inventories.c.used), BigInteger),
    )
    .select_from(_ROOTS)
    .join(_NODES, _NODES.c.root_id == _ROOTS.c.id)
    .join(inventories, inventories.c.provider_id == _NODES.c.id)
    .where(any_of(_ROOTS.c.uuid, "uuids"))
    .group_by(_ROOTS.c.uuid, inventories.c.resource_class)
)


@dataclass(frozen=True, slots=True)
class Amount:
    """One class of a whole tree, in the class's own unit."""

    total: int = 0
    reserved: int = 0
    used: int = 0


async def _root_of(tx: Transaction, provider_uuid: str) -> int | None:
    row = await tx.one(_ROOT, {"uuid": provider_uuid})
    return None if row is None else int(row[0])


async def _touched(tx: Transaction, number: int) -> None:
    """What depends on the provider's generation must see that it changed."""
    await tx.run(_TOUCH, {"number": number, "moment": now()})
    await note(tx, [(PROVIDER, str(number))])


async def mark_disabled(tx: Transaction, provider_uuid: str, disabled: bool) -> None:
    """Put the trait that keeps searches away from a disabled host on its root provider, or take it off.

    A host without a provider yet is left alone: registration puts the trait there with the tree.
    """
    number = await _root_of(tx, provider_uuid)
    if number is None:
        return
    trait = os_traits.COMPUTE_STATUS_DISABLED
    if disabled:
        await tx.many(_ADD_TRAIT, [(number, trait)])
    else:
        await tx.run(_DROP_TRAIT, {"number": number, "trait": trait})
    await _touched(tx, number)


async def join_aggregate(tx: Transaction, provider_uuid: str, aggregate_uuid: str) -> None:
    """Mirror a host aggregate on the host's root provider. Raises errors.Conflict when there is no such provider."""
    number = await _root_of(tx, provider_uuid)
    if number is None:
        raise Conflict(f"The host has no resource provider {provider_uuid} that could join the aggregate.")
    await tx.many(_ADD_AGGREGATE, [(number, aggregate_uuid)])
    await _touched(tx, number)


async def leave_aggregate(tx: Transaction, provider_uuid: str, aggregate_uuid: str) -> None:
    """Undo `join_aggregate`; a provider that is gone is in no aggregate."""
    number = await _root_of(tx, provider_uuid)
    if number is None:
        return
    await tx.run(_DROP_AGGREGATE, {"number": number, "aggregate": aggregate_uuid})
    await _touched(tx, number)


async def remove_tree(tx: Transaction, provider_uuid: str) -> None:
    """Remove the root provider with all below it, leaves noted first. Raises errors.Conflict while somebody holds of it."""
    root = await _root_of(tx, provider_uuid)
    if root is None:
        return
    parents = {int(row[0]): row[1] for row in await tx.rows(_TREE, {"root_id": root})}
    ids = sorted(parents, key=lambda number: _depth(number, parents), reverse=True)
    held = await tx.one(_HELD, {"ids": ids})
    if held is not None:
        raise Conflict(f"The host's resources are still held by consumer {held[0]}.")
    for statement in (*_CLEAR, _DELETE):
        await tx.run(statement, {"ids": ids})
    await note(tx, [(PROVIDER, str(number)) for number in ids])


def _depth(number: int, parents: Mapping[int, int | None]) -> int:
    depth, above = 0, parents.get(number)
    while above is not None:
        depth, above = depth + 1, parents.get(above)
    return depth


async def amounts_of(tx: Transaction, provider_uuids: Sequence[str]) -> Mapping[str, Mapping[str, Amount]]:
    """By root provider's uuid and class, what the whole tree has; trees without inventories are not in it."""
    found: dict[str, dict[str, Amount]] = defaultdict(dict)
    for uuid, name, *numbers in await tx.rows(_AMOUNTS, {"uuids": list(provider_uuids)}):
        found[uuid][name] = Amount(*map(int, numbers))
    return found
