"""A takeover of the community's placement database: all that is there is here afterwards, or nothing and the reasons."""

import asyncio
from pathlib import Path

import pytest

from kilonova import assembly
from kilonova.domain.errors import BadRequest, Unavailable
from kilonova.domain.ledger import Consumer, NewProvider
from kilonova.domain.resources import Inventory
from kilonova.operations.ledger_index import LedgerIndex
from kilonova.reconcilers.audit import audit
from kilonova.storage import ledger, ledger_names
from kilonova.storage.database import Database
from kilonova.storage.provider_trees import create_provider
from kilonova.storage.takeover.checks import CannotTakeOver
from kilonova.storage.takeover.source import Unreadable
from kilonova.storage.takeover.writing import NotEmpty

from .upstream import (
    DEVICE,
    GROUP,
    HOST,
    MOVING,
    NUMA,
    SERVER,
    SMALL_CLOUD,
    STORAGE,
    fill_sqlite,
    on_postgresql,
    on_sqlite,
    uuid,
)


@pytest.fixture(params=["from_sqlite", "from_postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A small cloud's placement database of each kind."""
    if request.param == "from_sqlite":
        return on_sqlite(tmp_path, *SMALL_CLOUD)
    return asyncio.run(on_postgresql(request.getfixturevalue("postgresql_server"), *SMALL_CLOUD))


async def test_providers_come_with_trees_inventories_traits_and_aggregates(database: Database, address: str):
    await assembly.take_over(database, address)

    async with database.read() as transaction:
        found = await ledger.providers_by_uuid(transaction, [HOST, NUMA, DEVICE, STORAGE])
    host, numa, device, storage = (found[name] for name in (HOST, NUMA, DEVICE, STORAGE))
    assert [entry.name for entry in (host, numa, device, storage)] == ["host", "numa", "device", "störage"]
    assert [entry.generation for entry in (host, numa, device, storage)] == [5, 2, 1, 3]
    assert [entry.parent_id for entry in (host, numa, device, storage)] == [None, host.id, numa.id, None]
    assert [entry.root_id for entry in (host, numa, device, storage)] == [host.id, host.id, host.id, storage.id]
    assert host.inventories == {"VCPU": Inventory(32, 2, 1, 16, 1, 16.0, used=6)}
    assert numa.inventories == {"VCPU": Inventory(8, 0, 2, 8, 2, 1.5, used=0)}
    assert device.inventories == {"CUSTOM_GOLD": Inventory(4, 0, 1, 4, 1, 1.0, used=1)}
    assert storage.inventories == {"DISK_GB": Inventory(2000, 100, 1, 2000, 10, 1.0, used=50)}
    assert (host.traits, device.traits, storage.traits) == ({"HW_CPU_X86_AVX2", "CUSTOM_FAST"}, {"CUSTOM_FAST"}, set())
    assert (host.aggregates, numa.aggregates, storage.aggregates) == ({GROUP}, set(), {GROUP})


async def test_consumers_come_with_what_they_hold(database: Database, address: str):
    taken = await assembly.take_over(database, address)

    async with database.read() as transaction:
        consumers = await ledger.consumers_by_uuid(transaction, [SERVER, MOVING, uuid(22)])
        held = await ledger.allocations_of_consumers(transaction, [SERVER, MOVING])
        ids = {name: entry.id for name, entry in (await ledger.providers_by_uuid(transaction, [HOST, DEVICE, STORAGE])).items()}
        usages = await ledger.usages_of_project(transaction, "demo", "anna")
    assert consumers == {SERVER: Consumer(SERVER, 3, "demo", "anna", "INSTANCE"), MOVING: Consumer(MOVING, 1, "demo", "anna", "")}
    assert held[SERVER] == {ids[HOST]: {"VCPU": 4}, ids[DEVICE]: {"CUSTOM_GOLD": 1}, ids[STORAGE]: {"DISK_GB": 20}}
    assert held[MOVING] == {ids[HOST]: {"VCPU": 2}, ids[STORAGE]: {"DISK_GB": 30}}
    assert usages[""].amounts == {"VCPU": 2, "DISK_GB": 30}
    assert taken.remarks == ["consumers that hold nothing, which are left out: 1"]


async def test_the_audit_finds_nothing_wrong_with_it(database: Database, address: str):
    await assembly.take_over(database, address)

    assert await audit(database, None) == []


async def test_only_custom_names_become_rows_and_they_keep_their_time(database: Database, address: str):
    await assembly.take_over(database, address)

    async with database.read() as transaction:
        traits = await ledger_names.TRAITS.all(transaction)
        classes = await ledger_names.CLASSES.all(transaction)
    assert set(traits) == {"CUSTOM_FAST", "CUSTOM_NEVER"}
    assert traits["CUSTOM_FAST"] == 1714979289_000_000
    assert classes == {"CUSTOM_GOLD": 1714979289_000_000}


async def test_a_process_that_runs_reads_the_new_ledger_and_makes_providers_after_it(database: Database, address: str):
    index = LedgerIndex(database)
    assert len(await index.fresh()) == 0

    await assembly.take_over(database, address)

    assert len(await index.fresh()) == 4
    await database.transact(lambda transaction: create_provider(transaction, NewProvider(uuid(99), "later")))
    assert len(await index.fresh()) == 5


async def test_a_ledger_with_something_in_it_stays_as_it_is(database: Database, address: str):
    await database.transact(lambda transaction: create_provider(transaction, NewProvider(uuid(99), "ours")))

    with pytest.raises(NotEmpty):
        await assembly.take_over(database, address)

    async with database.read() as transaction:
        assert [entry.name for entry in await ledger.providers_after(transaction, 0, 10)] == ["ours"]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("UPDATE resource_providers SET parent_provider_id = 99 WHERE id = 12", "providers whose parent does not exist: 1"),
        ("UPDATE resource_providers SET parent_provider_id = 13 WHERE id = 11", "providers that are above themselves: 3"),
        ("UPDATE resource_providers SET name = NULL WHERE id = 11", f"providers without a name: 1 ({HOST})"),
        ("UPDATE resource_providers SET name = 'a' || char(0) WHERE id = 11", f"NUL character in their name: 1 ({HOST})"),
        (
            "UPDATE resource_providers SET generation = 'new' WHERE id = 11",
            f"providers whose generation is no number: 1 ({HOST})",
        ),
        ("UPDATE consumers SET generation = 'new' WHERE generation = 3", "consumers whose generation is no number: 1"),
        ("UPDATE inventories SET total = 'many' WHERE resource_provider_id = 11", "inventories with amounts"),
        ("UPDATE allocations SET used = 'some' WHERE id = 1", "allocations of nothing: 1"),
        ("UPDATE resource_providers SET uuid = 'host' WHERE id = 11", "providers whose uuid is none: 1 (host)"),
        ("DELETE FROM inventories WHERE resource_provider_id = 14", "allocations without an inventory: 2"),
        ("UPDATE inventories SET step_size = 0 WHERE resource_provider_id = 11", "inventories with amounts"),
        ("UPDATE inventories SET resource_class_id = 9 WHERE resource_provider_id = 12", "classes that do not exist"),
        ("UPDATE inventories SET resource_provider_id = 99 WHERE resource_provider_id = 12", "inventories of providers"),
        ("DELETE FROM consumers WHERE generation = 3", f"allocations whose consumer does not exist: 1 (consumer {SERVER})"),
        ("DELETE FROM projects", "consumers without a project: 2"),
        ("DELETE FROM users", "consumers without a user: 2"),
        ("DELETE FROM consumer_types", "consumers of a type that does not exist: 1"),
        ("UPDATE allocations SET used = 0 WHERE id = 1", "allocations of nothing: 1"),
        ("UPDATE allocations SET resource_provider_id = 99 WHERE id = 1", "allocations of providers that do not exist"),
        ("UPDATE allocations SET resource_class_id = 9 WHERE id = 1", "allocations of resource classes that do not exist"),
        (f"INSERT INTO allocations VALUES (9, '{SERVER}', 11, 1, 4)", "allocations that stand there twice: 1"),
        ("DELETE FROM traits WHERE id = 2", "providers whose trait does not exist: 2"),
        ("DELETE FROM placement_aggregates", "providers whose aggregate does not exist: 2"),
    ],
)
async def test_what_cannot_be_taken_over_is_said_and_nothing_is_written(sqlite: Database, tmp_path: Path, damage: str, told: str):
    address = on_sqlite(tmp_path, *SMALL_CLOUD, damage)

    with pytest.raises(CannotTakeOver) as refused:
        await assembly.take_over(sqlite, address)

    assert told in str(refused.value)
    async with sqlite.read() as transaction:
        assert await ledger.providers_after(transaction, 0, 10) == []
        assert await ledger_names.TRAITS.all(transaction) == {}


async def test_all_faults_are_told_at_once(sqlite: Database, tmp_path: Path):
    address = on_sqlite(tmp_path, *SMALL_CLOUD, "DELETE FROM users", "UPDATE allocations SET used = 0 WHERE id < 9")

    with pytest.raises(CannotTakeOver) as refused:
        await assembly.take_over(sqlite, address)

    assert str(refused.value).count("\n") == 2


async def test_uuids_in_another_form_and_wrong_roots_are_set_right_and_remarked(sqlite: Database, tmp_path: Path):
    address = on_sqlite(
        tmp_path,
        *SMALL_CLOUD,
        f"UPDATE resource_providers SET uuid = '{HOST.replace('-', '')}' WHERE id = 11",
        "UPDATE resource_providers SET root_provider_id = NULL WHERE id = 13",
    )

    taken = await assembly.take_over(sqlite, address)

    assert {node.uuid: node.root for node in taken.nodes} == {HOST: HOST, NUMA: HOST, DEVICE: HOST, STORAGE: STORAGE}
    assert [remark.partition(": ")[2] for remark in taken.remarks] == ["1", "1", "1"]


async def test_a_time_that_is_none_is_replaced_and_remarked(sqlite: Database, tmp_path: Path):
    address = on_sqlite(tmp_path, *SMALL_CLOUD, "UPDATE resource_providers SET created_at = '0000-00-00 00:00:00' WHERE id = 11")

    taken = await assembly.take_over(sqlite, address)

    assert [remark.partition(",")[0] for remark in taken.remarks] == ["consumers that hold nothing", "times that are none"]
    assert next(node for node in taken.nodes if node.uuid == HOST).created_at > 1714979289_000_000


async def test_what_is_no_placement_database_is_said(sqlite: Database, tmp_path: Path):
    address = on_sqlite(tmp_path, *SMALL_CLOUD, "DROP TABLE consumer_types")

    with pytest.raises(Unreadable, match="consumer_types"):
        await assembly.take_over(sqlite, address)


@pytest.mark.parametrize(
    "address", ["nonsense", "oracle://host/placement", "", "mysql+pymysql://host/placement?ssl_mode=REQUIRED"]
)
async def test_an_address_of_another_kind_is_refused(sqlite: Database, address: str):
    with pytest.raises(BadRequest):
        await assembly.take_over(sqlite, address)


@pytest.mark.parametrize(
    "address",
    [
        "sqlite:////nowhere/at/all",
        "postgresql://nobody@127.0.0.1:1/none",
        "mysql+pymysql://nobody@127.0.0.1:1/none",
        "mysql+pymysql://nobody@host/none?charset=utf8&ssl_ca=/nowhere/at/all",
    ],
)
async def test_a_database_that_cannot_be_opened_is_unavailable(sqlite: Database, address: str):
    with pytest.raises(Unavailable, match="cannot be opened"):
        await assembly.take_over(sqlite, address)


async def test_more_rows_than_one_statement_takes_arrive_whole(database: Database, tmp_path: Path):
    hosts, servers = 3000, 6000
    address = on_sqlite(tmp_path, *SMALL_CLOUD)
    rows = {
        "resource_providers": [(n, uuid(1000 + n), f"host-{n}", 0, None, n, None, None) for n in range(100, 100 + hosts)],
        "inventories": [(n, 1, 64, 0, 1, 64, 1, 1.0) for n in range(100, 100 + hosts)]
        + [(n, 2, 1000, 0, 1, 1000, 1, 1.0) for n in range(100, 100 + hosts)],
        "consumers": [(uuid(100_000 + n), 1, 7, 8, 1, None, None) for n in range(servers)],
        "allocations": [(1000 + n, uuid(100_000 + n), 100 + n % hosts, 1, 3) for n in range(servers)],
    }
    await fill_sqlite(address, rows)

    taken = await assembly.take_over(database, address)

    assert (len(taken.nodes), len(taken.holders)) == (hosts + 4, servers + 2)
    async with database.read() as transaction:
        found = await ledger.providers_after(transaction, 0, hosts + 10)
        assert len(found) == hosts + 4
        assert {entry.inventories["VCPU"].used for entry in found if entry.name.startswith("host-")} == {6}
