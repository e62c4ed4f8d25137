"""The feed of changes: what a process must read again so that its picture of the ledger and the hosts is true.

On PostgreSQL a position is a transaction id below which everything had ended when it was taken: an order by sequence
numbers would lose what commits late. On SQLite there is one writer, so the number of a change is the order of commits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson
from sqlalchemy import text

from kilonova.domain.resources import Provider
from kilonova.storage.database import Row, Transaction
from kilonova.storage.ledger import COLUMNS, provider_of, providers_by_id
from kilonova.storage.statement import Dialect, Statement

PROVIDER: Final = "provider"


@dataclass(frozen=True, slots=True)
class Position:
    """How far a reader has read; `seen` are changes at or after `at` that it has already read (number to transaction id)."""

    epoch: str
    at: int
    seen: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed since a position, as it is now.

    `keys` are the changed things by kind ("host" by name, "aggregate" by id, …), providers included. With `rebuild`
    the position says too little and everything must be read anew.
    """

    position: Position
    rebuild: bool = False
    providers: tuple[Provider, ...] = ()
    removed: tuple[int, ...] = ()
    keys: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.rebuild or bool(self.keys)

    @property
    def hosts(self) -> frozenset[str]:
        """Names of the hosts that changed."""
        return self.keys.get("host", frozenset())

    @property
    def aggregates(self) -> frozenset[str]:
        """Ids of the host aggregates that changed."""
        return self.keys.get("aggregate", frozenset())


_STATE: Final = "(SELECT 1 AS one) o LEFT JOIN ledger_state s ON s.id = 1"
_NEXT: Final[Mapping[Dialect, str]] = {
    "sqlite": "coalesce((SELECT max(id) FROM changes), 0)",
    "postgresql": "pg_snapshot_xmin(pg_current_snapshot())::text::bigint",
}
_HERE: Final = {
    dialect: Statement(text(f"SELECT coalesce(s.epoch, ''), coalesce(s.floor, 0), {here} FROM {_STATE}"))
    for dialect, here in _NEXT.items()
}
_SQLITE_CHANGED: Final = Statement(text("SELECT DISTINCT kind, key FROM changes WHERE id > :at"))
_POSTGRESQL_CHANGED: Final = Statement(
    text(f"""
    SELECT coalesce(s.epoch, ''), coalesce(s.floor, 0), {_NEXT["postgresql"]}, c.kind, c.key, c.numbers,
        {COLUMNS["postgresql"]}
    FROM {_STATE}
    LEFT JOIN (
        SELECT kind, key, json_agg(json_build_array(id, xid::text::bigint)) AS numbers FROM changes
        WHERE xid >= CAST(CAST(:at AS text) AS xid8) AND NOT id = ANY(CAST(:seen AS bigint[])) GROUP BY kind, key
    ) c ON true
    LEFT JOIN providers p ON p.id = CASE WHEN c.kind = '{PROVIDER}' THEN CAST(c.key AS bigint) END""")
)
_CUT: Final[Mapping[Dialect, Statement]] = {
    "sqlite": Statement(text("SELECT id FROM changes ORDER BY id DESC LIMIT 1 OFFSET :keep")),
    "postgresql": Statement(text("SELECT xid::text::bigint FROM changes ORDER BY id DESC LIMIT 1 OFFSET :keep")),
}
_DROP: Final[Mapping[Dialect, Statement]] = {
    "sqlite": Statement(text("DELETE FROM changes WHERE id <= :cut")),
    "postgresql": Statement(text("DELETE FROM changes WHERE xid < CAST(CAST(:cut AS text) AS xid8)")),
}
_FLOOR: Final = Statement(
    text("""INSERT INTO ledger_state (id, epoch, floor) VALUES (1, '', CAST(:cut AS bigint)) ON CONFLICT (id)
    DO UPDATE SET floor = excluded.floor WHERE ledger_state.floor < excluded.floor""")
)
_EPOCH: Final = Statement(
    text("""INSERT INTO ledger_state (id, epoch, floor) VALUES (1, CAST(:epoch AS text), 0)
    ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch""")
)


async def current(transaction: Transaction) -> Position:
    """The position of this moment. Read everything after it, in the same snapshot or a later one."""
    epoch, _, at = await _row(transaction, _HERE[transaction.dialect])
    return Position(epoch, at)


async def changes_since(transaction: Transaction, position: Position) -> Changes:
    """What changed since `position`: one statement when nothing did (and always one on PostgreSQL)."""
    if transaction.dialect == "sqlite":
        return await _since_on_sqlite(transaction, position)
    rows = await transaction.rows(_POSTGRESQL_CHANGED, {"at": str(position.at), "seen": list(position.seen)})
    epoch, floor, at = rows[0][:3]
    if epoch != position.epoch or position.at < floor:
        return Changes(Position(epoch, at), rebuild=True)
    keys: dict[str, set[str]] = {}
    found: list[Provider] = []
    removed: list[int] = []
    seen = {number: xid for number, xid in position.seen.items() if xid >= at}
    for row in rows:
        kind, key, numbers = row[3:6]
        if kind is None:
            break
        keys.setdefault(kind, set()).add(key)
        seen.update((number, xid) for number, xid in orjson.loads(numbers) if xid >= at)
        if kind == PROVIDER:
            if row[6] is None:
                removed.append(int(key))
            else:
                found.append(provider_of(row, 6))
    return Changes(Position(epoch, at, seen), False, tuple(found), tuple(removed), _frozen(keys))


async def trim(transaction: Transaction, keep: int) -> None:
    """Forget old changes but (at least) the last `keep`; readers that stand before the new floor will rebuild.

    A change that commits later with a transaction id below the floor is missed by nobody: a reader that could miss it stands
    at or below that id, as its transaction was still open, and therefore rebuilds.
    """
    row = await transaction.one(_CUT[transaction.dialect], {"keep": max(keep, 1)})
    if row is not None:
        await transaction.run(_DROP[transaction.dialect], {"cut": _number(transaction, row[0])})
        await transaction.run(_FLOOR, {"cut": row[0]})


async def renew_epoch(transaction: Transaction, epoch: str) -> None:
    """Make every reader rebuild: the database is not the continuation of what they have read (restore, failover)."""
    await transaction.run(_EPOCH, {"epoch": epoch})


async def _since_on_sqlite(transaction: Transaction, position: Position) -> Changes:
    epoch, floor, at = await _row(transaction, _HERE["sqlite"])
    if epoch != position.epoch or position.at < floor:
        return Changes(Position(epoch, at), rebuild=True)
    if at <= position.at:
        return Changes(position)
    keys: dict[str, set[str]] = {}
    for kind, key in await transaction.rows(_SQLITE_CHANGED, {"at": position.at}):
        keys.setdefault(kind, set()).add(key)
    ids = [int(key) for key in keys.get(PROVIDER, ())]
    present = await providers_by_id(transaction, ids) if ids else {}
    removed = tuple(number for number in ids if number not in present)
    return Changes(Position(epoch, at), False, tuple(present.values()), removed, _frozen(keys))


async def _row(transaction: Transaction, statement: Statement) -> Row:
    found: Row = (await transaction.rows(statement))[0]
    return found


def _frozen(keys: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    return {kind: frozenset(found) for kind, found in keys.items()}


def _number(transaction: Transaction, cut: int) -> int | str:
    return cut if transaction.dialect == "sqlite" else str(cut)
