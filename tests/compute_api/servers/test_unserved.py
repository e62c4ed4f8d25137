"""What is not served yet is refused by name."""

import pytest

from kilonova.compute_api.servers.unserved import refuse_unserved
from kilonova.domain.errors import BadRequest
from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image


def flavor(**extra_specs: str) -> Flavor:
    return Flavor(1, "f", "f", 1, 64, 1, extra_specs={key.replace("__", ":"): value for key, value in extra_specs.items()})


def image(**properties: str) -> Image:
    return Image("i", "i", "active", "p", properties=properties)


@pytest.mark.parametrize(
    "key", ["hw__numa_nodes", "hw__mem_page_size", "hw__cpu_policy", "pci_passthrough__alias", "accel__device_profile"]
)
def test_a_flavor_that_asks_for_it_is_refused(key: str) -> None:
    with pytest.raises(BadRequest, match=key.replace("__", ":")):
        refuse_unserved(flavor(**{key: "dedicated"}), image())


@pytest.mark.parametrize("key", ["hw_numa_nodes", "hw_mem_page_size", "hw_cpu_policy", "hw_numa_cpus.0"])
def test_an_image_that_asks_for_it_is_refused(key: str) -> None:
    with pytest.raises(BadRequest, match=key):
        refuse_unserved(flavor(), image(**{key: "2"}))


def test_what_asks_for_nothing_special_passes() -> None:
    refuse_unserved(flavor(hw__cpu_policy="shared", trait__HW_CPU_X86_VMX="required"), image(hw_disk_bus="virtio"))
