"""Wide trees: hosts with many equal devices, of which a query takes several. CPU of a request, the longest time that it keeps
others from being served, and the memory that it needs. All in this process, without sockets.
"""

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from kilonova.cli.serving import settle_memory
from kilonova.companions.identity.noauth import NoAuthIdentity
from kilonova.domain.clock import new_uuid
from kilonova.operations.ledger_index import LedgerIndex
from kilonova.placement_api.face import Mounting, placement_face
from kilonova.placement_api.parts import PlacementParts
from kilonova.storage import migrate
from kilonova.storage.sqlite import SqliteDatabase

HEADERS = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
DEVICE = "CUSTOM_DEVICE"
LIMIT = 1000
MOST_WITHOUT_LIMIT = 4
"""Groups up to which all ways of ten hosts are asked for, too: with five they are more than an answer has."""


@dataclass(frozen=True, slots=True)
class Shape:
    """So many hosts with so many equal devices, of which each of so many groups takes one."""

    hosts: int
    devices: int
    groups: int
    limit: int | None = LIMIT

    @property
    def path(self) -> str:
        """The question."""
        groups = "&".join(f"resources{number}={DEVICE}:1" for number in range(1, self.groups + 1))
        return f"/allocation_candidates?{groups}&group_policy=isolate" + (f"&limit={self.limit}" if self.limit else "")


@dataclass(frozen=True, slots=True)
class Figures:
    """What one question cost: seconds of CPU, the longest hold of the loop in seconds of CPU, candidates, bytes of the answer."""

    cpu: float
    hold: float
    candidates: int
    size: int


async def measured(client: httpx.AsyncClient, path: str) -> Figures:
    """Ask once to warm up, once for the CPU and once for the hold."""
    warm = await client.get(path)
    begun = time.process_time()
    answer = await client.get(path)
    spent = time.process_time() - begun
    hold = await longest_hold(client.get(path))
    if answer.status_code != 200 or answer.content != warm.content:
        raise SystemExit(f"{path}: {answer.status_code}, or not the same answer twice")
    return Figures(spent, hold, len(answer.json()["allocation_requests"]), len(answer.content))


async def longest_hold(work: Awaitable[Any]) -> float:
    """The most CPU, in seconds, that passes while something is done before another task has its turn."""
    longest, last = 0.0, time.thread_time()

    async def tick() -> None:
        nonlocal longest, last
        while True:
            moment = time.thread_time()
            longest, last = max(longest, moment - last), moment
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await work
    # So that what came last is counted, too.
    await asyncio.sleep(0)
    ticking.cancel()
    return longest


async def made(client: httpx.AsyncClient, method: str, path: str, body: object = None) -> None:
    """One request that must succeed."""
    answer = await client.request(method, path, json=body)
    if answer.status_code >= 400:
        raise SystemExit(f"{method} {path}: {answer.status_code} {answer.text}")


async def provider(client: httpx.AsyncClient, parent: str | None, resource_class: str) -> str:
    """A provider with ten of a class, a device with one."""
    uuid = new_uuid()
    body = {"uuid": uuid, "name": uuid, "parent_provider_uuid": parent}
    await made(client, "POST", "/resource_providers", body)
    inventory = {resource_class: {"total": 1 if parent else 10}}
    await made(
        client,
        "PUT",
        f"/resource_providers/{uuid}/inventories",
        {"resource_provider_generation": 0, "inventories": inventory},
    )
    return uuid


async def one(shape: Shape) -> Figures:
    """Make the hosts in a ledger of their own and ask."""
    with tempfile.TemporaryDirectory() as directory:
        database = SqliteDatabase(Path(directory) / "ledger.sqlite")
        await migrate.upgrade(database)
        face = placement_face(PlacementParts(database, LedgerIndex(database)), NoAuthIdentity(), Mounting(""))
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(face), base_url="http://bench", headers=HEADERS, timeout=60
        ) as client:
            await made(client, "PUT", f"/resource_classes/{DEVICE}")
            for _ in range(shape.hosts):
                root = await provider(client, None, "VCPU")
                for _ in range(shape.devices):
                    await provider(client, root, DEVICE)
            figures = await measured(client, shape.path)
        await database.close()
        return figures


def shapes() -> Sequence[Shape]:
    """Ten hosts with eight devices, then one host with ever more."""
    ten = [Shape(10, 8, groups) for groups in range(1, 9)]
    all_ways = [Shape(10, 8, groups, None) for groups in range(1, MOST_WITHOUT_LIMIT + 1)]
    return [*ten, *all_ways, *(Shape(1, width, width) for width in (8, 16, 32, 64))]


def main() -> int:
    """Measure all shapes and print a table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    settle_memory()
    print("| hosts x devices | groups | limit | candidates | MB of answer | CPU ms | longest hold ms | process MB at most |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for shape in shapes():
        found = asyncio.run(one(shape))
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"| {shape.hosts} x {shape.devices} | {shape.groups} | {shape.limit or '-'} | {found.candidates:,} "
            f"| {found.size / 1e6:.1f} | {found.cpu * 1000:.1f} | {found.hold * 1000:.1f} | {most:.0f} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
