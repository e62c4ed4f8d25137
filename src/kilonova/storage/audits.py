"""The questions of the audit, each a query over one snapshot; and the corrections that make both sides agree again."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import text

from kilonova.storage import changes
from kilonova.storage.database import Transaction
from kilonova.storage.statement import Statement

# The instances of a project as JSON documents keep them; summing them needs each database's own words.
_FLAVOR: Final = {
    "sqlite": "CAST(s.flavor ->> '{0}' AS INTEGER)",
    "postgresql": "CAST(CAST(s.flavor AS jsonb) ->> '{0}' AS bigint)",
}

_USED: Final = Statement(
    text("""
    SELECT i.provider_id, p.name, i.resource_class, i.used, CAST(coalesce(sum(a.used), 0) AS bigint) AS held
    FROM inventories i JOIN providers p ON p.id = i.provider_id
    LEFT JOIN allocations a ON a.provider_id = i.provider_id AND a.resource_class = i.resource_class
    GROUP BY i.provider_id, p.name, i.resource_class, i.used
    HAVING i.used <> coalesce(sum(a.used), 0)""")
)
_CLASSLESS: Final = Statement(
    text("""
    SELECT a.consumer, a.provider_id, a.resource_class FROM allocations a
    LEFT JOIN inventories i ON i.provider_id = a.provider_id AND i.resource_class = a.resource_class
    WHERE i.provider_id IS NULL""")
)
# A ledger without hosts of ours is served alone: its instances are another cloud's.
_OWNERLESS: Final = Statement(
    text("""
    SELECT c.uuid, s.id, coalesce(s.vm_state, '') FROM consumers c LEFT JOIN servers s ON s.id = c.uuid
    WHERE (s.id IS NOT NULL AND (s.deleted OR s.host IS NULL))
        OR (s.id IS NULL AND c.consumer_type = 'INSTANCE' AND EXISTS (SELECT 1 FROM hosts))""")
)
_UNCLAIMED: Final = Statement(
    text("""
    SELECT s.id, s.host FROM servers s WHERE NOT s.deleted AND s.host IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.consumer = s.id)""")
)
_STUCK: Final = Statement(
    text("""
    SELECT s.id, s.vm_state, s.task_state FROM servers s
    WHERE NOT s.deleted AND (s.task_state IS NOT NULL OR s.vm_state = 'building')
    AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.server_id = s.id AND o.live)""")
)
_BUSY: Final = Statement(text("SELECT DISTINCT server_id FROM operations WHERE live"))
_PORTS: Final = Statement(
    text("""
    SELECT n.id, n.device_id FROM ports n LEFT JOIN servers s ON s.id = n.device_id
    WHERE n.device_id <> '' AND (s.deleted OR s.host IS NULL)
    AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.server_id = s.id AND o.live)""")
)
_PLACED: Final = Statement(text("SELECT s.id, s.host, s.vm_state FROM servers s WHERE NOT s.deleted AND s.host IS NOT NULL"))
_SERVERS_EVER: Final = Statement(text("SELECT id FROM servers"))
_SET_USED: Final = Statement(
    text("""
    UPDATE inventories SET used = (SELECT coalesce(sum(a.used), 0) FROM allocations a
    WHERE a.provider_id = inventories.provider_id AND a.resource_class = inventories.resource_class)
    WHERE provider_id = :provider_id AND resource_class = :resource_class""")
)


def _quota(dialect: str) -> Statement:
    cores, ram = (_FLAVOR[dialect].format(name) for name in ("vcpus", "memory_mb"))
    return Statement(
        text(f"""
        SELECT coalesce(q.project_id, t.project_id), coalesce(q.instances, 0), coalesce(q.cores, 0), coalesce(q.ram, 0),
            coalesce(t.instances, 0), coalesce(t.cores, 0), coalesce(t.ram, 0)
        FROM quota_usages q FULL OUTER JOIN (
            SELECT s.project_id, count(*) AS instances, CAST(sum({cores}) AS bigint) AS cores, CAST(sum({ram}) AS bigint) AS ram
            FROM servers s WHERE NOT s.deleted GROUP BY s.project_id) t ON t.project_id = q.project_id
        WHERE coalesce(q.instances, 0) <> coalesce(t.instances, 0) OR coalesce(q.cores, 0) <> coalesce(t.cores, 0)
            OR coalesce(q.ram, 0) <> coalesce(t.ram, 0)""")
    )


_QUOTA: Final = {dialect: _quota(dialect) for dialect in _FLAVOR}
_SET_QUOTA: Final = Statement(
    text("""
    UPDATE quota_usages SET instances = CAST(:instances AS bigint), cores = CAST(:cores AS bigint), ram = CAST(:ram AS bigint)
    WHERE project_id = :project_id""")
)


async def wrong_uses(transaction: Transaction) -> Sequence[Any]:
    """Inventories whose `used` is not the sum of allocations: provider id, name, class, used, sum."""
    return await transaction.rows(_USED)


async def classless(transaction: Transaction) -> Sequence[Any]:
    """Allocations of something that the provider has no inventory of: consumer, provider id, class."""
    return await transaction.rows(_CLASSLESS)


async def ownerless(transaction: Transaction) -> Sequence[Any]:
    """Consumers that should hold nothing: consumer, server id or None, vm_state. Foreign consumers are not in it."""
    return await transaction.rows(_OWNERLESS)


async def unclaimed(transaction: Transaction) -> Sequence[Any]:
    """Placed servers that hold nothing: id, host."""
    return await transaction.rows(_UNCLAIMED)


async def stuck(transaction: Transaction) -> Sequence[Any]:
    """Servers in a transitional state that no operation works on: id, vm_state, task_state."""
    return await transaction.rows(_STUCK)


async def busy(transaction: Transaction) -> frozenset[str]:
    """Servers that an operation works on now."""
    return frozenset(row[0] for row in await transaction.rows(_BUSY))


async def wrong_quotas(transaction: Transaction) -> Sequence[Any]:
    """Projects whose counted use is not what their live servers make: project, three counted, three true."""
    return await transaction.rows(_QUOTA[transaction.dialect])


async def dead_ports(transaction: Transaction) -> Sequence[Any]:
    """Ports of the embedded network service that a deleted server or one without a host holds: port, server."""
    return await transaction.rows(_PORTS)


async def placed(transaction: Transaction) -> dict[str, tuple[str, str]]:
    """Host and vm_state of every placed server."""
    return {row[0]: (row[1], row[2]) for row in await transaction.rows(_PLACED)}


async def servers_ever(transaction: Transaction) -> frozenset[str]:
    """Every server that there is or was."""
    return frozenset(row[0] for row in await transaction.rows(_SERVERS_EVER))


async def recount_use(transaction: Transaction, provider_id: int, resource_class: str) -> None:
    """Set `used` to the sum of allocations."""
    await transaction.run(_SET_USED, {"provider_id": provider_id, "resource_class": resource_class})
    await changes.note(transaction, [("provider", str(provider_id))])


async def set_quota(transaction: Transaction, project_id: str, true: Sequence[int]) -> None:
    """Set a project's counted use to what its servers make: servers, VCPUs, MB."""
    values = dict(zip(("instances", "cores", "ram"), true, strict=True))
    await transaction.run(_SET_QUOTA, {"project_id": project_id, **values})
