"""What a fake host says it has: inventories, NUMA cells, PCI devices and traits as a real one would report them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import os_traits

from kilonova.domain.resources import DISK_GB, MEMORY_MB, VCPU
from kilonova.drivers.contract import HostReport, ProviderReport

HYPERVISOR_VERSION: Final = 1_000_000
"""1.0.0, in the form of `os-hypervisors`: major, minor and release as three digits each."""

USUAL_TRAITS: Final = (
    os_traits.COMPUTE_NODE,
    os_traits.COMPUTE_ADDRESS_SPACE_EMULATED,
    os_traits.COMPUTE_ADDRESS_SPACE_PASSTHROUGH,
    os_traits.COMPUTE_CONFIG_DRIVE_REGENERATION,
    os_traits.COMPUTE_DEVICE_TAGGING,
    os_traits.COMPUTE_FIRMWARE_BIOS,
    os_traits.COMPUTE_FIRMWARE_UEFI,
    os_traits.COMPUTE_GRAPHICS_MODEL_BOCHS,
    os_traits.COMPUTE_GRAPHICS_MODEL_CIRRUS,
    os_traits.COMPUTE_GRAPHICS_MODEL_VGA,
    os_traits.COMPUTE_GRAPHICS_MODEL_VIRTIO,
    os_traits.COMPUTE_IMAGE_TYPE_AKI,
    os_traits.COMPUTE_IMAGE_TYPE_AMI,
    os_traits.COMPUTE_IMAGE_TYPE_ARI,
    os_traits.COMPUTE_IMAGE_TYPE_ISO,
    os_traits.COMPUTE_IMAGE_TYPE_QCOW2,
    os_traits.COMPUTE_IMAGE_TYPE_RAW,
    os_traits.COMPUTE_NET_ATTACH_INTERFACE,
    os_traits.COMPUTE_NET_ATTACH_INTERFACE_WITH_TAG,
    os_traits.COMPUTE_NET_VIF_MODEL_E1000,
    os_traits.COMPUTE_NET_VIF_MODEL_E1000E,
    os_traits.COMPUTE_NET_VIF_MODEL_VIRTIO,
    os_traits.COMPUTE_RESCUE_BFV,
    os_traits.COMPUTE_SECURITY_TPM_1_2,
    os_traits.COMPUTE_SECURITY_TPM_2_0,
    os_traits.COMPUTE_SECURITY_UEFI_SECURE_BOOT,
    os_traits.COMPUTE_SOCKET_PCI_NUMA_AFFINITY,
    os_traits.COMPUTE_STORAGE_BUS_IDE,
    os_traits.COMPUTE_STORAGE_BUS_SATA,
    os_traits.COMPUTE_STORAGE_BUS_SCSI,
    os_traits.COMPUTE_STORAGE_BUS_USB,
    os_traits.COMPUTE_STORAGE_BUS_VIRTIO,
    os_traits.COMPUTE_TRUSTED_CERTS,
    os_traits.COMPUTE_VOLUME_ATTACH_WITH_TAG,
    os_traits.COMPUTE_VOLUME_EXTEND,
    os_traits.COMPUTE_VOLUME_MULTI_ATTACH,
)
ARCH_TRAITS: Final[Mapping[str, tuple[str, ...]]] = {
    "x86_64": (
        os_traits.HW_ARCH_X86_64,
        os_traits.HW_CPU_X86_AESNI,
        os_traits.HW_CPU_X86_AVX2,
        os_traits.HW_CPU_X86_SSE42,
        os_traits.HW_CPU_X86_VMX,
    ),
    "aarch64": (os_traits.HW_ARCH_AARCH64,),
}


@dataclass(frozen=True, slots=True)
class FakeShape:
    """One fake host. Amounts in MB and GB; `pci_devices` are (resource class, count, traits), a child provider each.

    With `numa_cells` the processors and the memory are dealt to that many child providers. A build takes
    `build_seconds`. `traits` come on top of the usual ones.
    """

    vcpus: int = 8
    memory_mb: int = 16_384
    disk_gb: int = 200
    cpu_ratio: float = 1.0
    memory_ratio: float = 1.0
    disk_ratio: float = 1.0
    reserved_memory_mb: int = 0
    numa_cells: int = 0
    pci_devices: tuple[tuple[str, int, tuple[str, ...]], ...] = ()
    traits: tuple[str, ...] = ()
    arch: str = "x86_64"
    hypervisor_type: str = "fake"
    build_seconds: float = 0.0


def describe_host(name: str, shape: FakeShape) -> HostReport:
    """The report of a host called `name`: its facts and its provider tree, root first."""
    traits = tuple(sorted({*USUAL_TRAITS, *ARCH_TRAITS.get(shape.arch, ()), *shape.traits}))
    disk = {DISK_GB: _inventory(shape.disk_gb, shape.disk_ratio)}
    if shape.numa_cells:
        root = ProviderReport(name, inventories=disk, traits=traits)
    else:
        root = ProviderReport(name, inventories={**_compute(shape, 0, 1), **disk}, traits=traits)
    cells = tuple(
        ProviderReport(f"{name}_NUMA{cell}", name, _compute(shape, cell, shape.numa_cells), (os_traits.HW_NUMA_ROOT,))
        for cell in range(shape.numa_cells)
    )
    devices = tuple(
        ProviderReport(f"{name}_0000:{0x81 + place:02x}:00.0", name, {resource_class: _inventory(count)}, device_traits)
        for place, (resource_class, count, device_traits) in enumerate(shape.pci_devices)
    )
    return HostReport(_hypervisor(name, shape), (root, *cells, *devices))


def _hypervisor(name: str, shape: FakeShape) -> Mapping[str, Any]:
    return {
        "type": shape.hypervisor_type,
        "version": HYPERVISOR_VERSION,
        "arch": shape.arch,
        "cpu_info": {
            "arch": shape.arch,
            "vendor": "Kilonova",
            "model": "fake",
            "features": ["aes", "avx2", "sse4.2", "vmx"] if shape.arch == "x86_64" else [],
            "topology": {"cells": max(shape.numa_cells, 1), "sockets": 1, "cores": shape.vcpus, "threads": 1},
        },
        "hostname": name,
        "host_ip": "127.0.0.1",
    }


def _compute(shape: FakeShape, cell: int, cells: int) -> Mapping[str, Mapping[str, int | float]]:
    return {
        VCPU: _inventory(_share(shape.vcpus, cell, cells), shape.cpu_ratio),
        MEMORY_MB: _inventory(
            _share(shape.memory_mb, cell, cells), shape.memory_ratio, _share(shape.reserved_memory_mb, cell, cells)
        ),
    }


def _share(amount: int, cell: int, cells: int) -> int:
    """What cell number `cell` gets of `amount`; the first ones get what does not divide."""
    return amount // cells + (1 if cell < amount % cells else 0)


def _inventory(total: int, ratio: float = 1.0, reserved: int = 0) -> Mapping[str, int | float]:
    return {
        "total": total,
        "reserved": reserved,
        "min_unit": 1,
        "max_unit": total,
        "step_size": 1,
        "allocation_ratio": ratio,
    }
