"""The scheduler's decisions as they stand in the outcomes of claim steps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, select

from kilonova.storage.database import Transaction
from kilonova.storage.statement import Statement
from kilonova.storage.tables import operation_steps, operations

_CLAIMS: Final = Statement(
    select(operations.c.kind, operations.c.request_id, operation_steps.c.finished_at, operation_steps.c.outcome)
    .join(operation_steps, operation_steps.c.operation_id == operations.c.id)
    .where(
        operations.c.server_id == bindparam("server"),
        operation_steps.c.key.like("claim[%"),
        operation_steps.c.outcome.is_not(None),
    )
    .order_by(operations.c.id, operation_steps.c.position)
)


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision: for which operation, when (microseconds), the host ("" for none), and why."""

    operation: str
    request_id: str
    at: int
    host: str
    explanation: Mapping[str, Any]


async def of_server(transaction: Transaction, server_id: str) -> list[Decision]:
    """All decisions on a server, oldest first."""
    found = []
    for kind, request_id, at, outcome in await transaction.rows(_CLAIMS, {"server": server_id}):
        content = orjson.loads(outcome)
        if "explanation" in content:
            found.append(Decision(kind, request_id, at, content.get("host", ""), content["explanation"]))
    return found
