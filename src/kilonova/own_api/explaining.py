"""Why a server is where it is, or nowhere: every decision on record, oldest first, in words and as data."""

from typing import Any

from kilonova.domain.errors import NotFound
from kilonova.scheduling.explain import details, from_json, message
from kilonova.storage import decisions, servers
from kilonova.storage.database import Transaction


async def explanation_of(transaction: Transaction, server_id: str) -> dict[str, Any]:
    """All that is known, with host names: for administrators. Raises errors.NotFound."""
    server = await servers.find(transaction, server_id)
    if server is None:
        raise NotFound(f"Instance {server_id} could not be found.")
    found = await decisions.of_server(transaction, server.id)
    return {
        "server": server.id,
        "name": server.name,
        "cell": server.cell,
        "host": server.host,
        "fault": server.fault,
        "decisions": [_decision(entry) for entry in found],
    }


def _decision(entry: decisions.Decision) -> dict[str, Any]:
    explanation = from_json(entry.explanation)
    return {
        "operation": entry.operation,
        "request_id": entry.request_id,
        "at": entry.at,
        "host": entry.host,
        "message": "" if entry.host else message(explanation, amounts=True),
        "details": details(explanation),
        "data": entry.explanation,
    }
