"""Hosts with many equal devices: as many ways to choose as nobody could count, and an answer that is right all the same.

What is searched is in memory, so these run on one kind of database.
"""

import asyncio
import gc
import time
import tracemalloc
from collections import Counter
from collections.abc import Awaitable, Mapping
from math import comb, perm
from typing import Any, Final, TypeVar

import httpx
import pytest

from kilonova.domain.clock import new_uuid
from tests.placement_api.placement_client import Client, holding

Result = TypeVar("Result")

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

HELD_SECONDS: Final = 0.1
"""CPU that a request may take before others are served; the aim is a fifth of it, which the bench measures."""
SPARE_MEMORY: Final = 8 * 2**20
ANSWERS_IN_MEMORY: Final = 10
"""So many times the answer's own bytes may be in memory: as candidates, as parts of the text, as the text and at the client."""


async def hosts_with(client: Client, hosts: int, devices: int, units: int = 1) -> dict[str, str]:
    """Hosts with `devices` equal children of so many units each; the host of each child."""
    await client.put("/resource_classes/CUSTOM_PF")
    found = {}
    for _ in range(hosts):
        root = await client.provider(VCPU=8)
        for _ in range(devices):
            found[await client.provider(parent=root, CUSTOM_PF=units)] = root
    return found


def asking(groups: int, policy: str, limit: int | None = None) -> str:
    wanted = "&".join(f"resources{number}=CUSTOM_PF:1" for number in range(1, groups + 1))
    more = f"&group_policy={policy}" if groups > 1 else ""
    return f"/allocation_candidates?{wanted}{more}" + (f"&limit={limit}" if limit else "")


async def requests_of(client: Client, path: str) -> list[dict[str, Any]]:
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["allocation_requests"]
    return found


def are_right(requests: list[dict[str, Any]], hosts: Mapping[str, str], groups: int, units: int = 1) -> Counter[str]:
    """Each request deals every group a child with room, all of one host, and none is there twice; how many of each host."""
    dealt = set()
    of_host: Counter[str] = Counter()
    for request in requests:
        mappings = {suffix: uuid for suffix, (uuid,) in request["mappings"].items()}
        assert mappings.keys() == {str(number) for number in range(1, groups + 1)}
        taken = Counter(mappings.values())
        assert max(taken.values()) <= units
        assert request["allocations"] == {uuid: {"resources": {"CUSTOM_PF": count}} for uuid, count in taken.items()}
        (host,) = {hosts[uuid] for uuid in taken}
        of_host[host] += 1
        dealt.add(tuple(mappings[str(number)] for number in range(1, groups + 1)))
    assert len(dealt) == len(requests)
    return of_host


async def test_every_way_is_there_where_the_answer_is_not_cut(client: Client) -> None:
    hosts = await hosts_with(client, 10, 8)
    for groups in (1, 2, 3):
        for policy in ("isolate", "none"):
            of_host = are_right(await requests_of(client, asking(groups, policy)), hosts, groups)
            assert set(of_host.values()) == {perm(8, groups)}
            assert of_host.keys() == set(hosts.values())


async def test_every_way_is_there_where_groups_may_share_a_device(client: Client) -> None:
    hosts = await hosts_with(client, 2, 8, units=2)
    for groups, ways in ((2, 8**2), (3, 8**3 - 8), (4, 8**4 - 8 - comb(4, 3) * 8 * 7)):
        of_host = are_right(await requests_of(client, asking(groups, "none")), hosts, groups, units=2)
        assert set(of_host.values()) == {ways}
        isolated = are_right(await requests_of(client, asking(groups, "isolate")), hosts, groups)
        assert set(isolated.values()) == {perm(8, groups)}


async def test_a_cut_answer_has_candidates_of_every_host(client: Client) -> None:
    hosts = await hosts_with(client, 10, 8)
    for groups in range(1, 9):
        for limit in (10, 1000):
            found = await requests_of(client, asking(groups, "isolate", limit))
            of_host = are_right(found, hosts, groups)
            assert len(found) == min(limit, 10 * perm(8, groups))
            # None has a second before each has a first, and no host takes much more than its share.
            assert of_host.keys() == set(hosts.values())
            assert max(of_host.values()) <= 2 * min(of_host.values())


async def test_more_groups_than_devices_find_nothing(client: Client) -> None:
    await hosts_with(client, 10, 8)
    assert await requests_of(client, asking(9, "isolate")) == []
    assert await requests_of(client, asking(9, "none", 1000)) == []


async def test_sixty_four_groups_find_their_devices(client: Client) -> None:
    hosts = await hosts_with(client, 1, 64)
    for limit in (1, 1000):
        found = await requests_of(client, asking(64, "isolate", limit))
        assert are_right(found, hosts, 64) == {next(iter(hosts.values())): limit}
    claim = holding({}) | found[-1]
    assert (await client.put(f"/allocations/{new_uuid()}", claim)).status_code == 204
    assert await requests_of(client, asking(1, "none")) == []


@pytest.mark.parametrize(("hosts", "devices", "limit"), [(10, 8, 1000), (1, 64, 1), (1, 64, 1000)])
async def test_memory_does_not_know_how_many_ways_there_are(client: Client, hosts: int, devices: int, limit: int) -> None:
    await hosts_with(client, hosts, devices)
    path = asking(devices, "isolate", limit)
    size = len((await client.get(path)).content)
    answer, peak = await measured(client.get(path))
    assert len(answer.content) == size
    assert peak <= ANSWERS_IN_MEMORY * size + SPARE_MEMORY


@pytest.mark.parametrize(("hosts", "devices", "limit"), [(10, 8, 1000), (1, 64, 1000)])
async def test_others_are_served_while_it_is_searched(client: Client, hosts: int, devices: int, limit: int) -> None:
    await hosts_with(client, hosts, devices)
    path = asking(devices, "isolate", limit)
    await client.get(path)
    assert await longest_hold(client.get(path)) <= HELD_SECONDS


async def measured(work: Awaitable[httpx.Response]) -> tuple[httpx.Response, int]:
    """The answer, and how many bytes more than before Python held at most."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        answer = await work
        return answer, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


async def longest_hold(work: Awaitable[Result]) -> float:
    """The most CPU, in seconds, that passes while something is done before another task has its turn."""
    # A search for cycles among all that other tests left would be counted, too.
    gc.collect()
    longest, last = 0.0, time.thread_time()

    async def tick() -> None:
        nonlocal longest, last
        while True:
            moment = time.thread_time()
            longest, last = max(longest, moment - last), moment
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await work
    await asyncio.sleep(0)
    ticking.cancel()
    return longest
