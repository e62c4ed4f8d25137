"""Placement 1.1002 over HTTP: candidates as if consumers held nothing, and what a consumer holds as the only candidate."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from kilonova.domain.clock import new_uuid
from tests.placement_api.placement_client import Client, code, holding

NOTHING: dict[str, Any] = {"allocation_requests": [], "provider_summaries": {}}


@pytest.fixture
async def own(client: Client) -> Client:
    return client.at("1.1002")


async def ask(client: Client, query: str) -> dict[str, Any]:
    answer = await client.get(f"/allocation_candidates?{query}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def claim(client: Client, allocations: dict[str, dict[str, int]]) -> str:
    """A new consumer that holds this."""
    consumer = new_uuid()
    answer = await client.put(f"/allocations/{consumer}", holding(allocations))
    assert answer.status_code == 204, answer.text
    return consumer


async def test_a_replaced_consumer_counts_as_holding_nothing(own: Client) -> None:
    provider = await own.provider(VCPU=4)
    consumer = await claim(own, {provider: {"VCPU": 3}})
    assert await ask(own, "resources=VCPU:4") == NOTHING
    (request,) = (await ask(own, f"resources=VCPU:4&replacing={consumer}"))["allocation_requests"]
    assert request["allocations"] == {provider: {"resources": {"VCPU": 4}}}


async def test_several_consumers_may_be_replaced(own: Client) -> None:
    provider, other = await own.provider(VCPU=4, DISK_GB=4), await own.provider(VCPU=4)
    first = await claim(own, {provider: {"VCPU": 2, "DISK_GB": 1}})
    second = await claim(own, {provider: {"VCPU": 2}, other: {"VCPU": 4}})
    assert await ask(own, f"resources=VCPU:4&replacing={first}") == NOTHING
    found = await ask(own, f"resources=VCPU:4&replacing={first}&replacing={second}&replacing={first}")
    assert {uuid for request in found["allocation_requests"] for uuid in request["allocations"]} == {provider, other}


async def test_replaced_amounts_leave_what_is_used_and_only_in_that_answer(own: Client) -> None:
    root = await own.provider(DISK_GB=10)
    provider = await own.provider(parent=root, VCPU=4, MEMORY_MB=64)
    consumer = await claim(own, {provider: {"VCPU": 1, "MEMORY_MB": 16}, root: {"DISK_GB": 5}})
    await claim(own, {provider: {"VCPU": 2}})
    query = "resources=VCPU:1"
    held = {
        root: {"DISK_GB": {"capacity": 10, "used": 5}},
        provider: {"VCPU": {"capacity": 4, "used": 3}, "MEMORY_MB": {"capacity": 64, "used": 16}},
    }
    freed = {
        root: {"DISK_GB": {"capacity": 10, "used": 0}},
        provider: {"VCPU": {"capacity": 4, "used": 2}, "MEMORY_MB": {"capacity": 64, "used": 0}},
    }
    for asked, expected in ((query, held), (f"{query}&replacing={consumer}", freed), (query, held)):
        summaries = (await ask(own, asked))["provider_summaries"]
        assert {uuid: summary["resources"] for uuid, summary in summaries.items()} == expected


async def test_unknown_consumers_are_replaced_by_nothing(own: Client) -> None:
    provider = await own.provider(VCPU=4)
    consumer = await claim(own, {provider: {"VCPU": 3}})
    assert await ask(own, f"resources=VCPU:4&replacing={new_uuid()}") == NOTHING
    found = await ask(own, f"resources=VCPU:4&replacing={new_uuid()}&replacing={consumer.replace('-', '').upper()}")
    assert len(found["allocation_requests"]) == 1


async def test_a_consumer_that_changes_all_the_time_is_replaced_whole(own: Client) -> None:
    provider = await own.provider(VCPU=8)
    await claim(own, {provider: {"VCPU": 2}})
    consumer = new_uuid()

    async def change() -> None:
        for _ in range(20):
            assert (await own.put(f"/allocations/{consumer}", holding({provider: {"VCPU": 1}}))).status_code == 204
            await asyncio.sleep(0)
            assert (await own.put(f"/allocations/{consumer}", holding({provider: {"VCPU": 5}}, 1))).status_code == 204
            await asyncio.sleep(0)
            assert (await own.delete(f"/allocations/{consumer}")).status_code == 204

    changing = asyncio.create_task(change())
    used = []
    async with asyncio.timeout(60):
        while not changing.done():
            answer = await own.get(f"/allocation_candidates?resources=VCPU:6&replacing={consumer}")
            # Refused is better than wrong, where it changes faster than it can be read.
            assert answer.status_code in (200, 503)
            used += [found["resources"]["VCPU"]["used"] for found in answer.json().get("provider_summaries", {}).values()]
            await asyncio.sleep(0)
    await changing
    assert used
    assert set(used) == {2}


@pytest.mark.parametrize("parameter", ["replacing", "unchanged"])
async def test_a_malformed_consumer_is_refused(own: Client, parameter: str) -> None:
    for uuid in ("", "x", "1234"):
        answer = await own.get(f"/allocation_candidates?resources=VCPU:1&{parameter}={uuid}")
        assert (answer.status_code, code(answer)) == (400, "placement.query.bad_value")


@pytest.mark.parametrize("version", ["1.36", "1.39", "1.1001"])
@pytest.mark.parametrize("parameter", ["replacing", "unchanged"])
async def test_below_1_1002_nobody_is_replaced_or_unchanged(client: Client, version: str, parameter: str) -> None:
    answer = await client.at(version).get(f"/allocation_candidates?resources=VCPU:1&{parameter}={new_uuid()}")
    assert answer.status_code == 400


async def test_one_consumer_is_unchanged_and_then_none_replaced(own: Client) -> None:
    consumer = new_uuid()
    both = await own.get(f"/allocation_candidates?resources=VCPU:1&unchanged={consumer}&replacing={consumer}")
    twice = await own.get(f"/allocation_candidates?resources=VCPU:1&unchanged={consumer}&unchanged={consumer}")
    assert (both.status_code, code(both)) == (400, "placement.query.bad_value")
    assert (twice.status_code, code(twice)) == (400, "placement.query.duplicate_key")


@dataclass(frozen=True)
class Held:
    """A host whose two NUMA nodes and a card below the first are held by a consumer, with a disk that is shared with it."""

    consumer: str
    root: str
    nodes: tuple[str, str]
    card: str
    disk: str
    group: str

    @property
    def all(self) -> set[str]:
        return {self.root, *self.nodes, self.card, self.disk}

    @property
    def amounts(self) -> dict[str, dict[str, int]]:
        first, second = self.nodes
        return {first: {"VCPU": 2}, second: {"VCPU": 3}, self.card: {"CUSTOM_FPGA": 1}, self.disk: {"DISK_GB": 5}}

    def asked(self, rest: str = "", policy: str = "isolate", disk: str = "resources=DISK_GB:5") -> str:
        groups = "resources_A=VCPU:3&resources_B=VCPU:2&resources_F=CUSTOM_FPGA:1"
        return f"{disk}&{groups}&group_policy={policy}&unchanged={self.consumer}{rest}"


@pytest.fixture
async def held(own: Client) -> Held:
    await own.put("/resource_classes/CUSTOM_FPGA")
    root, group = await own.provider(), new_uuid()
    nodes = (await own.provider(parent=root, VCPU=4), await own.provider(parent=root, VCPU=4))
    card = await own.provider(parent=nodes[0], CUSTOM_FPGA=1)
    disk = await own.provider(DISK_GB=10)
    await own.traits(disk, "MISC_SHARES_VIA_AGGREGATE")
    for uuid in (root, disk):
        await own.aggregates(uuid, group)
    for uuid, name in ((root, "ROOT"), (nodes[0], "FIRST"), (nodes[1], "SECOND"), (card, "CARD")):
        await own.traits(uuid, f"CUSTOM_{name}")
    made = Held("", root, nodes, card, disk, group)
    consumer = await claim(own, made.amounts)
    return Held(consumer, root, nodes, card, disk, group)


async def test_what_is_held_is_the_only_candidate_with_mappings_and_summaries(own: Client, held: Held) -> None:
    await own.provider(VCPU=8, CUSTOM_FPGA=1, DISK_GB=10)
    found = await ask(own, held.asked())
    (request,) = found["allocation_requests"]
    assert request["allocations"] == {uuid: {"resources": amounts} for uuid, amounts in held.amounts.items()}
    assert request["mappings"] == {"": [held.disk], "_A": [held.nodes[1]], "_B": [held.nodes[0]], "_F": [held.card]}
    assert set(found["provider_summaries"]) == held.all
    assert found["provider_summaries"][held.disk]["resources"]["DISK_GB"] == {"capacity": 10, "used": 5}


async def test_all_that_is_held_must_be_dealt_and_nothing_else(own: Client, held: Held) -> None:
    rest = f"resources_A=VCPU:3&resources_B=VCPU:2&resources_F=CUSTOM_FPGA:1&group_policy=none&unchanged={held.consumer}"
    more = "resources_M=MEMORY_MB:1"
    for query in (f"resources=DISK_GB:4&{rest}", f"resources=DISK_GB:6&{rest}", rest, f"resources=DISK_GB:5&{more}&{rest}"):
        assert await ask(own, query) == NOTHING, query
    uneven = "resources=DISK_GB:5&resources_A=VCPU:4&resources_B=VCPU:1&resources_F=CUSTOM_FPGA:1&group_policy=none"
    assert await ask(own, f"{uneven}&unchanged={held.consumer}") == NOTHING


async def test_the_traits_of_groups_must_hold_where_the_resources_are(own: Client, held: Held) -> None:
    for met in ("required_A=CUSTOM_SECOND", "required_B=!CUSTOM_SECOND", "required_F=in:CUSTOM_CARD,CUSTOM_ROOT"):
        assert (await ask(own, held.asked(f"&{met}")))["allocation_requests"], met
    for missed in ("required_A=CUSTOM_FIRST", "required_A=CUSTOM_ROOT", "required_B=!CUSTOM_FIRST", "required=CUSTOM_ROOT"):
        assert await ask(own, held.asked(f"&{missed}")) == NOTHING, missed


async def test_the_unsuffixed_group_has_its_traits_together(own: Client) -> None:
    root = await own.provider(VCPU=4)
    child = await own.provider(parent=root, DISK_GB=4)
    await own.traits(root, "CUSTOM_A")
    await own.traits(child, "CUSTOM_B")
    query = f"resources=VCPU:1,DISK_GB:1&unchanged={await claim(own, {root: {'VCPU': 1}, child: {'DISK_GB': 1}})}"
    (request,) = (await ask(own, f"{query}&required=CUSTOM_A,CUSTOM_B"))["allocation_requests"]
    assert set(request["mappings"][""]) == {root, child}
    assert await ask(own, f"{query}&required=CUSTOM_A,HW_CPU_X86_VMX") == NOTHING
    assert await ask(own, f"{query}&required=!CUSTOM_B") == NOTHING


async def test_aggregates_must_hold(own: Client, held: Held) -> None:
    of_node = new_uuid()
    await own.aggregates(held.nodes[1], of_node)
    for met in (f"member_of={held.group}", f"member_of_A={of_node}", f"member_of_B=!{of_node}"):
        assert (await ask(own, held.asked(f"&{met}")))["allocation_requests"], met
    for missed in (f"member_of={of_node}", f"member_of=!{held.group}", f"member_of_B={of_node}", f"member_of_A={held.group}"):
        assert await ask(own, held.asked(f"&{missed}")) == NOTHING, missed


async def test_the_aggregates_of_a_root_span_its_tree(own: Client) -> None:
    root, group = await own.provider(), new_uuid()
    child = await own.provider(parent=root, VCPU=4)
    await own.aggregates(root, group)
    consumer = await claim(own, {child: {"VCPU": 1}})
    assert (await ask(own, f"resources=VCPU:1&member_of={group}&unchanged={consumer}"))["allocation_requests"]
    assert await ask(own, f"resources=VCPU:1&member_of=!{group}&unchanged={consumer}") == NOTHING
    assert await ask(own, f"resources_A=VCPU:1&member_of_A={group}&unchanged={consumer}") == NOTHING


async def test_the_group_policy_must_hold(own: Client) -> None:
    provider = await own.provider(VCPU=8)
    query = f"resources_A=VCPU:1&resources_B=VCPU:2&unchanged={await claim(own, {provider: {'VCPU': 3}})}"
    (request,) = (await ask(own, f"{query}&group_policy=none"))["allocation_requests"]
    assert request["mappings"] == {"_A": [provider], "_B": [provider]}
    assert await ask(own, f"{query}&group_policy=isolate") == NOTHING


async def test_same_subtree_must_hold(own: Client, held: Held) -> None:
    (request,) = (await ask(own, held.asked("&same_subtree=_B,_F")))["allocation_requests"]
    assert (request["mappings"]["_B"], request["mappings"]["_F"]) == ([held.nodes[0]], [held.card])
    assert await ask(own, held.asked("&same_subtree=_A,_F")) == NOTHING


async def test_a_group_without_resources_may_be_mapped_to_what_is_not_held(own: Client) -> None:
    await own.put("/resource_classes/CUSTOM_FPGA")
    root = await own.provider()
    nodes = [await own.provider(parent=root) for _ in range(2)]
    card = await own.provider(parent=nodes[1], CUSTOM_FPGA=1)
    for node in nodes:
        await own.traits(node, "HW_NUMA_ROOT")
    consumer = await claim(own, {card: {"CUSTOM_FPGA": 1}})
    tied = f"resources_F=CUSTOM_FPGA:1&required_N=HW_NUMA_ROOT&same_subtree=_N,_F&unchanged={consumer}"
    (request,) = (await ask(own, tied))["allocation_requests"]
    assert request["mappings"] == {"_F": [card], "_N": [nodes[1]]}


async def test_the_traits_of_the_root_must_hold(own: Client, held: Held) -> None:
    for met in ("CUSTOM_ROOT", "!CUSTOM_CARD", "!MISC_SHARES_VIA_AGGREGATE"):
        assert (await ask(own, held.asked(f"&root_required={met}")))["allocation_requests"], met
    for missed in ("!CUSTOM_ROOT", "CUSTOM_FIRST", "MISC_SHARES_VIA_AGGREGATE"):
        assert await ask(own, held.asked(f"&root_required={missed}")) == NOTHING, missed


async def test_capacity_reserved_ratios_units_and_limit_are_not_looked_at(own: Client) -> None:
    provider, other = await own.provider(VCPU=10), await own.provider(VCPU=10)
    consumer = await claim(own, {provider: {"VCPU": 3}})
    await claim(own, {provider: {"VCPU": 7}})
    query = f"resources=VCPU:3&limit=1&unchanged={consumer}"
    for change in (
        {"total": 4},
        {"total": 10, "reserved": 10},
        {"total": 10, "allocation_ratio": 0.1},
        {"total": 10, "min_unit": 5},
        {"total": 10, "max_unit": 2},
        {"total": 10, "step_size": 2},
    ):
        body = {"resource_provider_generation": await own.generation(provider), **change}
        assert (await own.put(f"/resource_providers/{provider}/inventories/VCPU", body)).status_code == 200
        (request,) = (await ask(own, query))["allocation_requests"]
        assert request["allocations"] == {provider: {"resources": {"VCPU": 3}}}, change
        assert other not in {uuid for found in (await ask(own, query))["allocation_requests"] for uuid in found["allocations"]}


async def test_a_sharing_provider_counts_as_claimed(own: Client, held: Held) -> None:
    await own.aggregates(held.disk)
    await own.traits(held.disk)
    (request,) = (await ask(own, held.asked()))["allocation_requests"]
    assert request["mappings"][""] == [held.disk]


async def test_in_tree_is_a_condition_as_any_other(own: Client, held: Held) -> None:
    as_group = "resources_D=DISK_GB:5"
    for met in (f"&in_tree_A={held.root}", f"&in_tree_D={held.disk}"):
        assert (await ask(own, held.asked(met, disk=as_group)))["allocation_requests"], met
    assert await ask(own, held.asked(f"&in_tree_D={held.root}", disk=as_group)) == NOTHING
    # The unsuffixed group takes nothing from outside of a tree that it names.
    assert await ask(own, held.asked(f"&in_tree={held.root}")) == NOTHING
    assert await ask(own, held.asked(f"&in_tree={held.disk}")) == NOTHING


async def test_a_question_about_the_tree_may_stand_beside(own: Client, held: Held) -> None:
    tree = f"in_tree={held.root}&resources_D=DISK_GB:5"
    (request,) = (await ask(own, held.asked("&required=CUSTOM_CARD,CUSTOM_ROOT", disk=tree)))["allocation_requests"]
    assert set(request["mappings"][""]) == {held.card, held.root}
    assert request["mappings"]["_D"] == [held.disk]
    (request,) = (await ask(own, held.asked("", disk=tree)))["allocation_requests"]
    assert request["mappings"][""] == [held.root]
    for missed in ("required=HW_CPU_X86_VMX", "required=!CUSTOM_SECOND", f"member_of={new_uuid()}", f"member_of=!{held.group}"):
        assert await ask(own, held.asked(f"&{missed}", disk=tree)) == NOTHING, missed
    elsewhere = f"in_tree={await own.provider()}&resources_D=DISK_GB:5"
    assert await ask(own, held.asked("", disk=elsewhere)) == NOTHING


async def test_who_holds_nothing_or_is_unknown_has_no_candidate(own: Client) -> None:
    provider = await own.provider(VCPU=4)
    consumer = await claim(own, {provider: {"VCPU": 1}})
    await own.delete(f"/allocations/{consumer}")
    for uuid in (consumer, new_uuid()):
        assert await ask(own, f"resources=VCPU:1&unchanged={uuid}") == NOTHING
