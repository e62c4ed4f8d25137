"""Operations whose whole cell is away: they wait aside without a slot, and end when the cell is back or given up."""

from dataclasses import replace

import pytest
from sqlalchemy import text

from kilonova.storage import hosts, servers
from kilonova.storage.database import Transaction
from kilonova.storage.statement import Statement

from .cloud import SETTINGS, Cloud, turns
from .test_create import NewCloud

PARKED = Statement(text("SELECT cell FROM operations WHERE live AND parked"))


async def _cut_off(new_cloud: NewCloud) -> tuple[Cloud, str]:
    """A cloud with one server, all of whose hosts went down."""
    cloud = await new_cloud(replace(SETTINGS, conductor=replace(SETTINGS.conductor, host_down_seconds=1.0)))
    server = await cloud.create(network=cloud.ground.roomy_network)
    await cloud.ended(server)
    for host in cloud.hosts.values():
        await host.crash()
    (conductor,) = cloud.conductors
    async for _ in turns("the hosts are still taken to be up"):
        if not any(row.is_up for row in conductor.ground.cloud.topology.hosts.values()):
            break
    return cloud, server


async def _is_parked(cloud: Cloud) -> None:
    async for _ in turns("nothing was parked"):
        async with cloud.database.read() as transaction:
            found = await transaction.rows(PARKED)
        if found:
            assert [row[0] for row in found] == ["cell1"]
            break
    async for _ in turns("a parked operation holds a slot"):
        if not cloud.conductors[0].engine.running:
            break


async def _reaches(cloud: Cloud, server_id: str, vm_state: str) -> None:
    """Wait by the database alone: a host that is asked in between may have lost the guest since."""
    async for _ in turns(f"the server does not become {vm_state}"):
        async with cloud.database.read() as transaction:
            server = await servers.find(transaction, server_id)
        if server is not None and (server.vm_state, server.task_state) == (vm_state, None):
            break


@pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.parametrize(("kind", "end"), [("delete", "deleted"), ("stop", "stopped")])
async def test_it_waits_for_its_cell_and_then_ends(new_cloud: NewCloud, kind: str, end: str) -> None:
    cloud, server = await _cut_off(new_cloud)
    await cloud.act(kind, server)
    await _is_parked(cloud)
    for host in cloud.hosts.values():
        await host.start()
    await _reaches(cloud, server, end)
    await cloud.is_clean()


async def test_a_delete_takes_over_what_is_parked_and_ends_when_the_hosts_are_declared_down(new_cloud: NewCloud) -> None:
    cloud, server = await _cut_off(new_cloud)
    await cloud.act("stop", server)
    await _is_parked(cloud)
    await cloud.act("delete", server)

    async def declare(transaction: Transaction) -> None:
        for name in cloud.hosts:
            host = await hosts.lock_host(transaction, name)
            await hosts.update_host(transaction, replace(host, forced_down=True))

    await cloud.database.transact(declare)
    await _reaches(cloud, server, "deleted")
    async with cloud.database.read() as transaction:
        assert not await transaction.rows(PARKED)
    facts = await cloud.facts(server)
    assert (facts.allocations, facts.ports) == ({}, frozenset())
