"""The clouds that placement is measured on, as plain values: every side is loaded with the same uuids and amounts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from kilonova.domain.resources import Inventory

GOLD: Final = "CUSTOM_GOLD"
SILVER: Final = "CUSTOM_SILVER"
DISABLED: Final = "COMPUTE_STATUS_DISABLED"
NUMA: Final = "HW_NUMA_ROOT"
SHARES: Final = "MISC_SHARES_VIA_AGGREGATE"
ZONES: Final = 10
HOSTS_OF_A_DISK: Final = 50
FEW_HOSTS, FEW_DISKS = 60, 2


@dataclass(frozen=True, slots=True)
class Spec:
    """One provider; `parent` is the uuid of its parent, which stands before it."""

    uuid: str
    name: str
    parent: str | None
    inventories: Mapping[str, Inventory]
    traits: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """Providers, and what a claim takes: each element of `claims` is the allocations of one new consumer."""

    name: str
    providers: tuple[Spec, ...]
    claims: tuple[Mapping[str, Mapping[str, int]], ...]


def named(name: str) -> str:
    """The uuid of a name: the same in every run and on every side."""
    return str(uuid5(NAMESPACE_URL, f"kilonova/bench/{name}"))


def flat(hosts: int) -> Dataset:
    """Hosts of one provider each, in ten aggregates; a tenth is gold, a tenth silver, a fiftieth disabled."""
    return _dataset(f"{hosts:,} flat hosts", tuple(_flat_host(number) for number in range(hosts)))


def nested(hosts: int) -> Dataset:
    """Hosts with disk at the root, two NUMA children with CPUs and memory, two devices below each; and a tenth of flat ones."""
    trees = [spec for number in range(hosts) for spec in _tree(number)]
    extras = [_flat_host(number) for number in range(hosts // 10)]
    return _dataset(f"{hosts:,} nested hosts ({len(trees) + len(extras):,} providers)", (*trees, *extras))


def shared(hosts: int) -> Dataset:
    """Hosts without disk, fifty to a disk that is shared by aggregate; and sixty hosts with a NUMA child that share two disks."""
    disks = max(1, hosts // HOSTS_OF_A_DISK)
    many = [_diskless(f"host-{number}", (named(f"pool-{number % disks}"),)) for number in range(hosts)]
    pools = [_disk(f"disk-{number}", named(f"pool-{number}")) for number in range(disks)]
    few = [spec for number in range(FEW_HOSTS) for spec in _few_tree(number)]
    few_disks = [_disk(f"few-disk-{number}", named("few")) for number in range(FEW_DISKS)]
    return _dataset(f"{hosts:,} hosts, shared storage", (*many, *pools, *few, *few_disks))


DATASETS: Final[Mapping[str, Callable[[int], Dataset]]] = {"flat": flat, "nested": nested, "shared": shared}


def _dataset(name: str, providers: tuple[Spec, ...]) -> Dataset:
    """With claims on every host in turn: one VCPU and a little memory from the same provider."""
    bearers = [spec.uuid for spec in providers if "VCPU" in spec.inventories]
    amounts = {"VCPU": 1, "MEMORY_MB": 512}
    return Dataset(name, providers, tuple({uuid: amounts} for uuid in bearers))


def _flat_host(number: int) -> Spec:
    name = f"flat-{number}"
    traits = ["HW_CPU_X86_AVX2", *_labels(number)]
    aggregate = named(f"zone-{number % ZONES}")
    return Spec(named(name), name, None, {**_compute(64), "DISK_GB": _storage(4096)}, tuple(traits), (aggregate,))


def _labels(number: int) -> Iterator[str]:
    if number % 10 == 0:
        yield GOLD
    if number % 10 == 1:
        yield SILVER
    if number % 50 == 7:
        yield DISABLED


def _tree(number: int) -> Iterator[Spec]:
    name = f"tree-{number}"
    root = named(name)
    yield Spec(root, name, None, {"DISK_GB": _storage(4096)}, tuple(_labels(number)), (named(f"zone-{number % ZONES}"),))
    for node in range(2):
        numa = named(f"{name}-numa{node}")
        yield Spec(numa, f"{name}-numa{node}", root, _compute(32), (NUMA,))
        for device in range(2):
            port = f"{name}-numa{node}-nic{device}"
            yield Spec(named(port), port, numa, {"SRIOV_NET_VF": Inventory(8)}, (f"CUSTOM_PHYSNET_{device}",))


def _few_tree(number: int) -> Iterator[Spec]:
    name = f"few-{number}"
    yield Spec(named(name), name, None, {}, (), (named("few"),))
    yield Spec(named(f"{name}-numa"), f"{name}-numa", named(name), _compute(32), (NUMA,))


def _diskless(name: str, aggregates: tuple[str, ...]) -> Spec:
    return Spec(named(name), name, None, _compute(64), ("HW_CPU_X86_AVX2",), aggregates)


def _disk(name: str, aggregate: str) -> Spec:
    return Spec(named(name), name, None, {"DISK_GB": _storage(1_000_000)}, (SHARES,), (aggregate,))


def _compute(cpus: int) -> dict[str, Inventory]:
    memory = cpus * 4096
    return {
        "VCPU": Inventory(cpus, max_unit=cpus, allocation_ratio=4.0),
        "MEMORY_MB": Inventory(memory, reserved=512, max_unit=memory),
    }


def _storage(size: int) -> Inventory:
    return Inventory(size, max_unit=size)
