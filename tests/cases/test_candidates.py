"""Cases of the placement face that search: which candidates there are, and that a search of a wide tree comes to an end."""

import asyncio
from collections.abc import Awaitable

import orjson
import pytest

from .cloud import Cloud
from .ledger_words import candidates, make_class, make_provider, set_of_provider

AGGREGATES = ("a0000000-0000-4000-8000-000000000001", "a0000000-0000-4000-8000-000000000002")
SHARES = "MISC_SHARES_VIA_AGGREGATE"
Answers = list[dict[str, dict[str, int]]]


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
    query = "resources=DISK_GB:100&resources1=CUSTOM_PF:1&resources2=CUSTOM_PF:1&group_policy=isolate"
    # From 1.34 it is told which group got which child; before, the two ways of dealing them look the same and are one.
    for version, count in (("1.33", 2), ("1.34", 4), ("1.39", 4)):
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


@pytest.mark.parametrize(
    "query", ["limit=%88", "resources=", "resources=VCPU", "resources=VCPU:0", "limit=-1&resources=VCPU:1", "resources=%88"]
)
async def test_c147_a_query_that_cannot_be_is_told_in_json(cloud: Cloud, query: str) -> None:
    answer = await cloud.placement.get(f"/allocation_candidates?{query}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["status"] == 400


async def ended(asked: Awaitable[Answers]) -> Answers:
    """The answer to a query whose combinations nobody could count: walking through them all would never end."""
    async with asyncio.timeout(60):
        return await asked


async def test_c149_a_limit_does_not_hide_the_second_host(cloud: Cloud) -> None:
    door = cloud.placement
    await make_class(door, "CUSTOM_PF")
    roots = [await make_provider(door, VCPU=8), await make_provider(door, VCPU=8)]
    parents = {}
    for root in roots:
        for _ in range(8):
            parents[await make_provider(door, "", root, CUSTOM_PF=1)] = root
    query = "&".join(f"resources_{number}=CUSTOM_PF:1" for number in range(6)) + "&group_policy=isolate&limit=100"
    found = await ended(candidates(door, query))
    assert len(found) == 100
    assert {parents[uuid] for entry in found for uuid in entry} == set(roots)


@pytest.mark.parametrize("width", [8, 64])
async def test_c151_a_wide_tree_is_answered(cloud: Cloud, width: int) -> None:
    door = cloud.placement
    await make_class(door, "CUSTOM_PF")
    root = await make_provider(door, VCPU=8)
    for _ in range(width):
        await make_provider(door, "", root, CUSTOM_PF=1)
    query = "&".join(f"resources_{number}=CUSTOM_PF:1" for number in range(width)) + "&group_policy=isolate&limit=1000"
    found = await ended(candidates(door, query))
    assert found
    assert all(len(entry) == width for entry in found)


async def test_c157_traits_of_a_child_count_where_its_resources_are(cloud: Cloud) -> None:
    door = cloud.placement
    await make_class(door, "CUSTOM_PF")
    child = await make_provider(door, "", await make_provider(door, VCPU=8), CUSTOM_PF=1)
    await set_of_provider(door, child, "traits", "CUSTOM_T")
    assert await candidates(door, "resources=CUSTOM_PF:1&required=CUSTOM_T") == [{child: {"CUSTOM_PF": 1}}]
    assert await candidates(door, "resources=CUSTOM_PF:1&required=!CUSTOM_T") == []
