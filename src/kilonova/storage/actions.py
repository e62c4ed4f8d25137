"""Operations and their steps as users read them: instance actions and their events. Nothing here writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, Integer, Text, bindparam, select, tuple_

from kilonova.domain.errors import BadRequest
from kilonova.domain.operation import ERROR
from kilonova.storage.database import Transaction
from kilonova.storage.statement import Statement, any_of
from kilonova.storage.tables import operation_steps, operations


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """One operation on a server. `result` is None while it runs; `message` is the sentence of a failure."""

    id: str
    kind: str
    server_id: str
    project_id: str
    user_id: str
    request_id: str
    result: str | None
    message: str | None
    started_at: int
    updated_at: int
    finished_at: int | None

    @property
    def failed(self) -> bool:
        """Whether it ended badly."""
        return self.result == ERROR


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step of an operation; `outcome` is None while it runs."""

    key: str
    outcome: Mapping[str, Any] | None
    host: str | None
    started_at: int
    finished_at: int | None


@dataclass(frozen=True, slots=True)
class ActionQuery:
    """Which actions of a server: changed in a span of time (microseconds, ends included), how many, after which request."""

    server_id: str
    changed_since: int | None = None
    changed_before: int | None = None
    limit: int = 1000
    marker: str | None = None


_COLUMNS: Final = [operations.c[name] for name in ActionRecord.__dataclass_fields__]
_ONE: Final = Statement(
    select(*_COLUMNS)
    .where(operations.c.server_id == bindparam("server"), operations.c.request_id == bindparam("request"))
    .order_by(operations.c.started_at.desc(), operations.c.id.desc())
    .limit(1)
)
_STEPS: Final = Statement(
    select(
        operation_steps.c.key,
        operation_steps.c.outcome,
        operation_steps.c.host,
        operation_steps.c.started_at,
        operation_steps.c.finished_at,
    )
    .where(any_of(operation_steps.c.operation_id, "ids"))
    .order_by(operation_steps.c.position, operation_steps.c.key)
)


@lru_cache(maxsize=8)
def _page(since: bool, before: bool, marked: bool) -> Statement:
    query = select(*_COLUMNS).where(operations.c.server_id == bindparam("server"))
    if since:
        query = query.where(operations.c.updated_at >= bindparam("since", type_=BigInteger()))
    if before:
        query = query.where(operations.c.updated_at <= bindparam("before", type_=BigInteger()))
    if marked:
        marker = tuple_(bindparam("at", type_=BigInteger()), bindparam("id", type_=Text()))
        query = query.where(tuple_(operations.c.started_at, operations.c.id) < marker)
    newest_first = query.order_by(operations.c.started_at.desc(), operations.c.id.desc())
    return Statement(newest_first.limit(bindparam("limit", type_=Integer())))


async def list_actions(transaction: Transaction, query: ActionQuery) -> list[ActionRecord]:
    """A page of a server's actions, newest first. Raises errors.BadRequest for a marker that is no request of the server."""
    values: dict[str, Any] = {"server": query.server_id, "limit": query.limit}
    if query.changed_since is not None:
        values["since"] = query.changed_since
    if query.changed_before is not None:
        values["before"] = query.changed_before
    if query.marker is not None:
        marker = await find_action(transaction, query.server_id, query.marker)
        if marker is None:
            raise BadRequest(f"marker [{query.marker}] not found")
        values.update({"at": marker.started_at, "id": marker.id})
    statement = _page(query.changed_since is not None, query.changed_before is not None, query.marker is not None)
    return [ActionRecord(*row) for row in await transaction.rows(statement, values)]


async def find_action(transaction: Transaction, server_id: str, request_id: str) -> ActionRecord | None:
    """The newest operation of a request on a server."""
    row = await transaction.one(_ONE, {"server": server_id, "request": request_id})
    return None if row is None else ActionRecord(*row)


async def steps_of(transaction: Transaction, operation_id: str) -> Sequence[StepRecord]:
    """The steps of an operation, in their order."""
    rows = await transaction.rows(_STEPS, {"ids": [operation_id]})
    return [StepRecord(row[0], None if row[1] is None else orjson.loads(row[1]), row[2], row[3], row[4]) for row in rows]
