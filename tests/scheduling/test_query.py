from dataclasses import replace

import os_traits
import pytest

from kilonova.domain.errors import BadRequest
from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.domain.resources import RequestGroup
from kilonova.scheduling.query import QueryParts, candidate_query
from kilonova.scheduling.settings import QuerySettings

FLAVOR = Flavor(id=1, flavorid="1", name="f", vcpus=2, memory_mb=1024, root_gb=10, ephemeral_gb=5, swap_mb=1025)
PREFILTER = QuerySettings(image_metadata_prefilter=True)


def asking(specs: dict[str, str]) -> Flavor:
    return replace(FLAVOR, extra_specs=specs)


def image(properties: dict[str, str], disk_format: str = "qcow2") -> Image:
    return Image(id="i", name="i", status="active", owner="p", disk_format=disk_format, properties=properties)


def one_each(*names: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset((name,)) for name in names)


def test_the_unsuffixed_group_is_the_flavors_sizes() -> None:
    query = candidate_query(FLAVOR, None)
    assert query.groups == (RequestGroup(resources={"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 17}),)
    assert query.root_forbidden == {"COMPUTE_STATUS_DISABLED"}
    assert (query.root_required, query.group_policy) == (frozenset(), None)


def test_a_volume_backed_server_needs_no_root_disk() -> None:
    assert candidate_query(FLAVOR, None, volume_backed=True).unsuffixed.resources["DISK_GB"] == 7
    diskless = replace(FLAVOR, ephemeral_gb=0, swap_mb=0)
    assert "DISK_GB" not in candidate_query(diskless, None, volume_backed=True).unsuffixed.resources


def test_resources_of_the_flavor_override_its_sizes_and_zero_removes() -> None:
    specs = {"resources:VCPU": "0", "resources:MEMORY_MB": "2048", "resources:CUSTOM_GPU": "1"}
    assert candidate_query(asking(specs), None).unsuffixed.resources == {
        "MEMORY_MB": 2048,
        "DISK_GB": 17,
        "CUSTOM_GPU": 1,
    }


def test_a_class_that_a_suffixed_group_asks_for_is_asked_there_only() -> None:
    query = candidate_query(asking({"resources1:VCPU": "2"}), None)
    assert "VCPU" not in query.unsuffixed.resources
    assert query.groups[1] == RequestGroup("1", {"VCPU": 2})


def test_traits_of_flavor_and_image_meet_in_the_unsuffixed_group() -> None:
    specs = {"trait:CUSTOM_A": "required", "trait:CUSTOM_B": "forbidden"}
    properties = {"trait:CUSTOM_C": "required", "trait:CUSTOM_D": "forbidden", "trait:CUSTOM_A": "required"}
    group = candidate_query(asking(specs), image(properties)).unsuffixed
    assert group.required == one_each("CUSTOM_A", "CUSTOM_C")
    assert group.forbidden == {"CUSTOM_B", "CUSTOM_D"}


def test_a_forbidden_trait_counts_even_if_it_is_the_only_condition() -> None:
    """Case C043."""
    assert candidate_query(asking({"trait:CUSTOM_BAD": "forbidden"}), None).unsuffixed.forbidden == {"CUSTOM_BAD"}


def test_suffixed_groups_are_the_flavors_alone() -> None:
    specs = {
        "resources_NET:CUSTOM_NIC": "1",
        "trait_NET:CUSTOM_FAST": "required",
        "trait_NET:CUSTOM_OLD": "forbidden",
        "resources2:VGPU": "1",
        "group_policy": "isolate",
    }
    query = candidate_query(asking(specs), image({"trait:CUSTOM_T": "required"}))
    assert query.unsuffixed.required == one_each("CUSTOM_T")
    assert query.groups[1:] == (
        RequestGroup("_NET", {"CUSTOM_NIC": 1}, one_each("CUSTOM_FAST"), frozenset(("CUSTOM_OLD",))),
        RequestGroup("2", {"VGPU": 1}),
    )
    assert query.group_policy == "isolate"


def test_several_groups_without_a_policy_get_none() -> None:
    specs = {"resources1:VGPU": "1", "resources2:VGPU": "1"}
    assert candidate_query(asking(specs), None).group_policy == "none"
    assert candidate_query(asking({"resources1:VGPU": "1"}), None).group_policy is None


def test_traits_become_the_roots_when_the_unsuffixed_group_has_no_resources() -> None:
    specs = {
        "resources:MEMORY_MB": "0",
        "resources:DISK_GB": "0",
        "resources1:VCPU": "2",
        "trait:CUSTOM_A": "required",
        "trait:CUSTOM_B": "forbidden",
    }
    query = candidate_query(asking(specs), image({"trait:CUSTOM_C": "required"}))
    assert [group.suffix for group in query.groups] == ["1"]
    assert query.root_required == {"CUSTOM_A", "CUSTOM_C"}
    assert query.root_forbidden == {"CUSTOM_B", "COMPUTE_STATUS_DISABLED"}


def test_the_callers_parts_are_carried() -> None:
    ports = RequestGroup("_port1", {"NET_BW_EGR_KILOBIT_PER_SEC": 1000})
    parts = QueryParts(
        member_of=(frozenset(("a", "b")),),
        forbidden_aggregates=frozenset(("c",)),
        in_tree="root",
        groups=(ports,),
        same_subtree=(frozenset(("_port1",)),),
        root_required=frozenset(("COMPUTE_REMOTE_MANAGED_PORTS",)),
    )
    query = candidate_query(FLAVOR, None, parts=parts)
    assert query.unsuffixed.member_of == (frozenset(("a", "b")),)
    assert query.unsuffixed.forbidden_aggregates == {"c"}
    assert query.unsuffixed.in_tree == "root"
    assert query.groups[1] == ports
    assert query.same_subtree == (frozenset(("_port1",)),)
    assert query.root_required == {"COMPUTE_REMOTE_MANAGED_PORTS"}


def test_the_image_type_is_required_only_when_the_setting_says_so() -> None:
    settings = QuerySettings(require_image_type=True)
    assert candidate_query(FLAVOR, image({})).root_required == frozenset()
    assert candidate_query(FLAVOR, image({}), settings=settings).root_required == {"COMPUTE_IMAGE_TYPE_QCOW2"}
    assert candidate_query(FLAVOR, image({}), volume_backed=True, settings=settings).root_required == frozenset()


@pytest.mark.parametrize(
    ("key", "value", "trait"),
    [
        ("hw_disk_bus", "virtio", "COMPUTE_STORAGE_BUS_VIRTIO"),
        ("hw_cdrom_bus", "sata", "COMPUTE_STORAGE_BUS_SATA"),
        ("hw_video_model", "qxl", "COMPUTE_GRAPHICS_MODEL_QXL"),
        ("hw_vif_model", "spapr-vlan", "COMPUTE_NET_VIF_MODEL_SPAPR_VLAN"),
        ("hw_firmware_type", "uefi", "COMPUTE_FIRMWARE_UEFI"),
        ("hw_architecture", "x86_64", "HW_ARCH_X86_64"),
        ("hw_viommu_model", "intel", "COMPUTE_VIOMMU_MODEL_INTEL"),
    ],
)
def test_what_an_image_implies_of_devices_is_asked_when_the_setting_says_so(key: str, value: str, trait: str) -> None:
    assert trait in os_traits.get_traits()
    assert candidate_query(FLAVOR, image({key: value})).root_required == frozenset()
    assert candidate_query(FLAVOR, image({key: value}), settings=PREFILTER).root_required == {trait}


@pytest.mark.parametrize(
    ("key", "value", "trait"),
    [
        ("hw_tpm_version", "2.0", "COMPUTE_SECURITY_TPM_2_0"),
        ("hw_tpm_model", "tpm-crb", "COMPUTE_SECURITY_TPM_CRB"),
        ("os_secure_boot", "required", "COMPUTE_SECURITY_UEFI_SECURE_BOOT"),
        ("hw_firmware_stateless", "true", "COMPUTE_SECURITY_STATELESS_FIRMWARE"),
        ("hw_maxphysaddr_mode", "emulate", "COMPUTE_ADDRESS_SPACE_EMULATED"),
    ],
)
def test_security_of_an_image_is_asked_always(key: str, value: str, trait: str) -> None:
    assert trait in os_traits.get_traits()
    assert candidate_query(FLAVOR, image({key: value})).unsuffixed.required == one_each(trait)


def test_a_flavor_implies_as_an_image_does() -> None:
    query = candidate_query(asking({"hw:tpm_version": "1.2", "hw:virtio_packed_ring": "true"}), None)
    assert query.unsuffixed.required == one_each("COMPUTE_SECURITY_TPM_1_2")
    assert query.root_required == {"COMPUTE_NET_VIRTIO_PACKED"}


REFUSED = [
    ({}, {"trait:CUSTOM_A": "maybe"}, "image property trait:CUSTOM_A"),
    ({}, {"trait:custom": "required"}, "image property trait:custom"),
    ({}, {"trait:": "required"}, "image property trait:"),
    ({"trait:CUSTOM_A": "no"}, {}, "flavor extra spec trait:CUSTOM_A"),
    ({"trait:CUSTOM_A": "forbidden"}, {"trait:CUSTOM_A": "required"}, "image property trait:CUSTOM_A requires"),
    ({"trait:CUSTOM_A": "required"}, {"trait:CUSTOM_A": "forbidden"}, "image property trait:CUSTOM_A forbids"),
    ({}, {"trait:COMPUTE_STATUS_DISABLED": "required"}, "image property trait:COMPUTE_STATUS_DISABLED"),
    ({"trait:COMPUTE_STORAGE_BUS_SCSI": "forbidden"}, {"hw_disk_bus": "scsi"}, "image property hw_disk_bus requires"),
    ({}, {"hw_disk_bus": "telepathy"}, "image property hw_disk_bus"),
    ({}, {"hw_tpm_version": "3"}, "image property hw_tpm_version"),
    ({"hw:tpm_version": "1.2"}, {"hw_tpm_version": "2.0"}, "image property hw_tpm_version"),
    ({}, {"hw_architecture": "z80"}, "image property hw_architecture"),
    ({}, {"vm_mode": "dream"}, "image property vm_mode"),
    ({}, {"img_hv_type": "abacus"}, "image property img_hv_type"),
    ({}, {"hypervisor_version_requires": "new"}, "image property hypervisor_version_requires"),
    ({"resources:VCPU": "two"}, {}, "flavor extra spec resources:VCPU"),
    ({"resources:VCPU": "-1"}, {}, "flavor extra spec resources:VCPU"),
    ({"resources:WISHES": "1"}, {}, "flavor extra spec resources:WISHES"),
    ({"trait1:CUSTOM_A": "required"}, {}, "flavor extra spec trait1:CUSTOM_A"),
    ({"group_policy": "crowd"}, {}, "flavor extra spec group_policy"),
]


@pytest.mark.parametrize(("specs", "properties", "said"), REFUSED)
def test_what_could_never_be_right_is_refused_and_the_property_named(
    specs: dict[str, str], properties: dict[str, str], said: str
) -> None:
    with pytest.raises(BadRequest, match=said):
        candidate_query(asking(specs), image(properties), settings=PREFILTER)


def test_a_flavor_that_asks_for_nothing_is_refused() -> None:
    specs = {"resources:VCPU": "0", "resources:MEMORY_MB": "0", "resources:DISK_GB": "0"}
    with pytest.raises(BadRequest, match="no resources at all"):
        candidate_query(asking(specs), None)


def test_a_trait_that_does_not_exist_is_refused_wherever_it_is_named() -> None:
    parts = QueryParts(known_traits=frozenset(("CUSTOM_A",)))
    candidate_query(asking({"trait:CUSTOM_A": "required"}), image({}), parts=parts)
    with pytest.raises(BadRequest, match="image property trait:CUSTOM_Z names a trait that does not exist"):
        candidate_query(FLAVOR, image({"trait:CUSTOM_Z": "forbidden"}), parts=parts)
    with pytest.raises(BadRequest, match="flavor extra spec trait1:CUSTOM_Z names"):
        candidate_query(asking({"resources1:VGPU": "1", "trait1:CUSTOM_Z": "required"}), None, parts=parts)
