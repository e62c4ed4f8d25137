"""A small cloud to schedule on: hosts written as one line each, and what is free on them."""

from dataclasses import dataclass, replace
from random import Random

import numpy as np

from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.domain.resources import Miss
from kilonova.scheduling.hosts import AggregateView, Hosts
from kilonova.scheduling.query import candidate_query
from kilonova.scheduling.request import FreeAmounts, Request, Snapshot
from kilonova.scheduling.select import Decision, select
from kilonova.scheduling.settings import SelectSettings


@dataclass(frozen=True)
class HostLine:
    name: str
    cell: str = "cell1"
    up: bool = True
    enabled: bool = True
    arch: str = "x86_64"
    hypervisor_type: str = "QEMU"
    hypervisor_version: int = 8_002_001
    aggregates: frozenset[int] = frozenset()
    servers: int = 0
    failed_builds: int = 0
    free_ram_mb: float = 4096
    free_disk_gb: float = 40
    free_vcpus: float = 4


def root_of(name: str) -> int:
    """h1 has root 101 and so on; the numbers are not rows on purpose."""
    return 100 + int(name.removeprefix("h"))


def snapshot(*lines: HostLine, aggregates: dict[int, AggregateView] | None = None, misses: tuple[Miss, ...] = ()) -> Snapshot:
    """All hosts matched but for those in a miss."""
    missed = {root for miss in misses for root in miss.roots}
    hosts = Hosts(
        names=tuple(line.name for line in lines),
        cells=tuple(line.cell for line in lines),
        root_ids=np.array([root_of(line.name) for line in lines], dtype=np.int64),
        up=np.array([line.up for line in lines], dtype=np.bool_),
        enabled=np.array([line.enabled for line in lines], dtype=np.bool_),
        disabled_reason=tuple("" for _ in lines),
        arch=tuple(line.arch for line in lines),
        hypervisor_type=tuple(line.hypervisor_type for line in lines),
        hypervisor_version=tuple(line.hypervisor_version for line in lines),
        aggregates=tuple(line.aggregates for line in lines),
        servers=np.array([line.servers for line in lines], dtype=np.int64),
        failed_builds=np.array([line.failed_builds for line in lines], dtype=np.int64),
        aggregates_by_id=aggregates or {},
    )
    free = FreeAmounts(
        free_ram_mb=np.array([line.free_ram_mb for line in lines], dtype=np.float64),
        free_disk_gb=np.array([line.free_disk_gb for line in lines], dtype=np.float64),
        free_vcpus=np.array([line.free_vcpus for line in lines], dtype=np.float64),
    )
    matched = np.array([id for id in hosts.root_ids.tolist() if id not in missed], dtype=np.int64)
    return Snapshot(hosts, free, matched, misses)


def flavor(**extra_specs: str) -> Flavor:
    return Flavor(id=1, flavorid="1", name="f1", vcpus=1, memory_mb=512, root_gb=1, extra_specs=extra_specs)


def image(**properties: str) -> Image:
    return Image(id="i1", name="img1", status="active", owner="p", properties=properties)


REQUEST = Request(flavor=flavor(), query=candidate_query(flavor(), None), project_id="p")


def decide(request: Request, snapshot: Snapshot, seed: int = 1, /, **settings: object) -> Decision:
    return select(request, snapshot, replace(SelectSettings(), **settings), Random(seed))  # type: ignore[arg-type]


def hosts_of(decision: Decision) -> list[str]:
    return [ranked.host for ranked in decision.ranked]


def codes_of(decision: Decision) -> dict[str, list[str]]:
    """Host names by the code of the reason that took them out."""
    return {reason.code: sorted(reason.names) for reason in decision.explanation.reasons}
