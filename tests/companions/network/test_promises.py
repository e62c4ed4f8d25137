"""Whatever servers come and go: no address twice, and nothing left when all are gone."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from kilonova.companions.network.contract import Binding
from kilonova.companions.network.embedded import EmbeddedNetwork
from kilonova.companions.network.ports import PortWish, make_port
from kilonova.domain.clock import now
from kilonova.domain.errors import Conflict
from kilonova.domain.network import AskedNetwork
from kilonova.storage.database import Database, Transaction
from kilonova.storage.migrate import upgrade
from kilonova.storage.networks import NETWORKS, SUBNETS, Record
from kilonova.storage.ports import PORTS
from kilonova.storage.sqlite import SqliteDatabase
from kilonova.storage.statement import Statement

NET, SUBNET, PROJECT = "net", "subnet", "p" * 32
ADDRESSES = Statement(text("SELECT address, port_id FROM port_addresses"))

# A server comes (again), goes, or its user's port does.
steps = st.lists(st.tuples(st.sampled_from(["bind", "release"]), st.integers(0, 5), st.integers(1, 3)), max_size=30)


async def _small_network(database: Database) -> tuple[Record, Record]:
    moment = now()
    fields = {"shared": False, "router:external": False, "port_security_enabled": True, "revision_number": 1}
    network = Record(NET, PROJECT, "small", fields, moment, moment)
    pools = [{"start": "10.0.0.2", "end": "10.0.0.4"}, {"start": "10.0.0.8", "end": "10.0.0.12"}]
    block = {"network_id": NET, "ip_version": 4, "cidr": "10.0.0.0/28", "ipv6_address_mode": None, "revision_number": 1}
    subnet = Record(SUBNET, PROJECT, "", {**block, "allocation_pools": pools}, moment, moment)

    async def work(transaction: Transaction) -> None:
        await NETWORKS.insert(transaction, network)
        await SUBNETS.insert(transaction, subnet)

    await database.transact(work)
    return network, subnet


async def _live(plan: list[tuple[str, int, int]]) -> None:
    database = SqliteDatabase(":memory:")
    await upgrade(database)
    network, subnet = await _small_network(database)
    service = EmbeddedNetwork(database)
    own = PortWish("00000000-0000-4000-8000-000000000001", PROJECT, network)
    await database.transact(lambda transaction: make_port(transaction, own, [subnet]))
    bound: dict[int, int] = {}
    for step, server, cards in plan:
        if step == "release":
            await service.release(f"server-{server}")
            bound.pop(server, None)
            continue
        asked = [AskedNetwork(NET)] * cards
        if server == 0:
            asked.append(AskedNetwork(port_id=own.id))
        try:
            made = await service.bind(Binding(f"server-{server}", PROJECT, "vm", "host", "", asked, ()))
            assert len(made) == len(asked)
            bound[server] = max(bound.get(server, 0), cards)
        except Conflict:
            assert sum(bound.values()) - bound.get(server, 0) + cards > 7
        async with database.read() as transaction:
            rows = await transaction.rows(ADDRESSES)
            assert len({row[0] for row in rows}) == len(rows) == sum(bound.values()) + 1
    for server in range(6):
        await service.release(f"server-{server}")
    async with database.read() as transaction:
        assert [row[1] for row in await transaction.rows(ADDRESSES)] == [own.id]
        (left,) = await PORTS.select(transaction, {"network_id": [NET]})
        assert left.fields["device_id"] == ""
    await database.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_no_address_is_given_twice_and_all_come_back(plan: list[tuple[str, int, int]]) -> None:
    asyncio.run(_live(plan))
