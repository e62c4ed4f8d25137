"""Writes of allocations and the locks that they need, within a caller's transaction. It checks nothing: that is placement.claims.

Lock order: consumers by uuid, then providers by id; whoever locks both keeps to it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import func, select

from kilonova.domain.clock import now
from kilonova.domain.ledger import Amounts, Consumer
from kilonova.domain.resources import Inventory, Provider
from kilonova.storage import changes
from kilonova.storage.changes import PROVIDER
from kilonova.storage.database import Transaction
from kilonova.storage.ledger import CONSUMERS
from kilonova.storage.statement import Bulk, BulkDelete, BulkInsert, BulkUpdate, Statement, any_of
from kilonova.storage.tables import allocations, consumers, inventories, providers

_LOCK_CONSUMERS: Final = Statement(CONSUMERS.with_for_update(key_share=True))
_LOCK_PROVIDERS: Final = Statement(
    select(
        providers.c.id,
        providers.c.uuid,
        providers.c.name,
        providers.c.generation,
        providers.c.parent_id,
        func.coalesce(providers.c.root_id, providers.c.id),
        providers.c.partition,
    )
    .where(any_of(providers.c.id, "ids"))
    .order_by(providers.c.id)
    .with_for_update(key_share=True)
)
_INVENTORIES: Final = Statement(
    select(
        inventories.c.provider_id,
        inventories.c.resource_class,
        inventories.c.total,
        inventories.c.reserved,
        inventories.c.min_unit,
        inventories.c.max_unit,
        inventories.c.step_size,
        inventories.c.allocation_ratio,
        inventories.c.used,
    ).where(any_of(inventories.c.provider_id, "ids"))
)
_USE: Final = BulkUpdate(inventories, ("provider_id", "resource_class"), adds=("used",))
_BUMP: Final = BulkUpdate(providers, ("id",), adds=("generation",))
_RELEASE: Final = BulkDelete(allocations, ("consumer",))
_HOLD: Final = BulkInsert(allocations, ("consumer", "provider_id", "resource_class", "partition", "used"))
_CONSUMER_COLUMNS: Final = ("uuid", "generation", "project_id", "user_id", "consumer_type", "created_at", "updated_at")
_BEGIN: Final = BulkInsert(consumers, _CONSUMER_COLUMNS)
_GO_ON: Final = BulkUpdate(
    consumers, ("uuid",), sets=("project_id", "user_id", "consumer_type", "updated_at"), adds=("generation",)
)
_END: Final = BulkDelete(consumers, ("uuid",))


async def lock_consumers(transaction: Transaction, uuids: Iterable[str]) -> dict[str, Consumer]:
    """Lock those of the consumers that exist, in the order of their uuids."""
    return {row[0]: Consumer(*row) for row in await transaction.rows(_LOCK_CONSUMERS, {"uuids": sorted(set(uuids))})}


async def lock_providers(transaction: Transaction, ids: Iterable[int]) -> Mapping[int, Provider]:
    """Lock those of the providers that exist, in the order of their ids; with present inventories, without traits and aggregates.

    Inventories are read by a second statement: it sees what was committed while the first one waited for its locks.
    """
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    locked = await transaction.rows(_LOCK_PROVIDERS, {"ids": wanted})
    found: dict[int, dict[str, Inventory]] = {row[0]: {} for row in locked}
    for provider_id, resource_class, *amounts in await transaction.rows(_INVENTORIES, {"ids": list(found)}):
        found[provider_id][resource_class] = Inventory(*amounts)
    return {
        number: Provider(number, uuid, name, generation, parent_id, root_id, partition, found[number])
        for number, uuid, name, generation, parent_id, root_id, partition in locked
    }


@dataclass(frozen=True, slots=True)
class Change:
    """One consumer before and after. `before` is None for a new one; it ends when `holds` is empty."""

    before: Consumer | None
    after: Consumer
    held: Amounts
    holds: Amounts


async def write_allocations(transaction: Transaction, written: Sequence[Change], locked: Mapping[int, Provider]) -> None:
    """Replace what consumers hold. All consumers and providers concerned must be locked, and the amounts be checked.

    Raises database.Duplicate when another transaction has made one of the new consumers meanwhile.
    """
    used: dict[tuple[int, str], int] = {}
    for change in written:
        for sign, amounts in ((-1, change.held), (1, change.holds)):
            for provider_id, by_class in amounts.items():
                for resource_class, amount in by_class.items():
                    key = (provider_id, resource_class)
                    used[key] = used.get(key, 0) + sign * amount
    # Rows that are to be replaced go first: one statement can not take a row away and put it back.
    await transaction.many(_RELEASE, [(change.after.uuid,) for change in written if change.held and change.holds])
    touched = sorted({provider_id for provider_id, _ in used})
    await transaction.together(
        [
            (_USE, [(*key, delta) for key, delta in sorted(used.items()) if delta]),
            (_RELEASE, [(change.after.uuid,) for change in written if change.held and not change.holds]),
            (_HOLD, _allocation_rows(written, locked)),
            (_BUMP, [(number, 1) for number in sorted({n for change in written for n in change.holds})]),
            *_consumer_rows(written),
            (changes.NOTES, [(PROVIDER, str(provider_id)) for provider_id in touched]),
        ]
    )


def _allocation_rows(written: Sequence[Change], locked: Mapping[int, Provider]) -> list[Sequence[Any]]:
    return [
        (change.after.uuid, provider_id, resource_class, locked[provider_id].partition, amount)
        for change in written
        for provider_id, by_class in change.holds.items()
        for resource_class, amount in by_class.items()
    ]


def _consumer_rows(written: Sequence[Change]) -> Sequence[tuple[Bulk, Sequence[Sequence[Any]]]]:
    moment = now()
    begun: list[Sequence[Any]] = []
    kept: list[Sequence[Any]] = []
    ended: list[Sequence[Any]] = []
    for change in sorted(written, key=_uuid):
        who = change.after
        if not change.holds:
            if change.before is not None:
                ended.append((who.uuid,))
        elif change.before is None:
            begun.append((who.uuid, who.generation, who.project_id, who.user_id, who.consumer_type, moment, moment))
        else:
            more = who.generation - change.before.generation
            kept.append((who.uuid, who.project_id, who.user_id, who.consumer_type, moment, more))
    return [(_BEGIN, begun), (_GO_ON, kept), (_END, ended)]


def _uuid(change: Change) -> str:
    return change.after.uuid


def with_used(inventory: Inventory, delta: int) -> Inventory:
    """The inventory when `delta` more of it is used."""
    # Written out: this runs for every class of every claim, and dataclasses.replace takes four times as long.
    return Inventory(
        inventory.total,
        inventory.reserved,
        inventory.min_unit,
        inventory.max_unit,
        inventory.step_size,
        inventory.allocation_ratio,
        inventory.used + delta,
    )
