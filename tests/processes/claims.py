"""Many claimers on the last slots of one host: three processes that write to one PostgreSQL at the same moment."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

import orjson

from kilonova.domain.clock import new_uuid
from kilonova.domain.ledger import ConsumerWrite, NewProvider
from kilonova.domain.resources import Inventory, Provider
from kilonova.operations.ledger import claim
from kilonova.storage.database import Database, Transaction
from kilonova.storage.ledger import allocations_of_provider, providers_by_id
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.provider_contents import edit_inventories
from kilonova.storage.provider_trees import create_provider

PROCESSES: Final = 3
CLAIMERS: Final = 16
SLOTS: Final = 5
TOTAL: Final = 64
SECONDS: Final = 30.0
ROOT: Final = Path(__file__).parents[2]


async def race(url: str, rounds: int, way: str) -> list[int]:
    """How many won in each round. Fails where the ledger does not say the same as the winners."""
    database = await PostgresqlDatabase.connect(url, connections=2, seconds=30)
    claimers = [await _claimer(url, way) for _ in range(PROCESSES)]
    try:
        for claimer in claimers:
            assert await _line(claimer) == b"ready\n"
        return [await _round(database, claimers) for _ in range(rounds)]
    finally:
        for claimer in claimers:
            if claimer.returncode is None:
                claimer.kill()
            await claimer.wait()
        await database.close()


async def _claimer(url: str, way: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.processes.claimer",
        url,
        way,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env=dict(os.environ),
    )


async def _line(claimer: asyncio.subprocess.Process) -> bytes:
    assert claimer.stdout is not None
    async with asyncio.timeout(SECONDS):
        return await claimer.stdout.readline()


async def _round(database: Database, claimers: list[asyncio.subprocess.Process]) -> int:
    """A new host of which only the last slots are free."""
    host = await database.transact(_make_host)
    await claim(database, [ConsumerWrite(new_uuid(), "p", "u", "INSTANCE", {host.id: {"VCPU": TOTAL - SLOTS}})])
    consumers = [new_uuid() for _ in range(CLAIMERS)]
    for number, claimer in enumerate(claimers):
        assert claimer.stdin is not None
        asked = {"provider": host.id, "consumers": consumers[number::PROCESSES]}
        claimer.stdin.write(orjson.dumps(asked, option=orjson.OPT_APPEND_NEWLINE))
    winners = {consumer for claimer in claimers for consumer in orjson.loads(await _line(claimer))}
    async with database.read() as transaction:
        after = (await providers_by_id(transaction, [host.id]))[host.id]
        holders = {holding.consumer.uuid for holding in await allocations_of_provider(transaction, host.id)}
    assert after.inventories["VCPU"].used == TOTAL
    assert winners == holders & set(consumers)
    return len(winners)


async def _make_host(transaction: Transaction) -> Provider:
    made = await create_provider(transaction, NewProvider(new_uuid(), f"host-{new_uuid()}", None, "cell1"))
    return await edit_inventories(transaction, made.id, 0, lambda _: {"VCPU": Inventory(TOTAL)})
