from dataclasses import replace

import pytest

from kilonova.domain.errors import BadRequest, NotFound
from kilonova.domain.resources import Candidate, CandidateQuery, Inventory, Provider, RequestGroup
from kilonova.placement.index import Index
from kilonova.placement.search import candidates, explore, match
from kilonova.placement.topology import SHARES

from .clouds import allof, ask, group, index_of, provider, sharing


def allocations(index: Index, query: CandidateQuery) -> list[dict[int, dict[str, int]]]:
    found = [{p: dict(amounts) for p, amounts in c.allocations.items()} for c in candidates(index, query)]
    return sorted(found, key=lambda each: sorted((p, sorted(amounts.items())) for p, amounts in each.items()))


def providers_of(found: list[Candidate]) -> list[tuple[int, ...]]:
    return sorted(tuple(sorted(candidate.allocations)) for candidate in found)


def devices(hosts: int, each: int) -> Index:
    """Hosts with VCPU and equal devices of one unit below them."""
    found: list[Provider] = []
    for host in range(hosts):
        root = provider(host * 1000 + 1, {"VCPU": 8})
        found += [root, *(provider(root.id + n, {"CUSTOM_DEV": 1}, root) for n in range(1, each + 1))]
    return index_of(*found)


def device_groups(count: int, policy: str = "none") -> CandidateQuery:
    return ask(*(group(f"_{n}", CUSTOM_DEV=1) for n in range(count)), group_policy=policy)


def test_a_flat_host_gives_one_candidate_with_all_its_amounts() -> None:
    (found,) = candidates(index_of(provider(1, {"VCPU": 4, "DISK_GB": 9})), ask(group(VCPU=2, DISK_GB=3)))
    assert found == Candidate(1, {1: {"VCPU": 2, "DISK_GB": 3}}, {"": (1,)})


def test_classes_of_the_unsuffixed_group_may_come_from_several_providers_of_a_tree() -> None:
    root = provider(1, {"DISK_GB": 9})
    index = index_of(root, provider(2, {"VCPU": 4}, root), provider(3, {"VCPU": 4}, root))
    found = list(candidates(index, ask(group(VCPU=2, DISK_GB=3))))
    assert providers_of(found) == [(1, 2), (1, 3)]
    assert {c.mappings[""] for c in found} == {(1, 2), (1, 3)}


def test_an_amount_is_never_split_over_providers() -> None:
    root = provider(1)
    index = index_of(root, provider(2, {"VCPU": 4}, root), provider(3, {"VCPU": 4}, root))
    assert allocations(index, ask(group(VCPU=6))) == []


def test_groups_on_one_provider_must_fit_together() -> None:
    query = ask(group("_A", VCPU=2), group("_B", VCPU=2), group_policy="none")
    assert allocations(index_of(provider(1, {"VCPU": 4})), query) == [{1: {"VCPU": 4}}]
    assert allocations(index_of(provider(1, {"VCPU": 3})), query) == []
    assert allocations(index_of(provider(1, {"VCPU": Inventory(8, max_unit=3)})), query) == []


def test_isolated_groups_are_on_providers_of_their_own_but_the_unsuffixed_may_join_one() -> None:
    root = provider(1, {"VCPU": 8})
    index = index_of(root, provider(2, {"VCPU": 8}, root))
    apart = ask(group("_A", VCPU=1), group("_B", VCPU=2), group_policy="isolate")
    assert allocations(index, apart) == [{1: {"VCPU": 1}, 2: {"VCPU": 2}}, {1: {"VCPU": 2}, 2: {"VCPU": 1}}]
    joined = ask(group(VCPU=4), *apart.groups, group_policy="isolate")
    assert {1: {"VCPU": 5}, 2: {"VCPU": 2}} in allocations(index, joined)


def test_equal_amounts_with_other_mappings_are_other_candidates() -> None:
    root = provider(1)
    index = index_of(root, *(provider(n, {"CUSTOM_DEV": 1}, root) for n in (2, 3)))
    found = list(candidates(index, device_groups(2)))
    assert [dict(c.mappings) for c in found] == [{"_0": (2,), "_1": (3,)}, {"_0": (3,), "_1": (2,)}]


def test_required_traits_of_the_unsuffixed_group_are_met_together_by_the_providers_used() -> None:
    root = provider(1, {"VCPU": 8}, traits=["CUSTOM_A"])
    index = index_of(root, provider(2, {"DISK_GB": 9}, root, ["CUSTOM_B"]), provider(3, {"DISK_GB": 9}, root))
    wanted = replace(group(VCPU=1, DISK_GB=1), required=allof("CUSTOM_A", "CUSTOM_B"))
    assert providers_of(list(candidates(index, ask(wanted)))) == [(1, 2)]


def test_a_suffixed_group_needs_all_its_traits_on_its_one_provider() -> None:
    root = provider(1, {"VCPU": 8}, traits=["CUSTOM_A"])
    index = index_of(root, provider(2, {"VCPU": 8}, root, ["CUSTOM_A", "CUSTOM_B"]))
    wanted = replace(group("_1", VCPU=1), required=allof("CUSTOM_A", "CUSTOM_B"))
    assert providers_of(list(candidates(index, ask(wanted)))) == [(2,)]


def test_one_trait_of_an_any_of_set_is_enough() -> None:
    index = index_of(*(provider(n, {"VCPU": 8}, traits=[f"CUSTOM_{n}"]) for n in (1, 2, 3)))
    wanted = replace(group(VCPU=1), required=(frozenset(["CUSTOM_1", "CUSTOM_3"]),))
    assert match(index, ask(wanted)).roots.tolist() == [1, 3]


def test_c157_a_child_may_bring_the_required_trait_and_a_forbidden_one_excludes_it() -> None:
    root = provider(1)
    index = index_of(root, provider(2, {"CUSTOM_PF": 1}, root, ["CUSTOM_T"]))
    wanted = group(CUSTOM_PF=1)
    assert allocations(index, ask(replace(wanted, required=allof("CUSTOM_T")))) == [{2: {"CUSTOM_PF": 1}}]
    assert allocations(index, ask(replace(wanted, forbidden=frozenset(["CUSTOM_T"])))) == []


def test_c143_a_host_with_a_disk_of_its_own_may_also_use_a_shared_one() -> None:
    query = ask(group(VCPU=1, DISK_GB=5))
    disk = sharing(2, {"DISK_GB": 9}, ["agg"])
    roomy = index_of(provider(1, {"VCPU": 4, "DISK_GB": 9}, aggregates=["agg"]), disk)
    assert providers_of(list(candidates(roomy, query))) == [(1,), (1, 2)]
    tight = index_of(provider(1, {"VCPU": 4, "DISK_GB": 4}, aggregates=["agg"]), disk)
    assert providers_of(list(candidates(tight, query))) == [(1, 2)]


def test_a_tree_is_reached_by_sharing_when_any_of_its_providers_is_in_the_aggregate() -> None:
    root = provider(1, {"VCPU": 4})
    index = index_of(root, provider(2, parent=root, aggregates=["agg"]), sharing(3, {"DISK_GB": 9}, ["agg"]))
    assert providers_of(list(candidates(index, ask(group(VCPU=1, DISK_GB=1))))) == [(1, 3)]


def test_what_only_sharing_providers_give_is_one_candidate_however_many_hosts_it_reaches() -> None:
    hosts = [provider(n, {"VCPU": 4}, aggregates=["agg"]) for n in (1, 2, 3)]
    index = index_of(*hosts, sharing(9, {"DISK_GB": 9}, ["agg"]))
    assert allocations(index, ask(group(DISK_GB=1))) == [{9: {"DISK_GB": 1}}]
    assert match(index, ask(group(DISK_GB=1))).roots.tolist() == []


def test_shared_disk_with_numbered_numa_groups_loses_no_candidate() -> None:
    found: list[Provider] = [sharing(n, {"DISK_GB": 900}, ["agg"]) for n in (1, 2)]
    for number in range(10, 70):
        root = provider(number * 10, aggregates=["agg"])
        found += [root, provider(root.id + 1, {"VCPU": 8}, root)]
    query = ask(group(DISK_GB=5), group("_NUMA", VCPU=2), group_policy="none")
    assert len(list(candidates(index_of(*found), query))) == 120


def test_c141_a_symmetric_tree_with_sharing_gives_no_two_equal_candidates() -> None:
    root = provider(1, aggregates=["agg1", "agg2"])
    children = [provider(n, {"CUSTOM_PF": 1}, root) for n in (2, 3)]
    disks = [sharing(n, {"CUSTOM_PF": 1}, ["agg1", "agg2"]) for n in (4, 5)]
    query = ask(group("_A", CUSTOM_PF=1), group("_B", CUSTOM_PF=1), group_policy="isolate")
    found = [(c.mappings["_A"], c.mappings["_B"]) for c in candidates(index_of(root, *children, *disks), query)]
    assert len(found) == len(set(found)) == 12


def test_aggregates_of_a_root_span_its_tree_for_the_unsuffixed_group_only() -> None:
    root = provider(1, aggregates=["agg"])
    index = index_of(root, provider(2, {"VCPU": 4}, root))
    assert match(index, ask(replace(group(VCPU=1), member_of=allof("agg")))).roots.tolist() == [1]
    assert match(index, ask(replace(group(VCPU=1), forbidden_aggregates=frozenset(["agg"])))).roots.tolist() == []
    assert match(index, ask(replace(group("_1", VCPU=1), member_of=allof("agg")))).roots.tolist() == []


def test_in_tree_keeps_the_unsuffixed_group_in_the_tree_and_lets_a_suffixed_one_pick_a_sharing_provider() -> None:
    hosts = [provider(n, {"VCPU": 4, "DISK_GB": 9}, aggregates=["agg"]) for n in (1, 2)]
    index = index_of(*hosts, sharing(9, {"DISK_GB": 9}, ["agg"]))
    inside = replace(group(VCPU=1, DISK_GB=1), in_tree="uuid-1")
    assert providers_of(list(candidates(index, ask(inside)))) == [(1,)]
    disk = replace(group("_D", DISK_GB=1), in_tree="uuid-9")
    assert providers_of(list(candidates(index, ask(group(VCPU=1), disk)))) == [(1, 9), (2, 9)]


def test_root_traits_are_asked_of_the_root_of_the_host_not_of_what_shares_with_it() -> None:
    hosts = [provider(n, {"VCPU": 4}, traits=["CUSTOM_A"] * (n == 1), aggregates=["agg"]) for n in (1, 2)]
    index, wanted = index_of(*hosts, sharing(9, {"DISK_GB": 9}, ["agg"])), group(VCPU=1, DISK_GB=1)
    assert match(index, ask(wanted, root_required=frozenset(["CUSTOM_A"]))).roots.tolist() == [1]
    assert match(index, ask(wanted, root_forbidden=frozenset(["CUSTOM_A"]))).roots.tolist() == [2]


def test_same_subtree_puts_one_of_the_providers_above_the_others() -> None:
    root = provider(1)
    nodes = [provider(n, {"VCPU": 4}, root) for n in (2, 3)]
    cards = [provider(node.id + 10, {"CUSTOM_FPGA": 1}, node) for node in nodes]
    query = ask(group("_C", VCPU=1), group("_F", CUSTOM_FPGA=1), group_policy="none", same_subtree=(frozenset(["_C", "_F"]),))
    index = index_of(root, *nodes, *cards)
    assert providers_of(list(candidates(index, query))) == [(2, 12), (3, 13)]


def test_same_subtree_tells_sharing_providers_of_one_tree_from_those_of_two() -> None:
    hosts = [provider(n, {"VCPU": 4}, aggregates=[f"agg{n}"]) for n in (1, 2)]
    store = sharing(3, {"DISK_GB": 9}, ["agg1"])
    below = provider(4, {"CUSTOM_FPGA": 1}, store, [SHARES], ["agg1"])
    apart = [sharing(5, {"DISK_GB": 9}, ["agg2"]), sharing(6, {"CUSTOM_FPGA": 1}, ["agg2"])]
    query = ask(
        group(VCPU=1),
        group("_D", DISK_GB=1),
        group("_F", CUSTOM_FPGA=1),
        group_policy="none",
        same_subtree=(frozenset(["_D", "_F"]),),
    )
    index = index_of(*hosts, store, below, *apart)
    assert providers_of(list(candidates(index, query))) == [(1, 3, 4)]
    assert match(index, query).roots.tolist() == [1]


def test_a_group_without_resources_is_mapped_but_not_allocated() -> None:
    root = provider(1)
    nodes = [provider(n, parent=root, traits=["HW_NUMA_ROOT"]) for n in (2, 3)]
    cards = [provider(n, {"CUSTOM_FPGA": 1}, nodes[1]) for n in (4, 5)]
    query = ask(
        RequestGroup("_N", required=allof("HW_NUMA_ROOT")),
        group("_A", CUSTOM_FPGA=1),
        group("_B", CUSTOM_FPGA=1),
        group_policy="isolate",
        same_subtree=(frozenset(["_N", "_A", "_B"]),),
    )
    found = list(candidates(index_of(root, *nodes, *cards), query))
    assert providers_of(found) == [(4, 5), (4, 5)]
    assert all(candidate.mappings["_N"] == (3,) for candidate in found)


def test_1001_in_tree_without_resources_asks_about_the_whole_tree() -> None:
    root = provider(1, traits=["CUSTOM_A"], aggregates=["agg"])
    index = index_of(root, provider(2, parent=root, traits=["CUSTOM_B"]), provider(3, {"VCPU": 1}))
    tree = RequestGroup(in_tree="uuid-2", required=allof("CUSTOM_A", "CUSTOM_B"), member_of=allof("agg"))
    assert list(candidates(index, ask(tree))) == [Candidate(1, {}, {"": (1, 2)})]
    assert list(candidates(index, ask(RequestGroup(in_tree="uuid-2")))) == [Candidate(1, {}, {"": (1,)})]
    assert list(candidates(index, ask(replace(tree, forbidden=frozenset(["CUSTOM_B"]))))) == []
    assert list(candidates(index, ask(replace(tree, in_tree="uuid-9")))) == []


def test_1001_in_tree_without_resources_fixes_the_root_of_the_other_groups() -> None:
    index = index_of(*(provider(n, {"VCPU": 1}) for n in (1, 2)))
    query = ask(RequestGroup(in_tree="uuid-2"), group("_1", VCPU=1))
    assert list(candidates(index, query)) == [Candidate(2, {2: {"VCPU": 1}}, {"": (2,), "_1": (2,)})]


def test_c149_a_limited_answer_shows_every_host() -> None:
    found = list(candidates(devices(2, 8), device_groups(6), 100))
    assert len(found) == 100
    assert [sum(c.root_id == root for c in found) for root in (1, 1001)] == [50, 50]


@pytest.mark.parametrize("size", [8, 16, 32, 64])
@pytest.mark.parametrize("policy", ["none", "isolate"])
def test_c151_as_many_groups_as_equal_devices_are_answered(size: int, policy: str) -> None:
    found = list(candidates(devices(1, size), device_groups(size, policy), 1000))
    assert len({tuple(sorted(c.mappings.items())) for c in found}) == 1000


@pytest.mark.parametrize("policy", ["none", "isolate"])
def test_c151_one_group_more_than_devices_is_told_apart_at_once(policy: str) -> None:
    index, query = devices(1, 63), device_groups(64, policy)
    assert list(candidates(index, query)) == []
    (miss,) = match(index, query).misses
    assert (miss.code, miss.roots) == ("combination", (1,))


def test_unequal_devices_do_not_make_a_hopeless_search_long() -> None:
    root = provider(1)
    cards = [provider(n + 2, {"CUSTOM_DEV": n + 1}, root) for n in range(24)]
    groups = [group(f"_{n}", CUSTOM_DEV=1 if n else 2) for n in range(25)]
    assert list(candidates(index_of(root, *cards), ask(*groups, group_policy="isolate"))) == []


def test_a_long_search_says_now_and_then_that_it_is_still_at_it() -> None:
    root = provider(1)
    cards = [provider(n + 2, {"CUSTOM_DEV": 3 + n, "VCPU": 13 - n}, root) for n in range(10)]
    groups = [group(f"_{n}", CUSTOM_DEV=2 + n % 3, VCPU=2 + n % 3) for n in range(24)]
    # Class by class there is room, so that only trying shows that the two do not fit together.
    steps = explore(index_of(root, *cards), ask(*groups, group_policy="none"))
    assert [next(steps) for _ in range(3)] == [None] * 3


@pytest.mark.parametrize(
    ("host", "wanted", "miss"),
    [
        (provider(1, {"VCPU": Inventory(8, used=6)}), group(VCPU=4), ("resource.capacity", "VCPU", 4, 2)),
        (provider(1, {"VCPU": Inventory(8, max_unit=3)}), group(VCPU=4), ("resource.unit", "VCPU", 4, None)),
        (provider(1, {"VCPU": Inventory(8, max_unit=8)}), group(VCPU=9), ("resource.capacity", "VCPU", 9, 8)),
        (provider(1, {"VCPU": 8}), group(VCPU=4, DISK_GB=1), ("resource.absent", "DISK_GB", 1, None)),
        (
            provider(1, {"VCPU": 8}),
            replace(group(VCPU=1), required=allof("CUSTOM_A")),
            ("trait.missing", "CUSTOM_A", None, None),
        ),
        (
            provider(1, {"VCPU": 8}, traits=["CUSTOM_A"]),
            replace(group(VCPU=1), forbidden=frozenset(["CUSTOM_A"])),
            ("trait.forbidden", "CUSTOM_A", None, None),
        ),
        (
            provider(1, {"VCPU": 8}),
            replace(group(VCPU=1), member_of=allof("agg")),
            ("aggregate", "agg", None, None),
        ),
        (provider(1, {"VCPU": 8}), replace(group(VCPU=1), in_tree="uuid-2"), ("tree", "uuid-2", None, None)),
    ],
)
def test_a_host_that_falls_out_is_told_why(
    host: Provider, wanted: RequestGroup, miss: tuple[str, str, int | None, int | None]
) -> None:
    (found,) = match(index_of(host), ask(wanted)).misses
    assert (found.code, found.subject, found.asked, found.most_free) == miss
    assert found.roots == (1,)


def test_the_nearest_miss_is_the_most_free_of_those_that_fell() -> None:
    index = index_of(*(provider(n, {"VCPU": Inventory(8, used=used)}) for n, used in ((1, 7), (2, 5), (3, 0))))
    (miss,) = match(index, ask(group(VCPU=4))).misses
    assert (miss.roots, miss.most_free) == ((1, 2), 3)


def test_a_trait_that_the_host_has_but_not_where_the_resources_are_is_told_apart() -> None:
    root = provider(1, {"VCPU": 8})
    index = index_of(root, provider(2, {"DISK_GB": 1}, root, ["CUSTOM_A"]))
    (miss,) = match(index, ask(replace(group(VCPU=1), required=allof("CUSTOM_A")))).misses
    assert (miss.code, miss.subject) == ("trait.elsewhere", "CUSTOM_A")


def test_rules_that_tie_groups_are_named_when_they_alone_stand_in_the_way() -> None:
    flat, groups = provider(1, {"VCPU": 8}), (group("_A", VCPU=1), group("_B", VCPU=1))
    (miss,) = match(index_of(flat), ask(*groups, group_policy="isolate")).misses
    assert (miss.code, miss.subject) == ("group_policy", "isolate")
    root = provider(1)
    cards = [provider(2, {"VCPU": 1}, root), provider(3, {"VCPU": 1}, root)]
    tied = ask(*groups, group_policy="none", same_subtree=(frozenset(["_A", "_B"]),))
    (miss,) = match(index_of(root, *cards), tied).misses
    assert miss.code == "same_subtree"


def test_first_of_a_host_that_does_not_fit_is_not_found() -> None:
    matches = match(index_of(provider(1, {"VCPU": 1})), ask(group(VCPU=2)))
    with pytest.raises(NotFound):
        matches.first(1)


@pytest.mark.parametrize("query", [ask(), ask(RequestGroup(required=allof("CUSTOM_A")))])
def test_a_query_that_asks_for_no_resources_is_refused_at_once(query: CandidateQuery) -> None:
    with pytest.raises(BadRequest):
        candidates(Index(), query)


def test_a_provider_that_moves_within_its_tree_is_searched_for_in_its_new_place() -> None:
    root = provider(1)
    nodes = [provider(n, {"VCPU": 4}, root) for n in (2, 3)]
    index = index_of(root, *nodes, provider(4, {"CUSTOM_FPGA": 1}, nodes[0]))
    query = ask(group("_C", VCPU=1), group("_F", CUSTOM_FPGA=1), group_policy="none", same_subtree=(frozenset(["_C", "_F"]),))
    assert providers_of(list(candidates(index, query))) == [(2, 4)]
    index.apply([provider(4, {"CUSTOM_FPGA": 1}, nodes[1])], [])
    assert providers_of(list(candidates(index, query))) == [(3, 4)]


def test_a_host_that_joins_or_leaves_an_aggregate_is_or_is_no_more_reached_by_sharing() -> None:
    index = index_of(provider(1, {"VCPU": 4}), sharing(9, {"DISK_GB": 9}, ["agg"]))
    query = ask(group(VCPU=1, DISK_GB=1))
    for aggregates, expected in ((["agg"], [(1, 9)]), ([], [])):
        index.apply([provider(1, {"VCPU": 4}, aggregates=aggregates)], [])
        assert providers_of(list(candidates(index, query))) == expected


def test_a_provider_that_begins_or_ceases_to_share_is_searched_as_such() -> None:
    index = index_of(provider(1, {"VCPU": 4}, aggregates=["agg"]), provider(9, {"DISK_GB": 9}, aggregates=["agg"]))
    query = ask(group(VCPU=1, DISK_GB=1))
    for traits, expected in (([], []), ([SHARES], [(1, 9)]), (["CUSTOM_A"], [])):
        index.apply([provider(9, {"DISK_GB": 9}, traits=traits, aggregates=["agg"])], [])
        assert providers_of(list(candidates(index, query))) == expected
