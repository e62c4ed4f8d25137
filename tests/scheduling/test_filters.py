from dataclasses import replace

import pytest

from kilonova.scheduling.filters import chosen_filters
from kilonova.scheduling.hosts import AggregateView
from kilonova.scheduling.request import Group, Request, Snapshot

from .cloud import REQUEST, HostLine, codes_of, decide, hosts_of, image, root_of, snapshot


def test_disabled_and_dead_hosts_take_no_servers() -> None:
    decision = decide(REQUEST, snapshot(HostLine("h1", enabled=False), HostLine("h2", up=False), HostLine("h3")))
    assert hosts_of(decision) == ["h3"]
    assert codes_of(decision) == {"host.disabled": ["h1"], "host.down": ["h2"]}


def zoned(*lines: HostLine) -> Snapshot:
    views = {
        1: AggregateView("east", {"availability_zone": "az1"}),
        2: AggregateView("west", {"availability_zone": "az2"}),
        3: AggregateView("ssd", {"ssd": "true"}),
        4: AggregateView("nulled", {"availability_zone": ""}),
    }
    return snapshot(*lines, aggregates=views)


ZONED = (
    HostLine("h1", aggregates=frozenset((1, 3))),
    HostLine("h2", aggregates=frozenset((2,))),
    HostLine("h3", aggregates=frozenset((4,))),
)


@pytest.mark.parametrize(
    ("zone", "hosts"),
    [("az1", {"h1"}), ("nova", {"h3"}), ("az1,az2", {"h1", "h2"}), ("", {"h1", "h2", "h3"}), ("az9", set())],
)
def test_only_hosts_of_the_zone_asked_for_stand(zone: str, hosts: set[str]) -> None:
    assert set(hosts_of(decide(replace(REQUEST, zone=zone), zoned(*ZONED)))) == hosts


def test_an_aggregate_without_a_zone_leaves_its_hosts_in_the_default_one() -> None:
    hosts = zoned(*ZONED).hosts
    assert [hosts.zone_of(row) for row in range(3)] == ["az1", "az2", "nova"]


def test_a_host_kept_for_projects_is_for_them_alone() -> None:
    views = {1: AggregateView("ours", {"filter_tenant_id": "p, q"}), 2: AggregateView("r", {"filter_tenant_id2": "r"})}
    lines = (HostLine("h1", aggregates=frozenset((1,))), HostLine("h2", aggregates=frozenset((2,))), HostLine("h3"))
    decision = decide(REQUEST, snapshot(*lines, aggregates=views))
    assert set(hosts_of(decision)) == {"h1", "h3"}
    assert codes_of(decision) == {"project.isolated": ["h2"]}


PLATFORMS = (
    HostLine("h1"),
    HostLine("h2", arch="aarch64", hypervisor_version=2_010_003),
    HostLine("h3", hypervisor_type="LXC"),
)


@pytest.mark.parametrize(
    ("properties", "hosts"),
    [
        ({"hw_architecture": "amd64"}, {"h1", "h3"}),
        ({"architecture": "aarch64"}, {"h2"}),
        ({"hw_architecture": "aarch64", "architecture": "x86_64"}, {"h2"}),
        ({"img_hv_type": "kvm"}, {"h1", "h2"}),
        ({"hypervisor_type": "lxc"}, {"h3"}),
        ({"hw_vm_mode": "exe"}, {"h3"}),
        ({"vm_mode": "hvm"}, {"h1", "h2"}),
        ({"hypervisor_version_requires": ">=2.11"}, {"h1", "h3"}),
        ({"img_hv_requested_version": ">=2.10,<3"}, {"h2"}),
        ({"os_distro": "debian"}, {"h1", "h2", "h3"}),
    ],
)
def test_a_host_must_run_the_kind_of_machine_that_the_image_asks_for(properties: dict[str, str], hosts: set[str]) -> None:
    decision = decide(replace(REQUEST, image=image(**properties)), snapshot(*PLATFORMS))
    assert set(hosts_of(decision)) == hosts


def in_group(policy: str, members: dict[str, int], **rules: int) -> Request:
    return replace(REQUEST, group=Group("g", policy, rules, members))


THREE = (HostLine("h1"), HostLine("h2"), HostLine("h3"))


def test_affinity_keeps_to_the_hosts_of_the_group() -> None:
    assert hosts_of(decide(in_group("affinity", {"h2": 1, "h3": 0}), snapshot(*THREE))) == ["h2"]


def test_the_first_of_an_affinity_group_may_go_anywhere() -> None:
    assert len(hosts_of(decide(in_group("affinity", {}), snapshot(*THREE)))) == 3


def test_anti_affinity_keeps_off_the_hosts_of_the_group() -> None:
    decision = decide(in_group("anti-affinity", {"h1": 1, "h2": 1}), snapshot(*THREE))
    assert hosts_of(decision) == ["h3"]
    assert codes_of(decision) == {"group.anti_affinity": ["h1", "h2"]}


def test_anti_affinity_counts_up_to_the_rule() -> None:
    assert set(hosts_of(decide(in_group("anti-affinity", {"h1": 1, "h2": 2}, max_server_per_host=2), snapshot(*THREE)))) == {
        "h1",
        "h3",
    }


def test_both_of_one_anti_affinity_request_land_apart_even_where_one_host_is_preferred() -> None:
    """Case C037: the second is decided with the first counted in."""
    cloud = snapshot(HostLine("h1", free_ram_mb=9000), HostLine("h2"))
    group = Group("g", "anti-affinity")
    first = hosts_of(decide(replace(REQUEST, group=group), cloud))[0]
    second = hosts_of(decide(replace(REQUEST, group=group.with_member(first)), cloud))
    assert first == "h1"
    assert second == ["h2"]


def test_a_hint_finds_the_only_host_it_allows_among_many_better_ones() -> None:
    """Case C041: all candidates reach the filters, so no cap can hide the host; here only one host is ever named."""
    cloud = snapshot(HostLine("h1", free_ram_mb=1), HostLine("h2", free_ram_mb=9000), HostLine("h3", free_ram_mb=9000))
    near = replace(REQUEST, hints={"same_host": ["s1"]}, hosts_by_server={"s1": "h1"})
    apart = replace(REQUEST, hints={"different_host": ["s2", "s3"]}, hosts_by_server={"s2": "h2", "s3": "h3"})
    assert hosts_of(decide(near, cloud, max_alternates=1)) == ["h1"]
    assert hosts_of(decide(apart, cloud, max_alternates=1)) == ["h1"]


def test_a_hint_may_be_one_id_and_may_name_a_server_that_is_nowhere() -> None:
    assert hosts_of(decide(replace(REQUEST, hints={"same_host": "gone"}), snapshot(*THREE))) == []
    assert len(hosts_of(decide(replace(REQUEST, hints={"different_host": "gone"}), snapshot(*THREE)))) == 3


def test_tried_hosts_other_cells_and_other_than_the_requested_host_fall() -> None:
    cloud = snapshot(HostLine("h1"), HostLine("h2"), HostLine("h3", cell="cell2"))
    assert codes_of(decide(replace(REQUEST, exclude_hosts=frozenset(("h1",))), cloud)) == {"host.tried": ["h1"]}
    assert codes_of(decide(replace(REQUEST, only_cell="cell2"), cloud)) == {"cell.other": ["h1", "h2"]}
    assert hosts_of(decide(replace(REQUEST, only_host="h1"), cloud)) == ["h1"]


def test_a_forced_host_is_not_asked_by_the_filters() -> None:
    cloud = snapshot(HostLine("h1", enabled=False), HostLine("h2"))
    assert hosts_of(decide(replace(REQUEST, only_host="h1", forced=True), cloud)) == ["h1"]


def test_settings_choose_the_filters_and_an_unknown_name_is_refused() -> None:
    assert hosts_of(decide(REQUEST, snapshot(HostLine("h1", enabled=False)), enabled_filters=())) == ["h1"]
    with pytest.raises(ValueError, match="NoSuchFilter"):
        chosen_filters(("ComputeFilter", "NoSuchFilter"))


def test_roots_that_are_no_hosts_are_left_out() -> None:
    cloud = snapshot(*THREE)
    roots = cloud.matched_root_ids.copy()
    roots[:] = (999, root_of("h2"), 1)
    decision = decide(REQUEST, replace(cloud, matched_root_ids=roots))
    assert hosts_of(decision) == ["h2"]
