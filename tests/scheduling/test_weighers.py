from dataclasses import replace

import numpy as np
import pytest

from kilonova.scheduling.request import Group
from kilonova.scheduling.settings import SelectSettings
from kilonova.scheduling.weighers import weigh

from .cloud import REQUEST, HostLine, decide, hosts_of, snapshot

OFF = ("ram_weight_multiplier", "cpu_weight_multiplier", "disk_weight_multiplier", "build_failure_weight_multiplier")


@pytest.mark.parametrize(
    ("multiplier", "better"),
    [
        ("ram_weight_multiplier", HostLine("h2", free_ram_mb=9000)),
        ("cpu_weight_multiplier", HostLine("h2", free_vcpus=9)),
        ("disk_weight_multiplier", HostLine("h2", free_disk_gb=90)),
        ("num_instances_weight_multiplier", HostLine("h2", servers=5)),
    ],
)
def test_more_is_better_and_a_negative_multiplier_turns_it_round(multiplier: str, better: HostLine) -> None:
    cloud = snapshot(HostLine("h1"), better)
    off: dict[str, object] = dict.fromkeys(OFF, 0.0)
    assert hosts_of(decide(REQUEST, cloud, 1, **(off | {multiplier: 1.0}))) == ["h2", "h1"]
    assert hosts_of(decide(REQUEST, cloud, 1, **(off | {multiplier: -1.0}))) == ["h1", "h2"]


def test_a_host_where_builds_fail_comes_last_however_much_is_free_there() -> None:
    cloud = snapshot(HostLine("h1", failed_builds=1, free_ram_mb=9e6, free_vcpus=999, free_disk_gb=9e6), HostLine("h2"))
    assert hosts_of(decide(REQUEST, cloud)) == ["h2", "h1"]


@pytest.mark.parametrize(("policy", "first"), [("soft-affinity", "h1"), ("soft-anti-affinity", "h2")])
def test_soft_policies_prefer_and_never_forbid(policy: str, first: str) -> None:
    request = replace(REQUEST, group=Group("g", policy, {}, {"h1": 2}))
    hosts = hosts_of(decide(request, snapshot(HostLine("h1"), HostLine("h2"))))
    assert hosts[0] == first
    assert len(hosts) == 2


def test_scores_are_normalised_sums_and_equal_hosts_add_nothing() -> None:
    cloud = snapshot(
        HostLine("h1", free_ram_mb=0), HostLine("h2", free_ram_mb=512), HostLine("h3", free_ram_mb=1024, free_vcpus=8)
    )
    settings = SelectSettings(ram_weight_multiplier=2.0)
    scores = weigh(REQUEST, cloud.hosts, np.arange(3), cloud.free, settings)
    assert scores.tolist() == [0.0, 1.0, 3.0]


def test_newer_counts_keep_what_was_worked_out() -> None:
    hosts = snapshot(HostLine("h1"), HostLine("h2")).hosts
    zones = hosts.zones
    newer = hosts.with_counts(np.array([3, 4]), np.array([0, 1]))
    assert newer.servers.tolist() == [3, 4]
    assert newer.failed_builds.tolist() == [0, 1]
    assert newer.zones is zones
