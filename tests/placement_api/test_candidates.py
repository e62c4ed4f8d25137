"""Allocation candidates over HTTP."""

import asyncio

import pytest

from kilonova.domain.clock import new_uuid
from tests.placement_api.placement_client import Client, code, holding


async def found(client: Client, query: str) -> list[frozenset[str]]:
    """The providers of each candidate."""
    answer = await client.get(f"/allocation_candidates?{query}")
    assert answer.status_code == 200, answer.text
    return [frozenset(request["allocations"]) for request in answer.json()["allocation_requests"]]


@pytest.mark.parametrize(
    "query",
    [
        "limit=%88",
        "resources=",
        "resources=VCPU",
        "resources=VCPU:0",
        "resources=VCPU:1&limit=-1",
        "resources=VCPU:1&limit=0",
        "resources=VCPU:1&limit=01",
        "",
    ],
)
async def test_bad_queries_are_told_in_json(client: Client, query: str) -> None:
    """C147."""
    answer = await client.get(f"/allocation_candidates?{query}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["status"] == 400


@pytest.mark.parametrize(
    "query",
    [
        "resources1=VCPU:1&resources2=VCPU:1",
        "resources=VCPU:1&group_policy=both",
        "resources=VCPU:1&required1=HW_CPU_X86_VMX",
        "required=HW_CPU_X86_VMX",
        "resources=VCPU:1&required=HW_CPU_X86_VMX,!HW_CPU_X86_VMX",
        "resources=VCPU:1&required=NO_SUCH",
        "resources=CUSTOM_NO:1",
        "resources=VCPU:1&same_subtree=_A",
        "resources=VCPU:1&root_required=in:HW_CPU_X86_VMX",
        "resources=VCPU:1&root_required=HW_CPU_X86_VMX&root_required=HW_CPU_X86_VMX",
        "resources=VCPU:1&unknown=1",
        "resources*=VCPU:1",
    ],
)
async def test_queries_that_make_no_sense_are_refused(client: Client, query: str) -> None:
    assert (await client.get(f"/allocation_candidates?{query}")).status_code == 400


@pytest.mark.parametrize(
    ("version", "query"),
    [
        ("1.15", "limit=1"),
        ("1.16", "required=HW_CPU_X86_VMX"),
        ("1.21", "required=!HW_CPU_X86_VMX"),
        ("1.20", "member_of=00000000-0000-0000-0000-000000000001"),
        ("1.24", "resources1=VCPU:1"),
        ("1.30", "in_tree=00000000-0000-0000-0000-000000000001"),
        ("1.31", "member_of=!00000000-0000-0000-0000-000000000001"),
        ("1.32", "resources_A=VCPU:1"),
        ("1.34", "root_required=HW_CPU_X86_VMX"),
        ("1.35", "same_subtree=_A"),
        ("1.38", "required=in:HW_CPU_X86_VMX,HW_CPU_X86_AVX"),
    ],
)
async def test_a_parameter_is_unknown_before_its_version(client: Client, version: str, query: str) -> None:
    assert (await client.at(version).get(f"/allocation_candidates?resources=VCPU:1&{query}")).status_code == 400


async def test_each_version_has_its_own_form(client: Client) -> None:
    provider = await client.provider(VCPU=4, MEMORY_MB=1024)
    await client.traits(provider, "HW_CPU_X86_VMX")
    path = "/allocation_candidates?resources=VCPU:1"
    assert (await client.at("1.9").get(path)).status_code == 404
    oldest = (await client.at("1.10").get(path)).json()
    assert oldest == {
        "allocation_requests": [{"allocations": [{"resource_provider": {"uuid": provider}, "resources": {"VCPU": 1}}]}],
        "provider_summaries": {provider: {"resources": {"VCPU": {"capacity": 4, "used": 0}}}},
    }
    assert (await client.at("1.33").get(path)).json()["allocation_requests"] == [
        {"allocations": {provider: {"resources": {"VCPU": 1}}}}
    ]
    newest = (await client.get(path)).json()
    assert newest["allocation_requests"] == [
        {"allocations": {provider: {"resources": {"VCPU": 1}}}, "mappings": {"": [provider]}}
    ]
    assert newest["provider_summaries"] == {
        provider: {
            "resources": {"VCPU": {"capacity": 4, "used": 0}, "MEMORY_MB": {"capacity": 1024, "used": 0}},
            "traits": ["HW_CPU_X86_VMX"],
            "parent_provider_uuid": None,
            "root_provider_uuid": provider,
        }
    }


async def test_equal_candidates_are_given_once(client: Client) -> None:
    """C141."""
    await client.put("/resource_classes/CUSTOM_PF")
    root = await client.provider(VCPU=1)
    for _ in range(2):
        await client.provider(parent=root, CUSTOM_PF=1)
    answer = await client.get("/allocation_candidates?resources_A=CUSTOM_PF:1&resources_B=CUSTOM_PF:1&group_policy=isolate")
    requests = [str(request) for request in answer.json()["allocation_requests"]]
    assert len(requests) == len(set(requests)) == 2


async def test_own_and_shared_disk_are_two_ways(client: Client) -> None:
    """C143."""
    host, shared, group = await client.provider(VCPU=4, DISK_GB=10), await client.provider(DISK_GB=100), new_uuid()
    await client.traits(shared, "MISC_SHARES_VIA_AGGREGATE")
    for provider in (host, shared):
        await client.aggregates(provider, group)
    assert sorted(await found(client, "resources=VCPU:1,DISK_GB:5"), key=len) == [frozenset({host}), frozenset({host, shared})]
    assert await found(client, "resources=VCPU:1,DISK_GB:50") == [frozenset({host, shared})]


async def test_one_host_does_not_take_the_whole_answer(client: Client) -> None:
    """C149."""
    await client.put("/resource_classes/CUSTOM_PF")
    roots = [await client.provider(VCPU=1) for _ in range(2)]
    for root in roots:
        await asyncio.gather(*[client.provider(parent=root, CUSTOM_PF=1) for _ in range(8)])
    groups = "&".join(f"resources{number}=CUSTOM_PF:1" for number in range(1, 7))
    answer = (await client.get(f"/allocation_candidates?{groups}&group_policy=none&limit=100")).json()
    assert len(answer["allocation_requests"]) == 100
    summaries = answer["provider_summaries"]
    used = {summaries[uuid]["root_provider_uuid"] for request in answer["allocation_requests"] for uuid in request["allocations"]}
    assert used == set(roots)


async def test_traits_of_a_child_count_where_its_resources_are(client: Client) -> None:
    """C157."""
    await client.put("/resource_classes/CUSTOM_PF")
    root = await client.provider(VCPU=1)
    child = await client.provider(parent=root, CUSTOM_PF=1)
    await client.traits(child, "CUSTOM_T")
    assert await found(client, "resources=CUSTOM_PF:1&required=CUSTOM_T") == [frozenset({child})]
    assert await found(client, "resources=CUSTOM_PF:1&required=!CUSTOM_T") == []


async def test_clients_before_1_29_see_no_nested_candidates(client: Client) -> None:
    root = await client.provider(VCPU=1)
    await client.provider(parent=root, DISK_GB=1)
    assert len(await found(client, "resources=VCPU:1,DISK_GB:1")) == 1
    assert await found(client.at("1.28"), "resources=VCPU:1,DISK_GB:1") == []


async def test_each_candidate_can_be_claimed_as_it_is(client: Client) -> None:
    for _ in range(2):
        await client.provider(VCPU=2)
    while requests := (await client.get("/allocation_candidates?resources=VCPU:1")).json()["allocation_requests"]:
        claim = holding({}) | requests[0]
        assert (await client.put(f"/allocations/{new_uuid()}", claim)).status_code == 204


async def test_a_tree_may_be_asked_about_at_1_1001(client: Client) -> None:
    root = await client.provider(VCPU=1)
    child = await client.provider(parent=root, DISK_GB=1)
    await client.traits(child, "CUSTOM_T")
    query = f"/allocation_candidates?in_tree={root}&required=CUSTOM_T"
    refused = await client.get(query)
    assert (refused.status_code, code(refused)) == (400, "placement.query.missing_value")
    answer = (await client.at("1.1001").get(query)).json()
    assert answer["allocation_requests"] == [{"allocations": {}, "mappings": {"": [child]}}]
    assert set(answer["provider_summaries"]) == {root, child}
    nothing = (await client.at("1.1001").get(f"/allocation_candidates?in_tree={new_uuid()}")).json()
    assert nothing == {"allocation_requests": [], "provider_summaries": {}}
