"""Cases of the placement face that search: which candidates there are, and that a search of a wide tree comes to an end."""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Coroutine
from typing import Any, Final

import orjson
import pytest

from .cloud import Cloud
from .doors import Door
from .ledger_words import ask_devices, candidates, make_class, make_devices, make_provider, set_of_provider

AGGREGATES = ("a0000000-0000-4000-8000-000000000001", "a0000000-0000-4000-8000-000000000002")
SHARES = "MISC_SHARES_VIA_AGGREGATE"
CPU_SECONDS: Final = 1.0
MEMORY_OF_A_CHILD: Final = 2**20
"""Bytes for one child in each of a thousand candidates: as objects, as bytes, and as the client reads it."""


async def test_c141_no_two_candidates_are_equal(cloud: Cloud) -> None:
    door = cloud.placement
    await make_class(door, "CUSTOM_PF")
    root = await make_provider(door, VCPU=8)
    for _ in range(2):
        await make_provider(door, "", root, CUSTOM_PF=1)
    await set_of_provider(door, root, "aggregates", *AGGREGATES)
    for _ in range(2):
        sharing = await make_provider(door, DISK_GB=1000)
        await set_of_provider(door, sharing, "traits", SHARES)
        await set_of_provider(door, sharing, "aggregates", *AGGREGATES)
    alone = "resources_A=CUSTOM_PF:1&resources_B=CUSTOM_PF:1&group_policy=isolate"
    with_disk = "resources=DISK_GB:100&resources1=CUSTOM_PF:1&resources2=CUSTOM_PF:1&group_policy=isolate"
    # From 1.34 it is told which group got which child; before, the two ways of dealing them look the same and are one.
    for query, version, count in (
        (alone, "1.33", 1),
        (alone, "1.34", 2),
        (alone, "1.39", 2),
        (with_disk, "1.33", 2),
        (with_disk, "1.34", 4),
        (with_disk, "1.39", 4),
    ):
        found = (await door.at(version).read(f"/allocation_candidates?{query}"))["allocation_requests"]
        assert len({orjson.dumps(entry, option=orjson.OPT_SORT_KEYS) for entry in found}) == len(found) == count


async def test_c143_own_and_shared_disk_are_two_ways_unless_the_own_is_too_small(cloud: Cloud) -> None:
    door = cloud.placement
    host = await make_provider(door, VCPU=8, DISK_GB=100)
    shared = await make_provider(door, DISK_GB=1000)
    await set_of_provider(door, shared, "traits", SHARES)
    for provider in (host, shared):
        await set_of_provider(door, provider, "aggregates", AGGREGATES[0])
    alone, together = {host: {"VCPU": 1, "DISK_GB": 90}}, {host: {"VCPU": 1}, shared: {"DISK_GB": 90}}
    assert sorted(await candidates(door, "resources=VCPU:1,DISK_GB:90"), key=len) == [alone, together]
    assert await candidates(door, "resources=VCPU:1,DISK_GB:500") == [{host: {"VCPU": 1}, shared: {"DISK_GB": 500}}]


async def test_c145_summaries_tell_of_all_classes_from_1_27(cloud: Cloud) -> None:
    for version, classes in (("1.26", {"VCPU"}), ("1.27", {"VCPU", "MEMORY_MB", "DISK_GB"})):
        found = await cloud.placement.at(version).read("/allocation_candidates?resources=VCPU:1")
        assert len(found["provider_summaries"]) == 3
        assert all(set(summary["resources"]) == classes for summary in found["provider_summaries"].values())


async def test_c147_a_query_that_cannot_be_is_told_in_json(cloud: Cloud) -> None:
    for query, more in (
        ("limit=%88", "resources=VCPU:1"),
        ("resources=", "limit=1"),
        ("resources=VCPU", "limit=1"),
        ("resources=VCPU:0", "limit=1"),
        ("limit=-1", "resources=VCPU:1"),
    ):
        # Right is what else is asked, if anything.
        for whole in (query, f"{query}&{more}"):
            answer = await cloud.placement.get(f"/allocation_candidates?{whole}")
            assert answer.status_code == 400
            assert answer.headers["content-type"].partition(";")[0] == "application/json"
            (error,) = answer.json()["errors"]
            assert error["status"] == 400
            assert all(error[key] for key in ("title", "detail", "code", "request_id"))


async def asked(door: Door, query: str) -> list[dict[str, Any]]:
    """The candidates of a query whose ways nobody could count. The CPU is counted, the client's with it."""
    # A search for cycles among all that other tests left would be counted, too.
    gc.collect()
    begun = time.process_time()
    async with asyncio.timeout(60):
        answer = await door.get(f"/allocation_candidates?{query}")
    spent = time.process_time() - begun
    assert answer.status_code == 200, answer.text
    assert spent <= CPU_SECONDS
    requests: list[dict[str, Any]] = answer.json()["allocation_requests"]
    return requests


@pytest.mark.parametrize("policy", ["none", "isolate"])
async def test_c149_a_limit_does_not_hide_the_second_host(cloud: Cloud, policy: str) -> None:
    hosts = await make_devices(cloud.placement, 2, 8)
    found = await asked(cloud.placement, ask_devices(6, policy) + "&limit=100")
    assert len(found) == 100
    used = [{hosts[uuid] for uuid in request["allocations"]} for request in found]
    assert all(len(roots) == 1 for roots in used)
    assert set().union(*used) == set(hosts.values())


@pytest.mark.parametrize("width", [8, 16, 32, 64])
async def test_c151_a_wide_tree_is_answered(cloud: Cloud, width: int) -> None:
    hosts = await make_devices(cloud.placement, 1, width)
    query = ask_devices(width) + "&limit=1000"
    found = await asked(cloud.placement, query)
    # There are as many ways as orders of the children, so the limit is always reached.
    assert len({orjson.dumps(request["mappings"], option=orjson.OPT_SORT_KEYS) for request in found}) == len(found) == 1000
    assert all(request["allocations"].keys() == hosts.keys() for request in found)
    assert await peak(cloud.placement.get(f"/allocation_candidates?{query}")) <= width * MEMORY_OF_A_CHILD


async def peak(work: Coroutine[Any, Any, object]) -> int:
    """How many bytes more than before Python holds at most while something is done."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        await work
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


async def test_c157_traits_of_a_child_count_where_its_resources_are(cloud: Cloud) -> None:
    door = cloud.placement
    await make_class(door, "CUSTOM_PF")
    child = await make_provider(door, "", await make_provider(door, VCPU=8), CUSTOM_PF=1)
    await set_of_provider(door, child, "traits", "CUSTOM_T")
    assert await candidates(door, "resources=CUSTOM_PF:1&required=CUSTOM_T") == [{child: {"CUSTOM_PF": 1}}]
    assert await candidates(door, "resources=CUSTOM_PF:1&required=!CUSTOM_T") == []
