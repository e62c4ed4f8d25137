"""Placement 1.1001 over HTTP: an unsuffixed group with `in_tree` and without resources asks about a whole tree."""

from dataclasses import dataclass
from typing import Any

import pytest

from kilonova.domain.clock import new_uuid
from kilonova.placement_api.allocation_candidates.query import read_query
from tests.placement_api.placement_client import Client, code, holding

NOTHING: dict[str, Any] = {"allocation_requests": [], "provider_summaries": {}}


@dataclass(frozen=True)
class Host:
    """A root with two NUMA nodes, one of them with a card: CUSTOM_ROOT, CUSTOM_NODE and CUSTOM_CARD say where one is."""

    root: str
    node: str
    other: str
    card: str

    @property
    def all(self) -> set[str]:
        return {self.root, self.node, self.other, self.card}


@pytest.fixture
async def own(client: Client) -> Client:
    return client.at("1.1001")


@pytest.fixture
async def host(client: Client) -> Host:
    root = await client.provider(DISK_GB=10)
    node, other = await client.provider(parent=root, VCPU=4), await client.provider(parent=root, VCPU=4)
    await client.put("/resource_classes/CUSTOM_FPGA")
    card = await client.provider(parent=node, CUSTOM_FPGA=1)
    for uuid, trait in ((root, "CUSTOM_ROOT"), (node, "CUSTOM_NODE"), (card, "CUSTOM_CARD")):
        await client.traits(uuid, trait)
    return Host(root, node, other, card)


async def ask(client: Client, query: str) -> dict[str, Any]:
    answer = await client.get(f"/allocation_candidates?{query}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_each_required_trait_is_somewhere_in_the_tree(own: Client, host: Host) -> None:
    found = await ask(own, f"in_tree={host.other}&required=CUSTOM_ROOT,CUSTOM_CARD")
    (request,) = found["allocation_requests"]
    assert request["allocations"] == {}
    assert set(request["mappings"][""]) == {host.root, host.card}
    assert await ask(own, f"in_tree={host.root}&required=CUSTOM_ROOT,HW_CPU_X86_VMX") == NOTHING


async def test_one_trait_of_each_set_is_somewhere_in_the_tree(own: Client, host: Host) -> None:
    sets = "required=in:CUSTOM_CARD,HW_CPU_X86_VMX&required=in:CUSTOM_NODE,HW_CPU_X86_AVX"
    (request,) = (await ask(own, f"in_tree={host.root}&{sets}"))["allocation_requests"]
    assert set(request["mappings"][""]) == {host.node, host.card}
    assert await ask(own, f"in_tree={host.root}&{sets}&required=in:HW_CPU_X86_VMX,HW_CPU_X86_AVX") == NOTHING


async def test_no_provider_of_the_tree_has_a_forbidden_trait(own: Client, host: Host) -> None:
    assert await ask(own, f"in_tree={host.root}&required=!CUSTOM_CARD") == NOTHING
    assert (await ask(own, f"in_tree={host.root}&required=!HW_CPU_X86_VMX"))["allocation_requests"]


async def test_the_root_answers_for_aggregates(own: Client, host: Host) -> None:
    of_root, of_node = new_uuid(), new_uuid()
    await own.aggregates(host.root, of_root)
    await own.aggregates(host.node, of_node)
    for met in (of_root, f"in:{of_node},{of_root}", f"!{of_node}"):
        assert (await ask(own, f"in_tree={host.card}&member_of={met}"))["allocation_requests"], met
    for missed in (of_node, f"!{of_root}", f"!in:{of_node},{of_root}"):
        assert await ask(own, f"in_tree={host.card}&member_of={missed}") == NOTHING, missed


async def test_what_shares_from_outside_does_not_count(own: Client, host: Host) -> None:
    shared, group = await own.provider(DISK_GB=100), new_uuid()
    await own.traits(shared, "MISC_SHARES_VIA_AGGREGATE", "CUSTOM_FAST")
    for uuid in (host.root, shared):
        await own.aggregates(uuid, group)
    assert await ask(own, f"in_tree={host.root}&required=CUSTOM_FAST") == NOTHING
    found = await ask(own, f"in_tree={host.root}&required=!CUSTOM_FAST")
    assert set(found["provider_summaries"]) == host.all


async def test_alone_it_is_one_request_with_summaries_of_the_whole_tree(own: Client, host: Host) -> None:
    await own.provider(VCPU=4)
    found = await ask(own, f"in_tree={host.card}")
    assert found["allocation_requests"] == [{"allocations": {}, "mappings": {"": [host.root]}}]
    assert set(found["provider_summaries"]) == host.all
    assert found["provider_summaries"][host.card] == {
        "resources": {"CUSTOM_FPGA": {"capacity": 1, "used": 0}},
        "traits": ["CUSTOM_CARD"],
        "parent_provider_uuid": host.node,
        "root_provider_uuid": host.root,
    }


async def test_a_tree_that_is_not_there_is_an_empty_answer(own: Client, host: Host) -> None:
    assert await ask(own, f"in_tree={new_uuid()}") == NOTHING
    assert await ask(own, f"in_tree={new_uuid()}&resources_A=DISK_GB:1") == NOTHING


async def test_beside_groups_with_resources_it_fixes_their_root(own: Client, host: Host) -> None:
    await own.provider(VCPU=4)
    found = await ask(own, f"in_tree={host.root}&required=CUSTOM_CARD&resources_A=VCPU:1")
    assert len(found["allocation_requests"]) == 2
    for request in found["allocation_requests"]:
        (node,) = request["allocations"]
        assert node in (host.node, host.other)
        assert request["mappings"] == {"": [host.card], "_A": [node]}
    assert await ask(own, f"in_tree={host.root}&required=HW_CPU_X86_VMX&resources_A=VCPU:1") == NOTHING


async def test_what_the_tree_must_have_need_not_be_where_the_resources_are(own: Client, host: Host) -> None:
    both = f"in_tree={host.root}&required=CUSTOM_CARD&resources_A=VCPU:1&resources_B=DISK_GB:1&group_policy=isolate"
    assert len((await ask(own, both))["allocation_requests"]) == 2


async def test_the_root_may_be_asked_for_traits_besides(own: Client, host: Host) -> None:
    assert (await ask(own, f"in_tree={host.card}&root_required=CUSTOM_ROOT"))["allocation_requests"]
    assert await ask(own, f"in_tree={host.card}&root_required=CUSTOM_CARD") == NOTHING


async def test_suffixed_groups_without_resources_still_need_a_subtree(own: Client, host: Host) -> None:
    lonely = await own.get(f"/allocation_candidates?resources=DISK_GB:1&in_tree_A={host.root}")
    beside = await own.get(f"/allocation_candidates?in_tree={host.root}&required_A=CUSTOM_NODE")
    assert (lonely.status_code, beside.status_code) == (400, 400)
    tied = await ask(own, f"in_tree={host.root}&required_N=CUSTOM_NODE&resources_F=CUSTOM_FPGA:1&same_subtree=_N,_F")
    assert tied["allocation_requests"] == [
        {
            "allocations": {host.card: {"resources": {"CUSTOM_FPGA": 1}}},
            "mappings": {"": [host.root], "_F": [host.card], "_N": [host.node]},
        }
    ]


@pytest.mark.parametrize("query", ["required=HW_CPU_X86_VMX", "required=HW_CPU_X86_VMX&resources_A=VCPU:1", "limit=1", ""])
async def test_neither_resources_nor_a_tree_is_refused(own: Client, query: str) -> None:
    answer = await own.get(f"/allocation_candidates?{query}")
    assert (answer.status_code, code(answer).rpartition(".")[0]) == (400, "placement.query")


async def test_a_malformed_tree_is_refused(own: Client) -> None:
    for uuid in ("", "x", "00000000"):
        answer = await own.get(f"/allocation_candidates?in_tree={uuid}")
        assert (answer.status_code, code(answer)) == (400, "placement.query.bad_value")
    twice = await own.get(f"/allocation_candidates?in_tree={new_uuid()}&in_tree={new_uuid()}")
    assert (twice.status_code, code(twice)) == (400, "placement.query.duplicate_key")


async def test_a_tree_alone_is_refused_below_its_version(client: Client, host: Host) -> None:
    for version in ("1.31", "1.39"):
        assert (await client.at(version).get(f"/allocation_candidates?in_tree={host.root}")).status_code == 400


async def test_an_answer_without_allocations_claims_nothing(own: Client, host: Host) -> None:
    consumer = new_uuid()
    (request,) = (await ask(own, f"in_tree={host.root}"))["allocation_requests"]
    await own.put(f"/allocations/{consumer}", holding({}) | request)
    assert (await own.get(f"/allocations/{consumer}")).json() == {"allocations": {}}
    assert (await own.get(f"/resource_providers/{host.root}/usages")).json()["usages"] == {"DISK_GB": 0}


def test_a_rule_that_is_given_more_than_once_is_one_rule() -> None:
    """Each rule costs the search a level."""
    values = {"resources1": ("VCPU:1",), "resources2": ("VCPU:1",), "group_policy": ("none",)}
    asked = read_query({**values, "same_subtree": ("1,2", "2,1", "1 , 2")}, 39)
    assert asked.query.same_subtree == (frozenset({"1", "2"}),)
