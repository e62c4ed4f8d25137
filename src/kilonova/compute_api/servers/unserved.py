"""What a flavor or image may ask that is not served yet: it is refused and never ignored."""

import re
from typing import Final

from kilonova.domain.errors import BadRequest
from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image

# Placement on NUMA nodes, dedicated processors, large pages and passed-through devices all consume what is not yet claimed.
_SPECS: Final = re.compile(
    r"hw:(numa_nodes|numa_cpus\..*|numa_mem\..*|cpu_policy|cpu_thread_policy|cpu_dedicated_mask|emulator_threads_policy"
    r"|mem_page_size|mem_encryption|pci_numa_affinity_policy|locked_memory)|pci_passthrough:alias|accel:device_profile"
)
_PROPERTIES: Final = re.compile(
    r"hw_(numa_nodes|numa_cpus\..*|numa_mem\..*|cpu_policy|cpu_thread_policy|emulator_threads_policy|mem_page_size"
    r"|mem_encryption|pci_numa_affinity_policy|locked_memory)"
)
_SHARED: Final = "shared"
"""The processor policy that every server has anyway."""


def refuse_unserved(flavor: Flavor, image: Image) -> None:
    """Raises errors.BadRequest naming the extra spec or the image property."""
    for kind, pattern, asked in (
        ("Flavor extra spec", _SPECS, flavor.extra_specs),
        ("Image property", _PROPERTIES, image.properties),
    ):
        for key, value in asked.items():
            if pattern.fullmatch(key) and not (key.endswith("cpu_policy") and value == _SHARED):
                raise BadRequest(f"{kind} {key} is not yet served")
