"""Joins the search with the scheduler: requests and the present cloud in, a host with its candidate for each, out.

Requests of one batch see each other's plans, so that a burst does not pile up on one host.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from kilonova.domain.resources import DISK_GB, MEMORY_MB, VCPU, Candidate
from kilonova.placement.index import Index
from kilonova.placement.search import match
from kilonova.placement.usage import Usage
from kilonova.scheduling.explain import Explanation
from kilonova.scheduling.hosts import AggregateView, Hosts
from kilonova.scheduling.request import FreeAmounts, Request, Snapshot
from kilonova.scheduling.select import select
from kilonova.scheduling.settings import SelectSettings
from kilonova.storage.topology import Topology


@dataclass(frozen=True, slots=True)
class Plan:
    """Where one server would go: nowhere where `candidate` is None. `zone` is the host's availability zone."""

    explanation: Explanation
    candidate: Candidate | None = None
    host: str = ""
    zone: str = ""
    score: float = 0.0


def hosts_of(topology: Topology, default_zone: str) -> Hosts:
    """The topology as the scheduler's columns."""
    rows = list(topology.hosts.values())
    in_aggregates: dict[str, set[int]] = {}
    for aggregate in topology.aggregates.values():
        for name in aggregate.hosts:
            in_aggregates.setdefault(name, set()).add(aggregate.id)
    return Hosts(
        names=tuple(row.name for row in rows),
        cells=tuple(row.cell for row in rows),
        root_ids=np.array([row.root_id for row in rows], dtype=np.int64),
        up=np.array([row.is_up for row in rows], dtype=np.bool_),
        enabled=np.array([not row.disabled for row in rows], dtype=np.bool_),
        disabled_reason=tuple(row.disabled_reason for row in rows),
        arch=tuple(str(row.hypervisor.get("arch", "")) for row in rows),
        hypervisor_type=tuple(str(row.hypervisor.get("type", "")) for row in rows),
        hypervisor_version=tuple(int(row.hypervisor.get("version", 0)) for row in rows),
        aggregates=tuple(frozenset(in_aggregates.get(row.name, ())) for row in rows),
        servers=np.zeros(len(rows), dtype=np.int64),
        failed_builds=np.array([row.failed_builds for row in rows], dtype=np.int64),
        aggregates_by_id={entry.id: AggregateView(entry.name, entry.metadata) for entry in topology.aggregates.values()},
        default_zone=default_zone,
    )


class Planner:
    """Plans batches of requests; `choose` breaks ties among hosts that are equally good."""

    def __init__(self, settings: SelectSettings, choose: Random) -> None:
        self._settings = settings
        self._choose = choose

    def plan(self, requests: Sequence[Request], index: Index, hosts: Hosts) -> list[Plan]:
        """A plan for each request, in order; each takes its amounts before the next is looked at."""
        usage = index.usage()
        planned_members: dict[str, list[str]] = {}
        plans = []
        for request in requests:
            if request.group is not None:
                request = _with_members(request, planned_members.get(request.group.id, ()))
            plan = self._one(request, index, hosts, usage)
            plans.append(plan)
            if request.group is not None and plan.candidate is not None:
                planned_members.setdefault(request.group.id, []).append(plan.host)
        return plans

    def _one(self, request: Request, index: Index, hosts: Hosts, usage: Usage) -> Plan:
        matches = match(index, request.query, usage)
        free = FreeAmounts(
            free_ram_mb=index.free(MEMORY_MB, hosts.root_ids, usage).astype(np.float64),
            free_disk_gb=index.free(DISK_GB, hosts.root_ids, usage).astype(np.float64),
            free_vcpus=index.free(VCPU, hosts.root_ids, usage).astype(np.float64),
        )
        snapshot = Snapshot(hosts, free, matches.roots, matches.misses)
        decision = select(request, snapshot, self._settings, self._choose)
        if not decision.ranked:
            return Plan(decision.explanation)
        best = decision.ranked[0]
        candidate = matches.first(best.root_id)
        usage.take(candidate)
        row = int(hosts.rows_of(np.array([best.root_id], dtype=np.int64))[0])
        return Plan(decision.explanation, candidate, best.host, hosts.zone_of(row), best.score)


def _with_members(request: Request, planned: Sequence[str]) -> Request:
    assert request.group is not None
    group = request.group
    for host in planned:
        group = group.with_member(host)
    return replace(request, group=group)
