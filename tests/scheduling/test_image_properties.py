import pytest

from kilonova.domain.image_properties import VersionCondition, read_image_properties


def test_an_image_without_properties_asks_nothing() -> None:
    asks = read_image_properties({"os_distro": "debian", "hw_disk_bus": "virtio"})
    assert not asks.asks_of_platform
    assert not asks.required | asks.forbidden


def test_aliases_are_read_as_the_one_name() -> None:
    asks = read_image_properties({"architecture": "i386", "vm_mode": "pv", "hypervisor_type": "QEMU"})
    assert (asks.architecture, asks.vm_mode, asks.hypervisor_type) == ("i686", "xen", "qemu")


@pytest.mark.parametrize(
    ("sign", "version", "host", "holds"),
    [
        (">=", (1, 3), (1, 3, 0), True),
        ("==", (1, 3), (1, 3, 0), True),
        ("<", (1, 10), (1, 9), True),
        (">", (1, 3), (1, 3), False),
        ("!=", (2,), (2, 0, 1), True),
    ],
)
def test_versions_are_compared_place_by_place(sign: str, version: tuple[int, ...], host: tuple[int, ...], holds: bool) -> None:
    assert VersionCondition(sign, version).holds(host) is holds
