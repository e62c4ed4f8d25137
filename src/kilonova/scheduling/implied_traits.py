"""Traits that a flavor or an image implies without naming them, as one table: property and value to trait.

Sources: the community's request filters and its translation of extra specs; the names are those of os_traits.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import os_traits

from kilonova.domain.errors import BadRequest
from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.scheduling.settings import QuerySettings

DISABLED: Final[str] = "COMPUTE_STATUS_DISABLED"
"""What a disabled host's root carries; every query forbids it there."""
_TRUTHS: Final = ("true", "yes", "on", "1")


@dataclass(frozen=True, slots=True)
class ImpliedTrait:
    """A trait and the property that implies it; `of_root` when the root itself must have it."""

    trait: str
    said_by: str
    of_root: bool


@dataclass(frozen=True, slots=True)
class _Rule:
    """`traits` maps a value, in small letters with underscores, to the trait it implies, "" for none.

    `prefilter` marks what counts only with the setting `image_metadata_prefilter`. Other values than those of `traits`
    are refused when `strict`, and imply nothing when not.
    """

    image_key: str
    traits: Mapping[str, str]
    flavor_key: str = ""
    of_root: bool = True
    prefilter: bool = False
    strict: bool = True


def _named(prefix: str) -> Mapping[str, str]:
    """All standard traits with the prefix, by the rest of their name in small letters."""
    names = [name for name in os_traits.get_traits(prefix=prefix) if isinstance(name, str)]
    return MappingProxyType({name.removeprefix(prefix).lower(): name for name in names})


def _when_true(trait: str) -> Mapping[str, str]:
    return MappingProxyType(dict.fromkeys(_TRUTHS, trait))


_TPM_VERSIONS: Final = {"1.2": "COMPUTE_SECURITY_TPM_1_2", "2.0": "COMPUTE_SECURITY_TPM_2_0"}
_TPM_MODELS: Final = {"tpm_tis": "COMPUTE_SECURITY_TPM_TIS", "tpm_crb": "COMPUTE_SECURITY_TPM_CRB"}
_SECURE_BOOT: Final = {"required": "COMPUTE_SECURITY_UEFI_SECURE_BOOT", "optional": "", "disabled": ""}
_ADDRESS_SPACE: Final = {
    "passthrough": "COMPUTE_ADDRESS_SPACE_PASSTHROUGH",
    "emulate": "COMPUTE_ADDRESS_SPACE_EMULATED",
}

_RULES: Final = (
    _Rule("hw_disk_bus", _named("COMPUTE_STORAGE_BUS_"), prefilter=True),
    _Rule("hw_cdrom_bus", _named("COMPUTE_STORAGE_BUS_"), prefilter=True),
    _Rule("hw_video_model", _named("COMPUTE_GRAPHICS_MODEL_"), prefilter=True),
    _Rule("hw_vif_model", _named("COMPUTE_NET_VIF_MODEL_"), prefilter=True),
    _Rule("hw_firmware_type", _named("COMPUTE_FIRMWARE_"), prefilter=True),
    _Rule("hw_architecture", _named("HW_ARCH_"), prefilter=True, strict=False),
    _Rule("hw_emulation_architecture", _named("COMPUTE_ARCH_"), prefilter=True),
    _Rule("hw_viommu_model", _named("COMPUTE_VIOMMU_MODEL_"), "hw:viommu_model", prefilter=True),
    _Rule("hw_tpm_version", _TPM_VERSIONS, "hw:tpm_version", of_root=False),
    _Rule("hw_tpm_model", _TPM_MODELS, "hw:tpm_model", of_root=False),
    _Rule("os_secure_boot", _SECURE_BOOT, "os:secure_boot", of_root=False),
    _Rule("hw_firmware_stateless", _when_true("COMPUTE_SECURITY_STATELESS_FIRMWARE"), of_root=False, strict=False),
    _Rule("hw_maxphysaddr_mode", _ADDRESS_SPACE, "hw:maxphysaddr_mode", of_root=False),
    _Rule("hw_virtio_packed_ring", _when_true("COMPUTE_NET_VIRTIO_PACKED"), "hw:virtio_packed_ring", strict=False),
    _Rule("hw_sound_model", {"virtio": "COMPUTE_SOUND_MODEL_VIRTIO"}, "hw:sound_model", strict=False),
    _Rule("hw_ephemeral_encryption", _when_true("COMPUTE_EPHEMERAL_ENCRYPTION"), "hw:ephemeral_encryption", strict=False),
    _Rule("hw_ephemeral_encryption_format", _named("COMPUTE_EPHEMERAL_ENCRYPTION_"), "hw:ephemeral_encryption_format"),
)


def find_implied_traits(
    flavor: Flavor, image: Image | None, volume_backed: bool, settings: QuerySettings
) -> tuple[ImpliedTrait, ...]:
    """All that is implied; raises BadRequest naming the property whose value is bad or whose flavor says otherwise."""
    properties: Mapping[str, str] = image.properties if image else {}
    found = [
        implied
        for rule in _RULES
        if settings.image_metadata_prefilter or not rule.prefilter
        for implied in _apply(rule, properties, flavor.extra_specs)
    ]
    # A root volume is not written from the image by the host, so the host need not understand the image's format.
    if settings.require_image_type and image and image.disk_format and not volume_backed:
        found.append(_image_type(image.disk_format))
    return tuple(found)


def _apply(rule: _Rule, properties: Mapping[str, str], extra_specs: Mapping[str, str]) -> Iterator[ImpliedTrait]:
    of_image, of_flavor = properties.get(rule.image_key), extra_specs.get(rule.flavor_key)
    if of_image and of_flavor and _canonical(of_image) != _canonical(of_flavor):
        raise BadRequest(
            f"The image property {rule.image_key} has the value {of_image!r}, "
            f"but the flavor extra spec {rule.flavor_key} has {of_flavor!r}."
        )
    value = of_image or of_flavor
    if not value:
        return
    said_by = f"image property {rule.image_key}" if of_image else f"flavor extra spec {rule.flavor_key}"
    trait = rule.traits.get(_canonical(value))
    if trait is None and rule.strict:
        raise BadRequest(f"The {said_by} has the value {value!r}: it must be one of {', '.join(sorted(rule.traits))}.")
    if trait:
        yield ImpliedTrait(trait, said_by, rule.of_root)


def _image_type(disk_format: str) -> ImpliedTrait:
    trait = f"COMPUTE_IMAGE_TYPE_{disk_format.upper()}"
    if trait not in _IMAGE_TYPES:
        raise BadRequest(f"The image's disk_format {disk_format!r} is none that a host can support.")
    return ImpliedTrait(trait, "image's disk_format", of_root=True)


def _canonical(value: str) -> str:
    return value.strip().lower().replace("-", "_")


_IMAGE_TYPES: Final = frozenset(_named("COMPUTE_IMAGE_TYPE_").values())
