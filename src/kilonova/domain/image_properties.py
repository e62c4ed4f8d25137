"""What an image's properties ask of a host: traits, architecture, kind of machine, hypervisor and its version.

Reading is also checking: whoever gets an `ImageAsks` may believe it. Knows nothing of flavors, hosts or placement.
"""

import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from kilonova.domain.errors import BadRequest

TRAIT_PREFIX: Final = "trait:"
TRAIT_NAME: Final = re.compile(r"[A-Z0-9_]{1,255}")
"""The form of every trait name. Source: placement API, PUT /traits/{name} and the standard names."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The newer name first: where an image carries both, the newer one counts, as in the community's compute service.
ARCHITECTURE: Final = ("hw_architecture", "architecture")
VM_MODE: Final = ("hw_vm_mode", "vm_mode")
HYPERVISOR_TYPE: Final = ("img_hv_type", "hypervisor_type")
HYPERVISOR_VERSION: Final = ("img_hv_requested_version", "hypervisor_version_requires")

_ARCHITECTURES: Final = _words(
    "aarch64 alpha armv6 armv7b armv7l cris i686 ia64 lm32 loongarch64 m68k microblaze microblazeel mips mips64 "
    "mips64el mipsel openrisc parisc parisc64 ppc ppc64 ppc64le ppcemb ppcle riscv64 s390 s390x sh4 sh4eb sparc "
    "sparc64 unicore32 x86_64 xtensa xtensaeb"
)
_ARCHITECTURE_ALIASES: Final = MappingProxyType(
    {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64", "i386": "i686", "i486": "i686", "i586": "i686"}
)
_VM_MODES: Final = frozenset(("exe", "hvm", "uml", "xen"))
_VM_MODE_ALIASES: Final = MappingProxyType({"pv": "xen", "hv": "hvm", "baremetal": "hvm"})
_HYPERVISOR_TYPES: Final = _words(
    "baremetal bhyve docker fake hyperv ironic kvm lxc lxd openvz parallels phyp powervm qemu test uml vbox virtuozzo "
    "vmware xen zvm"
)
_COMPARISONS: Final[Mapping[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]]] = MappingProxyType(
    {
        "<": operator.lt,
        "<=": operator.le,
        "==": operator.eq,
        "!=": operator.ne,
        ">": operator.gt,
        ">=": operator.ge,
    }
)
_CONDITION: Final = re.compile(r"\s*(<=|>=|==|!=|<|>)?\s*([0-9]{1,9}(?:\.[0-9]{1,9}){0,3})\s*")


@dataclass(frozen=True, slots=True)
class VersionCondition:
    """One comparison of `hypervisor_version_requires`, such as >= 1.3: the comparison's sign and the numbers."""

    sign: str
    version: tuple[int, ...]

    def holds(self, version: tuple[int, ...]) -> bool:
        """Compares as if missing places were zero, so that 1.3 equals 1.3.0."""
        places = max(len(version), len(self.version))
        return _COMPARISONS[self.sign](_pad(version, places), _pad(self.version, places))


@dataclass(frozen=True, slots=True)
class ImageAsks:
    """What an image asks, read and checked; None or empty where it asks nothing. Conditions on the version hold together."""

    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    architecture: str | None = None
    vm_mode: str | None = None
    hypervisor_type: str | None = None
    hypervisor_version: tuple[VersionCondition, ...] = ()

    @property
    def asks_of_platform(self) -> bool:
        """Whether anything is asked that a host answers by what it is rather than by a trait."""
        return bool(self.architecture or self.vm_mode or self.hypervisor_type or self.hypervisor_version)


def read_image_properties(properties: Mapping[str, str]) -> ImageAsks:
    """The asks in an image's properties; raises BadRequest naming the property whose name or value is bad."""
    required, forbidden = read_traits(properties, "image property")
    return ImageAsks(
        required=required,
        forbidden=forbidden,
        architecture=_read_word(properties, ARCHITECTURE, _ARCHITECTURES, _ARCHITECTURE_ALIASES),
        vm_mode=_read_word(properties, VM_MODE, _VM_MODES, _VM_MODE_ALIASES),
        hypervisor_type=_read_word(properties, HYPERVISOR_TYPE, _HYPERVISOR_TYPES, MappingProxyType({})),
        hypervisor_version=_read_conditions(properties),
    )


def read_traits(properties: Mapping[str, str], what: str) -> tuple[frozenset[str], frozenset[str]]:
    """Required and forbidden names of `trait:NAME=required|forbidden`; `what` is how people call such a property."""
    found: dict[str, set[str]] = {"required": set(), "forbidden": set()}
    for key, value in properties.items():
        if key.startswith(TRAIT_PREFIX):
            name = key.removeprefix(TRAIT_PREFIX)
            check_trait(name, value, f"{what} {key}")
            found[value].add(name)
    return frozenset(found["required"]), frozenset(found["forbidden"])


def check_trait(name: str, value: str, said_by: str) -> None:
    """Raises BadRequest, naming `said_by`, unless `name` has a trait's form and `value` is required or forbidden."""
    if not TRAIT_NAME.fullmatch(name):
        raise BadRequest(f"The {said_by} does not name a trait: capital letters, digits and underscores are allowed.")
    if value not in ("required", "forbidden"):
        raise BadRequest(f"The {said_by} has the value {value!r}: it must be 'required' or 'forbidden'.")


def canonical_architecture(name: str) -> str:
    """The one name of an architecture that has several: amd64 is x86_64. A name that nobody knows stays as it is."""
    lowered = name.lower()
    return _ARCHITECTURE_ALIASES.get(lowered, lowered)


def _read_word(
    properties: Mapping[str, str], names: tuple[str, str], known: Collection[str], aliases: Mapping[str, str]
) -> str | None:
    for name in names:
        if value := properties.get(name):
            word = aliases.get(value.lower(), value.lower())
            if word not in known:
                raise BadRequest(f"The image property {name} has the value {value!r}, which is none that is known.")
            return word
    return None


def _read_conditions(properties: Mapping[str, str]) -> tuple[VersionCondition, ...]:
    for name in HYPERVISOR_VERSION:
        if value := properties.get(name):
            return tuple(_read_condition(part, name) for part in value.split(","))
    return ()


def _read_condition(text: str, name: str) -> VersionCondition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise BadRequest(f"The image property {name} has the value {text!r}: it must be comparisons such as '>=1.3,<2'.")
    sign, version = match.groups()
    return VersionCondition(sign or "==", tuple(int(part) for part in version.split(".")))


def _pad(version: tuple[int, ...], places: int) -> tuple[int, ...]:
    return version + (0,) * (places - len(version))
