"""Cells as the watchers of hosts need them: who watches, and the transitions that a watcher writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, false, or_, select, true, update

from kilonova.domain.clock import now
from kilonova.storage import changes
from kilonova.storage.database import Transaction
from kilonova.storage.statement import BulkInsert, Statement, any_of, now_us
from kilonova.storage.tables import cells, hosts

_KNOWN: Final = Statement(select(hosts.c.cell).distinct())
_ADD: Final = BulkInsert(cells, ("name", "disabled", "watcher", "watched_until"), "nothing")
_TAKE: Final = Statement(
    update(cells)
    .where(or_(cells.c.watcher == bindparam("holder"), cells.c.watched_until < now_us()))
    .values(watcher=bindparam("holder"), watched_until=now_us() + bindparam("lease"))
    .returning(cells.c.name)
)
_HOSTS: Final = Statement(select(hosts.c.name, hosts.c.cell, hosts.c.alive).where(any_of(hosts.c.cell, "cells")))
_SET: Final = {
    alive: Statement(
        update(hosts)
        .where(any_of(hosts.c.name, "names"))
        .values(
            alive=true() if alive else false(), updated_at=bindparam("at"), seen_at=bindparam("at") if alive else hosts.c.seen_at
        )
    )
    for alive in (True, False)
}


@dataclass(frozen=True, slots=True)
class Watched:
    """A host as its watcher sees it."""

    name: str
    cell: str
    alive: bool


async def take_cells(transaction: Transaction, watcher: str, lease: int) -> list[str]:
    """Take or keep the lease (microseconds) of every cell that nobody else watches; those held now."""
    known = [row[0] for row in await transaction.rows(_KNOWN)]
    await transaction.many(_ADD, [(cell, False, "", 0) for cell in known])
    return [row[0] for row in await transaction.rows(_TAKE, {"holder": watcher, "lease": lease})]


async def hosts_of(transaction: Transaction, cell_names: Sequence[str]) -> list[Watched]:
    """The hosts of these cells."""
    return [Watched(*row) for row in await transaction.rows(_HOSTS, {"cells": list(cell_names)})]


async def set_alive(transaction: Transaction, up: Sequence[str], down: Sequence[str]) -> None:
    """Write which hosts came up and which went down."""
    for alive, names in ((True, up), (False, down)):
        if names:
            await transaction.run(_SET[alive], {"names": list(names), "at": now()})
    await changes.note(transaction, [("host", name) for name in (*up, *down)])
