"""What hypervisors look like. Before 2.53 they are named by number, from then on by the uuid of their provider."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from kilonova.domain.resources import DISK_GB, MEMORY_MB
from kilonova.http.views import Shown, View
from kilonova.storage.host_trees import Amount
from kilonova.storage.hosts import HostRecord, ServerOnHost

_NOTHING: Final = Amount()
_CPUS: Final = ("VCPU", "PCPU")


@dataclass(frozen=True, slots=True)
class Hypervisor:
    """A host, the amounts of its whole provider tree by class, and its live servers (None where nobody asked)."""

    host: HostRecord
    amounts: Mapping[str, Amount] = field(default_factory=dict)
    running: int = 0
    servers: Sequence[ServerOnHost] | None = None

    def taken(self, name: str) -> int:
        """What is used or reserved of a class: neither can be given out."""
        amount = self.amounts.get(name, _NOTHING)
        return amount.used + amount.reserved

    def total(self, name: str) -> int:
        """What there is of a class."""
        return self.amounts.get(name, _NOTHING).total

    def free(self, name: str) -> int:
        """What is left of a class, without overcommitment."""
        return self.total(name) - self.taken(name)


def vcpus(item: Hypervisor) -> int:
    """Shared and dedicated CPUs together."""
    return sum(item.total(name) for name in _CPUS)


def vcpus_used(item: Hypervisor) -> int:
    """Shared and dedicated CPUs in use."""
    return sum(item.amounts.get(name, _NOTHING).used for name in _CPUS)


def _info(item: Hypervisor) -> Mapping[str, Any]:
    info: Mapping[str, Any] = item.host.hypervisor.get("cpu_info") or {}
    return info


def hostname(host: HostRecord) -> str:
    """What the hypervisor calls itself."""
    return str(host.hypervisor.get("hostname") or host.name)


def _service(item: Hypervisor, service_id: int | str) -> dict[str, Any]:
    return {"id": service_id, "host": item.host.name, "disabled_reason": item.host.disabled_reason}


_CORE: Final[Sequence[Shown[Hypervisor]]] = (
    Shown("id", lambda item: item.host.id, until=52),
    Shown("id", lambda item: item.host.provider_uuid, since=53),
    Shown("hypervisor_hostname", lambda item: hostname(item.host)),
    Shown("state", lambda item: "up" if item.host.up else "down"),
    Shown("status", lambda item: "disabled" if item.host.disabled else "enabled"),
)
SHORT: Final = View[Hypervisor](_CORE)
UPTIME: Final = View[Hypervisor]((*_CORE, Shown("uptime", lambda item: item.host.hypervisor.get("uptime"))))
FULL: Final = View[Hypervisor](
    (
        *_CORE,
        Shown("host_ip", lambda item: item.host.hypervisor.get("host_ip")),
        Shown("hypervisor_type", lambda item: item.host.hypervisor.get("type")),
        Shown("hypervisor_version", lambda item: item.host.hypervisor.get("version", 0)),
        Shown("service", lambda item: _service(item, item.host.id), until=52),
        Shown("service", lambda item: _service(item, item.host.service_id), since=53),
        Shown("uptime", lambda item: item.host.hypervisor.get("uptime"), since=88),
        # The numbers went with 2.88, because placement knows them better.
        Shown("cpu_info", lambda item: orjson.dumps(_info(item)).decode(), until=27),
        Shown("cpu_info", _info, since=28, until=87),
        Shown("vcpus", vcpus, until=87),
        Shown("vcpus_used", vcpus_used, until=87),
        Shown("memory_mb", lambda item: item.total(MEMORY_MB), until=87),
        Shown("memory_mb_used", lambda item: item.taken(MEMORY_MB), until=87),
        Shown("free_ram_mb", lambda item: item.free(MEMORY_MB), until=87),
        Shown("local_gb", lambda item: item.total(DISK_GB), until=87),
        Shown("local_gb_used", lambda item: item.taken(DISK_GB), until=87),
        Shown("free_disk_gb", lambda item: item.free(DISK_GB), until=87),
        Shown("disk_available_least", lambda item: item.free(DISK_GB), until=87),
        Shown("running_vms", lambda item: item.running, until=87),
        Shown("current_workload", lambda item: 0, until=87),
    )
)


def with_servers(body: dict[str, Any], item: Hypervisor, always: bool) -> dict[str, Any]:
    """The body with its servers where they were asked for; an empty list is left out unless `always`."""
    if item.servers is not None and (item.servers or always):
        body["servers"] = [{"name": server.name, "uuid": server.id} for server in item.servers]
    return body


def statistics(items: Sequence[Hypervisor]) -> dict[str, int]:
    """Sums over hypervisors."""
    return {
        "count": len(items),
        "vcpus": sum(map(vcpus, items)),
        "vcpus_used": sum(map(vcpus_used, items)),
        "memory_mb": sum(item.total(MEMORY_MB) for item in items),
        "memory_mb_used": sum(item.taken(MEMORY_MB) for item in items),
        "free_ram_mb": sum(item.free(MEMORY_MB) for item in items),
        "local_gb": sum(item.total(DISK_GB) for item in items),
        "local_gb_used": sum(item.taken(DISK_GB) for item in items),
        "free_disk_gb": sum(item.free(DISK_GB) for item in items),
        "disk_available_least": sum(item.free(DISK_GB) for item in items),
        "running_vms": sum(item.running for item in items),
        "current_workload": 0,
    }
