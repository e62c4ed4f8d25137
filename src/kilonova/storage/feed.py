"""The feed of changes: what a process must read again so that its picture of the ledger and the hosts is true.

On PostgreSQL a position is a snapshot: a change is news when its transaction had not ended in it. An order by sequence
numbers would lose what commits late. On SQLite there is one writer, so the number of a change is the order of commits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import text

from kilonova.domain.resources import Provider
from kilonova.storage.changes import PROVIDER
from kilonova.storage.database import Row, Transaction
from kilonova.storage.ledger import providers_by_id
from kilonova.storage.provider_reading import COLUMNS, provider_of
from kilonova.storage.statement import Dialect, Statement

_LAST_XID: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Position:
    """How far a reader has read.

    at: every change below this number has been read (on PostgreSQL a transaction id, on SQLite a change's own number).
    snapshot: on PostgreSQL what had ended, of that and of later transactions, as `pg_snapshot` writes it.
    """

    epoch: str
    at: int
    snapshot: str = ""


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
    "postgresql": "pg_current_snapshot()::text",
}
_HERE: Final = {
    dialect: Statement(text(f"SELECT coalesce(s.epoch, ''), coalesce(s.floor, 0), {here} FROM {_STATE}"))
    for dialect, here in _NEXT.items()
}
_SQLITE_CHANGED: Final = Statement(text("SELECT DISTINCT kind, key FROM changes WHERE id > :at"))
# The statement's snapshot is the one that it sees by: what it does not see as ended, the next reading will.
# Changes since the last reading are few, which the planner cannot know: with the last two conditions, which always hold, it
# believes it and keeps one plan. Without them it plans each reading anew, which takes longer than the reading. OFFSET 0
# keeps it from reading every provider for a join.
_POSTGRESQL_CHANGED: Final = Statement(
    text(f"""
    SELECT coalesce(s.epoch, ''), coalesce(s.floor, 0), {_NEXT["postgresql"]}, c.kind, c.key, p.*
    FROM {_STATE}
    LEFT JOIN (
        SELECT DISTINCT kind, key FROM changes WHERE xid >= CAST(CAST(:at AS text) AS xid8)
        AND NOT pg_visible_in_snapshot(xid, CAST(CAST(:snapshot AS text) AS pg_snapshot))
        AND xid < CAST('{_LAST_XID}' AS xid8) AND id - id = 0
    ) c ON true
    LEFT JOIN LATERAL (
        SELECT {COLUMNS["postgresql"]} FROM providers p
        WHERE p.id = CASE WHEN c.kind = '{PROVIDER}' THEN CAST(c.key AS bigint) END OFFSET 0
    ) p ON true""")
)
_CUT: Final[Mapping[Dialect, Statement]] = {
    "sqlite": Statement(text("SELECT id FROM changes ORDER BY id DESC LIMIT 1 OFFSET :keep")),
    "postgresql": Statement(
        text("""SELECT least(xid::text::bigint, pg_snapshot_xmin(pg_current_snapshot())::text::bigint)
        FROM changes ORDER BY id DESC LIMIT 1 OFFSET :keep""")
    ),
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
    epoch, _, here = await _row(transaction, _HERE[transaction.dialect])
    return _position(epoch, here)


async def changes_since(transaction: Transaction, position: Position) -> Changes:
    """What changed since `position`: one statement when nothing did (and always one on PostgreSQL)."""
    if transaction.dialect == "sqlite":
        return await _since_on_sqlite(transaction, position)
    rows = await transaction.rows(_POSTGRESQL_CHANGED, {"at": str(position.at), "snapshot": position.snapshot})
    epoch, floor, here = rows[0][:3]
    now = _position(epoch, here)
    if epoch != position.epoch or position.at < floor:
        return Changes(now, rebuild=True)
    keys: dict[str, set[str]] = {}
    found: list[Provider] = []
    removed: list[int] = []
    for row in rows:
        kind, key = row[3:5]
        if kind is None:
            break
        keys.setdefault(kind, set()).add(key)
        if kind == PROVIDER:
            if row[5] is None:
                removed.append(int(key))
            else:
                found.append(provider_of(row, 5))
    return Changes(now, False, tuple(found), tuple(removed), _frozen(keys))


async def trim(transaction: Transaction, keep: int) -> None:
    """Forget old changes but (at least) the last `keep`; readers that stand before the new floor will rebuild.

    On PostgreSQL the floor stays below every transaction that has not ended: one that lasts holds all readers' positions
    back, and a floor above it would make each of them rebuild at every reading.
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


def _position(epoch: str, here: str | int) -> Position:
    if isinstance(here, int):
        return Position(epoch, here)
    # A snapshot begins with the oldest transaction that has not ended.
    return Position(epoch, int(here.partition(":")[0]), here)


async def _row(transaction: Transaction, statement: Statement) -> Row:
    found: Row = (await transaction.rows(statement))[0]
    return found


def _frozen(keys: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    return {kind: frozenset(found) for kind, found in keys.items()}


def _number(transaction: Transaction, cut: int) -> int | str:
    return cut if transaction.dialect == "sqlite" else str(cut)
