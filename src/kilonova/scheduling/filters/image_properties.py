"""ImagePropertiesFilter: the host runs the kind of machine that the image asks for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kilonova.domain.image_properties import ImageAsks
from kilonova.scheduling.arrays import Mask, Rows
from kilonova.scheduling.filters.contract import Filter
from kilonova.scheduling.hosts import Hosts, Platform
from kilonova.scheduling.phrases import Phrase
from kilonova.scheduling.request import Request

_PLACE: Final = 1000
_VM_MODES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "lxc": frozenset(("exe",)),
        "lxd": frozenset(("exe",)),
        "docker": frozenset(("exe",)),
        "openvz": frozenset(("exe",)),
        "uml": frozenset(("uml",)),
        "xen": frozenset(("xen", "hvm")),
        "virtuozzo": frozenset(("exe", "hvm")),
    }
)
_HARDWARE: Final = frozenset(("hvm",))
_ACCELERATED: Final[Mapping[str, str]] = MappingProxyType({"kvm": "qemu"})
"""A type that an image may ask for and the type under which hosts that have it report: libvirt says QEMU for both."""


def _runs_what_image_asks(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    asks = request.image_asks
    return hosts.platforms.test(lambda platform: platform_meets(platform, asks), rows)


def platform_meets(platform: Platform, asks: ImageAsks) -> bool:
    """Whether a host of this kind can run the image; also asked when a server is rebuilt where it is."""
    if asks.architecture and asks.architecture != platform.arch:
        return False
    if asks.hypervisor_type and platform.hypervisor_type not in _reported_as(asks.hypervisor_type):
        return False
    if asks.vm_mode and asks.vm_mode not in _VM_MODES.get(platform.hypervisor_type, _HARDWARE):
        return False
    version = version_places(platform.version)
    return all(condition.holds(version) for condition in asks.hypervisor_version)


def version_places(version: int) -> tuple[int, ...]:
    """The places of a hypervisor's version number: 2010003 is (2, 10, 3). Source: the compute API, hypervisor_version."""
    places: tuple[int, ...] = ()
    while version > 0:
        version, place = divmod(version, _PLACE)
        places = (place, *places)
    return places


def _reported_as(asked: str) -> tuple[str, ...]:
    return (asked, _ACCELERATED.get(asked, asked))


def _asked(request: Request) -> str:
    asks = request.image_asks
    versions = ",".join(item.sign + ".".join(map(str, item.version)) for item in asks.hypervisor_version)
    words = (asks.architecture, asks.vm_mode, asks.hypervisor_type, versions)
    return " ".join(word for word in words if word)


IMAGE_PROPERTIES = Filter(
    name="ImagePropertiesFilter",
    code="image.unsupported",
    phrase=Phrase("cannot run the image ({subject})", "cannot run the image ({subject})"),
    passes=_runs_what_image_asks,
    applies=lambda request: request.image_asks.asks_of_platform,
    subject=_asked,
)
