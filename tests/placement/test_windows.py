"""A large cloud is read in windows; an answer must not depend on where they end."""

from dataclasses import replace

import pytest

from kilonova.domain.resources import CandidateQuery, Provider, RequestGroup
from kilonova.placement.index import Index
from kilonova.placement.search import batches, candidates
from kilonova.placement.windows import MOST_ROWS, windows

from .clouds import allof, ask, group, index_of, provider, sharing


def flat(count: int) -> list[Provider]:
    return [provider(number, {"VCPU": 4}, traits=["CUSTOM_A"] * (number == count)) for number in range(1, count + 1)]


def nested(count: int) -> list[Provider]:
    """Roots with two children each; the last root has a trait."""
    found: list[Provider] = []
    for number in range(1, count + 1):
        root = provider(number, traits=["CUSTOM_A"] * (number == count), aggregates=[f"agg{number % 3}"])
        found += [root, *(provider(100_000 * n + number, {"VCPU": 4}, root) for n in (1, 2))]
    return found


CLOUDS = {
    "flat": flat(3000),
    "nested": nested(1500),
    "nested with sharing": [*nested(1400)[:2100], sharing(99_000, {"DISK_GB": 9}, ["agg1"]), *nested(1400)[2100:]],
}


def roots_by_window(index: Index, query: CandidateQuery, limit: int | None) -> list[list[int]]:
    found = []
    for window in windows(index, query, limit):
        rows = index.rows.ids[window.at]
        found.append(rows[window.is_root & (rows >= 0)].tolist())
    return found


@pytest.mark.parametrize("cloud", CLOUDS.values(), ids=CLOUDS.keys())
@pytest.mark.parametrize("limit", [1, 10, 1000, None])
def test_windows_hold_every_tree_once(cloud: list[Provider], limit: int | None) -> None:
    index = index_of(*cloud)
    found = [root for roots in roots_by_window(index, ask(group(VCPU=1)), limit) for root in roots]
    assert sorted(found) == sorted(each.id for each in cloud if each.parent_id is None)


def test_without_a_limit_windows_are_as_large_as_can_be_read_in_a_moment() -> None:
    found = roots_by_window(index_of(*flat(MOST_ROWS + 100)), ask(group(VCPU=1)), None)
    assert [len(roots) for roots in found] == [MOST_ROWS, 100]


@pytest.mark.parametrize("name", CLOUDS)
def test_a_small_limit_reads_a_small_part_first(name: str) -> None:
    first, *others = roots_by_window(index_of(*CLOUDS[name]), ask(group(VCPU=1)), 10)
    assert len(first) < 300
    assert others


@pytest.mark.parametrize("name", CLOUDS)
def test_a_tree_that_is_named_is_all_that_is_read(name: str) -> None:
    index = index_of(*CLOUDS[name])
    query = ask(replace(group(VCPU=1), in_tree="uuid-77"))
    assert roots_by_window(index, query, None) == [[77]]
    assert {candidate.root_id for candidate in candidates(index, query)} == {77}


def test_a_tree_that_only_a_numbered_group_names_may_share_with_others() -> None:
    index = index_of(*CLOUDS["nested with sharing"])
    query = ask(group(VCPU=1), replace(group("_D", DISK_GB=1), in_tree="uuid-99000"))
    found = {candidate.root_id for candidate in candidates(index, query)}
    assert found == {number for number in range(1, 1401) if number % 3 == 1}


def test_two_groups_that_name_different_trees_have_no_answer() -> None:
    index = index_of(*flat(10))
    query = ask(replace(group("_A", VCPU=1), in_tree="uuid-1"), replace(group("_B", VCPU=1), in_tree="uuid-2"))
    assert list(candidates(index, query)) == []


@pytest.mark.parametrize("name", CLOUDS)
def test_the_one_host_that_fits_is_found_behind_all_the_others(name: str) -> None:
    cloud = CLOUDS[name]
    last = max(each.id for each in cloud if each.parent_id is None and each.id < 99_000)
    found = list(candidates(index_of(*cloud), ask(group(VCPU=1), root_required=frozenset(["CUSTOM_A"])), 1))
    assert [candidate.root_id for candidate in found] == [last]


@pytest.mark.parametrize("name", CLOUDS)
def test_a_limit_gives_that_many_hosts_where_there_are_as_many(name: str) -> None:
    index = index_of(*CLOUDS[name])
    for limit in (1, 10, 700):
        found = list(candidates(index, ask(group(VCPU=1)), limit))
        assert len({candidate.root_id for candidate in found}) == len(found) == limit


def test_a_disk_shared_across_windows_is_one_candidate_and_serves_each_of_its_hosts() -> None:
    index = index_of(*CLOUDS["nested with sharing"])
    assert len(list(candidates(index, ask(group(DISK_GB=1)), 10))) == 1
    found = list(candidates(index, ask(group(DISK_GB=1), group("_1", VCPU=1), group_policy="none"), 1000))
    assert len(found) == 2 * 467
    assert len({candidate.root_id for candidate in found}) == 467


def test_a_batch_is_never_so_long_that_writing_it_down_takes_long() -> None:
    found = [batch for batch in batches(index_of(*CLOUDS["flat"]), ask(group(VCPU=1))) if batch is not None]
    assert sum(map(len, found)) == 3000
    assert max(map(len, found)) <= 1024


def test_1001_the_tree_of_in_tree_without_resources_is_read_alone() -> None:
    index = index_of(*CLOUDS["nested"])
    query = ask(RequestGroup(in_tree="uuid-1500", required=allof("CUSTOM_A")), group("_1", VCPU=1))
    found = list(candidates(index, query, 10))
    assert [candidate.root_id for candidate in found] == [1500, 1500]
    assert {candidate.mappings[""] for candidate in found} == {(1500,)}
