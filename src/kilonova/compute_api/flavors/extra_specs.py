"""What extra specs mean something here, and which values they take; asked from 2.86 on.

A key in a namespace that is known must be known itself; namespaces that are not are left to their owners.
Source: the compute service's reference of flavor extra specs.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kilonova.domain.errors import BadRequest

_BOOLEANS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "t", "f", "y", "n", "1", "0"})

Check = Callable[[str], str]
"""Says what is wrong with a value, "" for nothing."""


def _boolean(value: str) -> str:
    return "" if value.lower() in _BOOLEANS else "must be a boolean"


def _free(value: str) -> str:
    return ""


def _number(minimum: int) -> Check:
    def check(value: str) -> str:
        right = re.fullmatch(r"-?[0-9]{1,18}", value) is not None and int(value) >= minimum
        return "" if right else f"must be a whole number of at least {minimum}"

    return check


def _one_of(*words: str) -> Check:
    return lambda value: "" if value in words else f"must be one of {', '.join(words)}"


def _form(pattern: str, meaning: str) -> Check:
    return lambda value: "" if re.fullmatch(pattern, value) else f"must be {meaning}"


_CPUS: Final = _form(r"\^?[0-9]+(-[0-9]+)?(,\^?[0-9]+(-[0-9]+)?)*", "a list of CPU numbers")
_SUFFIX: Final = r"[a-zA-Z0-9_-]{0,64}"

_KNOWN: Final[Sequence[tuple[str, Check]]] = (
    (rf"resources{_SUFFIX}:[A-Z0-9_]+", _number(0)),
    (rf"trait{_SUFFIX}:[A-Z0-9_]+", _one_of("required", "forbidden")),
    (r"group_policy", _one_of("none", "isolate")),
    (r"hide_hypervisor_id", _boolean),
    (r"hw:cpu_policy", _one_of("dedicated", "shared", "mixed")),
    (r"hw:cpu_thread_policy", _one_of("prefer", "isolate", "require")),
    (r"hw:emulator_threads_policy", _one_of("isolate", "share")),
    (r"hw:cpu_(max_)?(sockets|cores|threads)", _number(1)),
    (r"hw:cpu_(realtime_mask|dedicated_mask)", _CPUS),
    (r"hw:numa_cpus\.[0-9]+", _CPUS),
    (r"hw:(numa_nodes|numa_mem\.[0-9]+)", _number(1)),
    (r"hw:(maxphysaddr_bits|serial_port_count|redirected_usb_ports)", _number(0)),
    (r"hw:mem_page_size", _form(r"small|large|any|[0-9]+([kKMGT]i?)?(b|B|bit)?", "small, large, any or a size")),
    (r"hw:mem_encryption_model", _one_of("amd-sev", "amd-sev-es")),
    (r"hw:pci_numa_affinity_policy", _one_of("required", "preferred", "legacy", "socket")),
    (r"hw:tpm_model", _one_of("tpm-tis", "tpm-crb")),
    (r"hw:tpm_version", _one_of("1.2", "2.0")),
    (r"hw:tpm_secret_security", _one_of("user", "host", "deployment")),
    (r"hw:watchdog_action", _one_of("none", "pause", "poweroff", "reset", "disabled")),
    (r"hw:viommu_model", _one_of("auto", "intel", "smmuv3", "virtio")),
    (r"hw:maxphysaddr_mode", _one_of("passthrough", "emulate")),
    (
        r"hw:(cpu_realtime|mem_encryption|pmu|boot_menu|vif_multiqueue_enabled|hide_hypervisor_id|locked_memory|"
        r"virtio_packed_ring|ephemeral_encryption)",
        _boolean,
    ),
    (r"hw:(pmem|usb_model|sound_model|ephemeral_encryption_format)", _free),
    (r"hw_rng:allowed", _boolean),
    (r"hw_rng:(rate_bytes|rate_period)", _number(0)),
    (r"hw_video:ram_max_mb", _number(0)),
    (r"quota:cpu_(shares|period|quota)", _number(-1)),
    (r"quota:(cpu|memory|disk_io|vif)_(limit|reservation|shares_share)", _number(-1)),
    (r"quota:(cpu|memory|disk_io|vif)_shares_level", _one_of("custom", "high", "normal", "low")),
    (r"quota:disk_(read|write|total)_(bytes|iops)_sec(_max(_length)?)?", _number(0)),
    (r"quota:vif_(inbound|outbound)_(average|peak|burst)", _number(0)),
    (r"os:secure_boot", _one_of("required", "optional", "disabled")),
    (r"os:(monitors)", _number(1)),
    (r"pci_passthrough:alias", _form(r"[^:,]+:[0-9]+(,[^:,]+:[0-9]+)*", "alias:count pairs")),
    (r"accel:device_profile", _free),
    (r"kilonova:preemptible", _boolean),
)
_COMPILED: Final = tuple((re.compile(pattern), check) for pattern, check in _KNOWN)

_NAMESPACES: Final = re.compile(
    rf"(resources{_SUFFIX}|trait{_SUFFIX}|hw|hw_rng|hw_video|quota|os|pci_passthrough|accel|kilonova):.*"
)


def check_extra_specs(specs: Mapping[str, str]) -> None:
    """Raises errors.BadRequest with a sentence that names the first key whose name or value cannot be right."""
    for key, value in specs.items():
        check = next((check for pattern, check in _COMPILED if pattern.fullmatch(key)), None)
        if check is None:
            if ":" not in key or _NAMESPACES.fullmatch(key):
                raise BadRequest(f"Validation failed; extra spec '{key}' does not appear to be a valid extra spec.")
            continue
        wrong = check(value)
        if wrong:
            raise BadRequest(f"Validation failed; '{value}' is no value for extra spec '{key}': it {wrong}.")
