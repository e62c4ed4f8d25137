"""Control processes as rows: what shows beside the hosts in the list of services."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, insert, select, update

from kilonova.storage.database import Row, Transaction
from kilonova.storage.statement import Statement
from kilonova.storage.tables import processes

_COLUMNS: Final[Sequence[str]] = (
    "id", "number", "binary", "host", "disabled", "disabled_reason", "seen_at", "created_at",
)  # fmt: skip
"""The order of ProcessRecord's fields."""

_SELECT: Final = select(*[processes.c[name] for name in _COLUMNS])
_ALL: Final = Statement(_SELECT.order_by(processes.c.number, processes.c.id))
_ONE: Final = Statement(_SELECT.where(processes.c.binary == bindparam("binary"), processes.c.host == bindparam("host")))
_INSERT: Final = Statement(insert(processes).values({name: bindparam(name) for name in _COLUMNS}))
_SEEN: Final = Statement(update(processes).where(processes.c.id == bindparam("key")).values(seen_at=bindparam("moment")))
_SET_DISABLED: Final = Statement(
    update(processes)
    .where(processes.c.id == bindparam("key"))
    .values(disabled=bindparam("off"), disabled_reason=bindparam("reason"))
)


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One control process, known by `binary` ("nova-conductor" …) and `host`. Times in microseconds."""

    id: str
    number: int
    binary: str
    host: str
    disabled: bool
    disabled_reason: str | None
    seen_at: int
    created_at: int


def _process_of(row: Row) -> ProcessRecord:
    return ProcessRecord(*row)


async def all_processes(tx: Transaction) -> list[ProcessRecord]:
    """Every control process that ever said that it lives, by number."""
    return [_process_of(row) for row in await tx.rows(_ALL)]


async def find_process(tx: Transaction, binary: str, host: str) -> ProcessRecord | None:
    """The process of this kind on this machine."""
    row = await tx.one(_ONE, {"binary": binary, "host": host})
    return None if row is None else _process_of(row)


async def insert_process(tx: Transaction, process: ProcessRecord) -> None:
    """Store a new process; its number should come from `hosts.next_number`. Raises storage.Duplicate."""
    await tx.run(_INSERT, {name: getattr(process, name) for name in _COLUMNS})


async def see_process(tx: Transaction, process_id: str, moment: int) -> None:
    """It gave a sign of life."""
    await tx.run(_SEEN, {"key": process_id, "moment": moment})


async def set_disabled(tx: Transaction, process_id: str, disabled: bool, reason: str | None) -> None:
    """Set its administrative status, which control processes show and do not obey."""
    await tx.run(_SET_DISABLED, {"key": process_id, "off": disabled, "reason": reason})
