"""The claims of new consumers in one PostgreSQL statement: checked against the ledger and written, or nothing at all.

It knows the same rules as placement.claims and says only yes or no; who is told no asks again under locks, and is told why.
"""

from collections.abc import Mapping, Sequence
from math import gcd
from typing import Any, Final

from sqlalchemy import text

from kilonova.domain.clock import now
from kilonova.domain.ledger import ConsumerWrite
from kilonova.storage.changes import PROVIDER
from kilonova.storage.database import Database, Duplicate
from kilonova.storage.statement import Statement

# Locks are taken in the ledger's order: providers by id, then what hangs on them. `roomy` sees what was committed while
# `locked` waited, as a row that is locked is read anew and held against the conditions again (READ COMMITTED).
_CLAIM: Final = Statement(
    text(f"""
    WITH locked AS MATERIALIZED (
        SELECT id, partition FROM providers WHERE id = ANY(CAST(:ids AS bigint[])) ORDER BY id FOR NO KEY UPDATE
    ), roomy AS MATERIALIZED (
        SELECT i.provider_id, i.resource_class, v.more
        FROM unnest(CAST(:providers AS bigint[]), CAST(:classes AS text[]), CAST(:more AS bigint[]),
            CAST(:least AS bigint[]), CAST(:most AS bigint[]), CAST(:divisor AS bigint[]))
            AS v(provider_id, resource_class, more, least, most, divisor)
        JOIN locked ON locked.id = v.provider_id
        JOIN inventories i ON i.provider_id = v.provider_id AND i.resource_class = v.resource_class
        WHERE v.least >= i.min_unit AND v.most <= i.max_unit AND v.divisor % i.step_size = 0
            AND i.used + v.more <= trunc((i.total - i.reserved) * i.allocation_ratio)
        FOR NO KEY UPDATE OF i
    ), verdict AS MATERIALIZED (
        SELECT count(*) = CAST(:wanted AS bigint) AS fits FROM roomy
    ), used AS (
        UPDATE inventories i SET used = i.used + roomy.more FROM roomy, verdict
        WHERE verdict.fits AND i.provider_id = roomy.provider_id AND i.resource_class = roomy.resource_class
    ), raised AS (
        UPDATE providers p SET generation = p.generation + 1 FROM locked, verdict WHERE verdict.fits AND p.id = locked.id
    ), held AS (
        INSERT INTO allocations (consumer, provider_id, resource_class, partition, used)
        SELECT h.consumer, h.provider_id, h.resource_class, locked.partition, h.used
        FROM unnest(CAST(:holders AS text[]), CAST(:held_providers AS bigint[]), CAST(:held_classes AS text[]),
            CAST(:amounts AS bigint[])) AS h(consumer, provider_id, resource_class, used)
        JOIN locked ON locked.id = h.provider_id, verdict WHERE verdict.fits
    ), begun AS (
        INSERT INTO consumers (uuid, generation, project_id, user_id, consumer_type, created_at, updated_at)
        SELECT c.uuid, 1, c.project_id, c.user_id, c.consumer_type, CAST(:moment AS bigint), CAST(:moment AS bigint)
        FROM unnest(CAST(:uuids AS text[]), CAST(:projects AS text[]), CAST(:users AS text[]), CAST(:types AS text[]))
            AS c(uuid, project_id, user_id, consumer_type), verdict WHERE verdict.fits
    ), noted AS (
        INSERT INTO changes (kind, key) SELECT '{PROVIDER}', CAST(locked.id AS text) FROM locked, verdict WHERE verdict.fits
    )
    SELECT fits FROM verdict""")
)


def can_be_claimed(database: Database, writes: Sequence[ConsumerWrite]) -> bool:
    """Whether this is a way for them at all: on PostgreSQL, where every consumer is said to be new and asks for something."""
    return (
        database.dialect == "postgresql"
        and bool(writes)
        and all(write.expected_generation is None and write.allocations for write in writes)
    )


async def claim(database: Database, writes: Sequence[ConsumerWrite]) -> bool:
    """Give new consumers (see `can_be_claimed`) all that they ask for; False, with nothing written, where not all of it fits."""
    try:
        rows = await database.single(_CLAIM, _parameters(writes))
    except Duplicate:
        return False
    return bool(rows[0][0])


def _parameters(asked_for: Sequence[ConsumerWrite]) -> Mapping[str, Any]:
    # Two that make the same consumers at once wait for each other in one order.
    writes = sorted(asked_for, key=lambda write: write.consumer)
    held = [
        (write.consumer, provider_id, name, amount)
        for write in writes
        for provider_id, amounts in write.allocations.items()
        for name, amount in amounts.items()
    ]
    holders, providers, classes, amounts = zip(*held, strict=True)
    asked: dict[tuple[int, str], list[int]] = {}
    for _, provider_id, name, amount in held:
        asked.setdefault((provider_id, name), []).append(amount)
    return {
        "ids": sorted(set(providers)),
        "providers": [provider_id for provider_id, _ in asked],
        "classes": [name for _, name in asked],
        "more": [sum(many) for many in asked.values()],
        "least": [min(many) for many in asked.values()],
        "most": [max(many) for many in asked.values()],
        # All are multiples of a step where their greatest common divisor is.
        "divisor": [gcd(*many) for many in asked.values()],
        "wanted": len(asked),
        "holders": holders,
        "held_providers": providers,
        "held_classes": classes,
        "amounts": amounts,
        "uuids": [write.consumer for write in writes],
        "projects": [write.project_id for write in writes],
        "users": [write.user_id for write in writes],
        "types": [write.consumer_type for write in writes],
        "moment": now(),
    }
