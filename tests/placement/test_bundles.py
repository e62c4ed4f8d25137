"""Which trees are one problem to the solver."""

from collections.abc import Mapping

import numpy as np

from kilonova.domain.resources import CandidateQuery, Inventory, Provider, RequestGroup
from kilonova.placement.bundles import Bundler
from kilonova.placement.plan import make_plan
from kilonova.placement.reading import Reading

from .clouds import allof, ask, group, index_of, provider, sharing

TWO_NODES = ask(group("_A", VCPU=2), group("_B", VCPU=4), group_policy="none")
APART = ask(group("_A", VCPU=2), group("_B", VCPU=4), group_policy="isolate")


def host(number: int, used: tuple[int, ...], other: Mapping[str, Inventory] | None = None) -> list[Provider]:
    """A root with children of 16 VCPU each, of which some are used."""
    root = provider(number, dict(other or {}), aggregates=["agg"])
    return [root, *(provider(number + n + 1, {"VCPU": Inventory(16, used=each)}, root) for n, each in enumerate(used))]


def bundles_of(hosts: list[list[Provider]], query: CandidateQuery) -> list[list[int]]:
    """The ids of the roots, bundle by bundle."""
    index = index_of(*(each for host in hosts for each in host))
    plan = make_plan(Reading(index, None), query)
    found = Bundler(plan).bundles(np.flatnonzero(plan.roots & plan.wide))
    return sorted(index.rows.ids[bundle.roots].tolist() for bundle in found)


def test_hosts_with_loads_that_make_no_difference_are_one_problem() -> None:
    hosts = [host(10, (0, 0)), host(20, (1, 10)), host(30, (7, 3))]
    assert bundles_of(hosts, TWO_NODES) == [[10, 20, 30]]


def test_room_for_one_group_less_is_another_problem() -> None:
    hosts = [host(10, (0, 0)), host(20, (11, 0)), host(30, (12, 0)), host(40, (12, 1))]
    assert bundles_of(hosts, TWO_NODES) == [[10], [20, 30, 40]]


def test_room_for_all_groups_makes_no_difference_where_they_keep_apart() -> None:
    hosts = [host(10, (0, 0)), host(20, (12, 0)), host(30, (13, 0))]
    assert bundles_of(hosts, APART) == [[10, 20], [30]]


def test_what_is_not_asked_for_makes_no_difference() -> None:
    hosts = [host(10, (0, 0), {"DISK_GB": Inventory(5)}), host(20, (0, 0), {"MEMORY_MB": Inventory(9, used=3)})]
    assert bundles_of(hosts, TWO_NODES) == [[10, 20]]


def test_trees_of_other_shape_and_trees_with_other_guests_are_other_problems() -> None:
    three = host(10, (0, 0, 0))
    disks = [sharing(number, {"VCPU": 16}, ["agg2"]) for number in (91, 92)]
    reached = provider(33, {"VCPU": 16}, host(30, (0, 0))[0], aggregates=["agg2"])
    also = provider(43, {"VCPU": 16}, host(40, (0, 0))[0], aggregates=["agg2"])
    hosts = [three, host(20, (0, 0)), [*host(30, (0, 0)), reached], [*host(40, (0, 0)), also], disks]
    assert bundles_of(hosts, TWO_NODES)[:3] == [[10], [20], [30, 40]]


def test_sums_too_many_to_tell_apart_still_make_equal_problems_of_ample_hosts() -> None:
    query = ask(*(group(f"_{n}", VCPU=2**n) for n in range(10)), group_policy="none")
    root = [provider(number, {"DISK_GB": 1}) for number in (1, 11)]
    nodes = [[provider(r.id + n, {"VCPU": Inventory(5000, used=n * r.id)}, r) for n in (1, 2)] for r in root]
    assert bundles_of([[r, *below] for r, below in zip(root, nodes, strict=True)], query) == [[1, 11]]


def test_room_for_two_is_another_problem_also_where_hundreds_of_other_sums_lie_between() -> None:
    # A small node may serve the first two groups, apart or together; 255 sums of the others lie between 1200 and 1500.
    large = (RequestGroup(f"_{n}", {"VCPU": 1200 + n}, required=allof("CUSTOM_LARGE")) for n in range(1, 256))
    query = ask(group(VCPU=1000), group("_A", VCPU=500), *large, group_policy="isolate")
    hosts = []
    for number, room in ((10, 1500), (20, 1200)):
        root = provider(number)
        nodes = provider(number + 1, {"VCPU": 9999}, root, ["CUSTOM_LARGE"]), provider(number + 2, {"VCPU": room}, root)
        hosts.append([root, *nodes])
    assert bundles_of(hosts, query) == [[10], [20]]
