"""Operations and their steps as rows. Every write for an operation locks its row by id and token first (`lock_held`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import Text, and_, bindparam, cast, exists, false, or_, select, true, update

from kilonova.domain.clock import now
from kilonova.domain.operation import ERROR, NewOperation, Operation, Step
from kilonova.storage.database import Transaction
from kilonova.storage.statement import BulkInsert, BulkUpdate, Statement, any_of, now_us
from kilonova.storage.tables import hosts, operation_steps, operations

_INSERT: Final = BulkInsert(
    operations,
    (
        "id", "kind", "version", "server_id", "project_id", "user_id", "request_id", "cell", "exclusive", "input", "secret",
        "live", "parked", "token", "owner", "lease_until", "started_at", "updated_at",
    ),
)  # fmt: skip
_TAKEABLE: Final = (
    select(operations.c.id)
    .where(
        operations.c.live,
        ~operations.c.parked,
        operations.c.lease_until < now_us(),
        any_of(operations.c.kind + ":" + cast(operations.c.version, Text), "definitions"),
        ~any_of(operations.c.cell, "full"),
    )
    .order_by(operations.c.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_TAKE: Final = Statement(
    update(operations)
    .where(operations.c.id.in_(_TAKEABLE.scalar_subquery()))
    .values(token=operations.c.token + 1, owner=bindparam("holder"), lease_until=now_us() + bindparam("lease"))
    .returning(
        operations.c.id,
        operations.c.kind,
        operations.c.version,
        operations.c.server_id,
        operations.c.project_id,
        operations.c.user_id,
        operations.c.request_id,
        operations.c.cell,
        operations.c.token,
        operations.c.input,
        operations.c.secret,
    )
)
_RENEW: Final = Statement(
    update(operations)
    .where(operations.c.live, operations.c.owner == bindparam("holder"), any_of(operations.c.id, "ids"))
    .values(lease_until=now_us() + bindparam("lease"))
)
_PARK: Final = Statement(
    update(operations)
    .where(operations.c.live, operations.c.id == bindparam("operation"), operations.c.token == bindparam("held"))
    .values(parked=true(), cell=bindparam("away"), owner="", lease_until=0)
)
_PARKED: Final = Statement(select(operations.c.id).where(operations.c.live, operations.c.parked).limit(1))
_UP: Final = and_(hosts.c.cell == operations.c.cell, hosts.c.alive, ~hosts.c.forced_down)
_AWAITED: Final = and_(hosts.c.cell == operations.c.cell, ~hosts.c.forced_down)
_UNPARK: Final = Statement(
    update(operations)
    .where(
        operations.c.live,
        operations.c.parked,
        or_(exists().where(_UP), ~exists().where(_AWAITED)),
    )
    .values(parked=false())
)
_VOID: Final = Statement(update(operations).where(operations.c.live).values(lease_until=0))
_LET_GO: Final = Statement(
    update(operations)
    .where(operations.c.live, operations.c.owner == bindparam("holder"), any_of(operations.c.id, "ids"))
    .values(lease_until=0)
)
_LOCK: Final = Statement(
    select(operations.c.id, operations.c.token)
    .where(any_of(operations.c.id, "ids"), operations.c.live)
    .order_by(operations.c.id)
    .with_for_update(key_share=True)
)
_LIVE_OF_SERVERS: Final = Statement(
    select(operations.c.server_id, operations.c.id, operations.c.kind)
    .where(any_of(operations.c.server_id, "servers"), operations.c.live)
    .order_by(operations.c.id)
    .with_for_update(key_share=True)
)
_CANCEL: Final = BulkUpdate(
    operations,
    ("id",),
    sets=("live", "result", "message", "secret", "finished_at", "updated_at"),
    adds=("token",),
)
_STEPS: Final = Statement(
    select(
        operation_steps.c.operation_id,
        operation_steps.c.key,
        operation_steps.c.position,
        operation_steps.c.intent,
        operation_steps.c.outcome,
        operation_steps.c.host,
    )
    .where(any_of(operation_steps.c.operation_id, "ids"))
    .order_by(operation_steps.c.position)
)
_HOSTS_TOUCHED: Final = Statement(
    select(operation_steps.c.operation_id, operation_steps.c.host)
    .where(and_(any_of(operation_steps.c.operation_id, "ids"), operation_steps.c.host.is_not(None)))
    .distinct()
)
_LIVE: Final = Statement(select(operations.c.id, operations.c.server_id, operations.c.kind).where(operations.c.live == true()))
# A write whose answer was lost may be made again while the first one is still on its way: the last one counts, whole.
_INTEND: Final = BulkInsert(operation_steps, ("operation_id", "key", "position", "intent", "host", "started_at"), "update")
_CONCLUDE: Final = BulkUpdate(operation_steps, ("operation_id", "key"), sets=("outcome", "finished_at"))
_FINISH: Final = BulkUpdate(operations, ("id",), sets=("live", "result", "message", "secret", "finished_at", "updated_at"))


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent to put on record; `at` is when the step began, where that is not when it is written."""

    operation_id: str
    key: str
    position: int
    content: Mapping[str, Any]
    host: str | None = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Conclusion:
    """An outcome to put on record; `at` is when the step ended."""

    operation_id: str
    key: str
    content: Mapping[str, Any]
    at: int


async def insert(transaction: Transaction, new: Sequence[NewOperation]) -> None:
    """Write new operations, free for any conductor. Raises Duplicate where an exclusive one lives on the server."""
    at = now()
    await transaction.many(
        _INSERT,
        [
            (
                entry.id, entry.kind, entry.version, entry.server_id, entry.project_id, entry.user_id, entry.request_id,
                entry.cell, entry.exclusive, orjson.dumps(entry.input).decode(), entry.secret, True, False, 0, "", 0, at, at,
            )
            for entry in new
        ],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lease:
    """On whose name leases are taken, and for how long in microseconds."""

    holder: str
    microseconds: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which operations are taken: of these definitions (kind:version), in other cells than these, at most so many."""

    definitions: Sequence[str]
    full_cells: Sequence[str]
    most: int


async def take(transaction: Transaction, lease: Lease, wanted: Wanted) -> list[Operation]:
    """Take operations that nobody holds, oldest first; taking raises their tokens."""
    rows = await transaction.rows(
        _TAKE,
        {
            "holder": lease.holder,
            "lease": lease.microseconds,
            "definitions": list(wanted.definitions),
            "full": list(wanted.full_cells),
            "limit": wanted.most,
        },
    )
    if not rows:
        return []
    steps = await steps_of(transaction, [row[0] for row in rows])
    return sorted(
        (_operation_of(row, steps.get(row[0], {})) for row in rows),
        key=lambda operation: operation.id,
    )


def _operation_of(row: Any, steps: Mapping[str, Step]) -> Operation:
    operation_id, kind, version, server_id, project_id, user_id, request_id, cell, token, document, secret = row
    return Operation(
        operation_id,
        kind,
        version,
        server_id,
        project_id,
        user_id,
        request_id,
        cell,
        token,
        orjson.loads(document),
        secret,
        steps,
    )


async def steps_of(transaction: Transaction, operation_ids: Sequence[str]) -> Mapping[str, Mapping[str, Step]]:
    """What is on record of each operation's steps, by operation and key."""
    found: dict[str, dict[str, Step]] = {}
    for row in await transaction.rows(_STEPS, {"ids": list(operation_ids)}):
        outcome = None if row[4] is None else orjson.loads(row[4])
        found.setdefault(row[0], {})[row[1]] = Step(row[1], row[2], orjson.loads(row[3]), outcome, row[5])
    return found


async def renew(transaction: Transaction, lease: Lease, operation_ids: Sequence[str]) -> int:
    """Renew the leases of these operations that the holder still has; how many that are."""
    return await transaction.run(_RENEW, {"holder": lease.holder, "lease": lease.microseconds, "ids": sorted(operation_ids)})


async def let_go(transaction: Transaction, holder: str, operation_ids: Sequence[str]) -> None:
    """Give leases back before they run out."""
    await transaction.run(_LET_GO, {"holder": holder, "ids": list(operation_ids)})


async def park(transaction: Transaction, operation: Operation, cell: str) -> None:
    """Lay an operation aside for a cell that cannot be reached; one that is no longer held stays as it is."""
    await transaction.run(_PARK, {"operation": operation.id, "held": operation.token, "away": cell})


async def any_parked(transaction: Transaction) -> bool:
    """Whether some operation waits for a cell."""
    return await transaction.one(_PARKED) is not None


async def unpark(transaction: Transaction) -> int:
    """Let those go on whose cell has a host that is up again, or none left that may come back; how many."""
    return await transaction.run(_UNPARK)


async def void_leases(transaction: Transaction) -> None:
    """End every lease at once: only for who knows that no other conductor lives (the lock of a state directory)."""
    await transaction.run(_VOID)


async def lock_held(transaction: Transaction, held: Mapping[str, int]) -> set[str]:
    """Lock operations (id -> token) in id order; the ids that are still live and held with that token."""
    rows = await transaction.rows(_LOCK, {"ids": sorted(held)})
    return {row[0] for row in rows if held[row[0]] == row[1]}


async def record(transaction: Transaction, intents: Sequence[Intent], conclusions: Sequence[Conclusion]) -> None:
    """Write intents and outcomes of operations that are locked."""
    at = now()
    await transaction.many(
        _INTEND,
        [
            (entry.operation_id, entry.key, entry.position, orjson.dumps(entry.content).decode(), entry.host, entry.at or at)
            for entry in intents
        ],
    )
    await transaction.many(
        _CONCLUDE,
        [(entry.operation_id, entry.key, orjson.dumps(entry.content).decode(), entry.at) for entry in conclusions],
    )


async def finish(transaction: Transaction, ended: Sequence[tuple[str, str, str | None]]) -> None:
    """End operations (id, result, message) that are locked; their secrets are erased."""
    at = now()
    await transaction.many(
        _FINISH, [(operation_id, False, result, message, None, at, at) for operation_id, result, message in ended]
    )


async def live_of_servers(transaction: Transaction, server_ids: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Lock the live operations of servers; (id, kind) each, by server."""
    found: dict[str, list[tuple[str, str]]] = {}
    for server_id, operation_id, kind in await transaction.rows(_LIVE_OF_SERVERS, {"servers": list(server_ids)}):
        found.setdefault(server_id, []).append((operation_id, kind))
    return found


async def cancel(transaction: Transaction, reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """End locked operations (id -> reason) over their holders' heads; the hosts that their intents name, by operation."""
    if not reasons:
        return {}
    at = now()
    await transaction.many(
        _CANCEL, [(operation_id, False, ERROR, reason, None, at, at, 1) for operation_id, reason in reasons.items()]
    )
    touched: dict[str, list[str]] = {}
    for operation_id, host in await transaction.rows(_HOSTS_TOUCHED, {"ids": list(reasons)}):
        touched.setdefault(operation_id, []).append(host)
    return touched


async def live(transaction: Transaction) -> list[tuple[str, str, str]]:
    """Every live operation: id, server, kind."""
    return [(row[0], row[1], row[2]) for row in await transaction.rows(_LIVE)]
