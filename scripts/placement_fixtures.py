"""What each file of placement's own suite expects of the service, made through its public API.

The suite runs in an environment of its own and finds these classes by the names that its files give. The addresses
of the service, one or several, are in KILONOVA_PLACEMENT_URLS; how it is configured (policy, CORS) is the business of whoever
starts it.
"""

import os
from collections.abc import Iterator, Mapping
from uuid import uuid4

from gabbi.fixture import GabbiFixture
from placement_ledger import Ledger, Provider

URLS = "KILONOVA_PLACEMENT_URLS"
SHARES = "MISC_SHARES_VIA_AGGREGATE"
FRESH_IDS = (
    "RP_UUID",
    "RP_NAME",
    "RP_UUID1",
    "RP_NAME1",
    "RP_UUID2",
    "RP_NAME2",
    "PROJECT_ID",
    "ADMIN_PROJECT_ID",
    "SERVICE_PROJECT_ID",
    "USER_ID",
    "PROJECT_ID_ALT",
    "USER_ID_ALT",
    "INSTANCE_UUID",
    "MIGRATION_UUID",
    "CONSUMER_UUID",
    "PARENT_PROVIDER_UUID",
    "ALT_PARENT_PROVIDER_UUID",
)
CLASSES = {
    "CUSTOM_RES_CLASS": "CUSTOM_IRON_NFV",
    "CUSTOM_RES_CLASS1": "CUSTOM_IRON_NFV1",
    "CUSTOM_RES_CLASS2": "CUSTOM_IRON_NFV2",
}


class APIFixture(GabbiFixture):
    """An empty ledger, and new ids in the environment."""

    def start_fixture(self) -> None:
        self.ledger = Ledger(os.environ[URLS].split())
        self.ledger.empty()
        fresh_ids(*FRESH_IDS)
        os.environ.update(CLASSES)
        self.fill()

    def fill(self) -> None:
        """Make what is there besides; nothing here."""

    def tell(self, **names: str) -> None:
        """Put providers' uuids into the environment: variable to name."""
        os.environ.update({variable: self.ledger.uuids[name] for variable, name in names.items()})


class OpenPolicyFixture(APIFixture):
    """For a service whose policy lets everybody do all."""


class SecureRBACPolicyFixture(APIFixture):
    """For a service with the default policy."""


class LegacyRBACPolicyFixture(APIFixture):
    """For a service whose policy lets administrators do what services may."""


class CORSFixture(APIFixture):
    """For a service that lets pages of http://valid.example.com use it."""


class AllocationFixture(APIFixture):
    """One provider, and three consumers of two users that hold some of it."""

    def fill(self) -> None:
        disk = {"total": 2048, "min_unit": 10, "step_size": 10, "max_unit": 1000}
        name, project = os.environ["RP_NAME"], os.environ["PROJECT_ID"]
        self.ledger.make(Provider(name, {"DISK_GB": disk, "VCPU": 10}, uuid=os.environ["RP_UUID"]))
        fresh_ids("ALT_USER_ID", "ALT_RP_UUID", "ALT_RP_NAME")
        user, other = os.environ["USER_ID"], os.environ["ALT_USER_ID"]
        os.environ["CONSUMER_0"] = self.ledger.claim(name, {"DISK_GB": 1000}, project, user)
        os.environ["CONSUMER_ID"] = self.ledger.claim(name, {"VCPU": 6}, project, user)
        os.environ["ALT_CONSUMER_ID"] = self.ledger.claim(name, {"DISK_GB": 20, "VCPU": 1}, project, other)


class SharedStorageFixture(APIFixture):
    """Two hosts, of which one has a disk, and two shared disks; each host has two NUMA nodes with a network device."""

    def fill(self) -> None:
        aggregate = fresh_ids("AGG_UUID")
        disk = {"total": 2000, "reserved": 100}
        cpu = {"VCPU": {"total": 24, "allocation_ratio": 16.0}, "MEMORY_MB": {"total": 131072, "allocation_ratio": 1.5}}
        self.ledger.make(
            Provider("cn1", cpu, ("HW_CPU_X86_SSE", "HW_CPU_X86_SSE2"), aggregate),
            Provider("cn2", {**cpu, "DISK_GB": disk}, (), aggregate),
            Provider("ss", {"DISK_GB": disk}, (SHARES,), aggregate),
            Provider("ss2", {"DISK_GB": disk}, (SHARES,), aggregate),
        )
        for host, node in ((1, 1), (1, 2), (2, 1), (2, 2)):
            place = f"{host}_{node}"
            self.ledger.make(
                Provider(f"numa{place}", parent=f"cn{host}"), Provider(f"pf{place}", {"SRIOV_NET_VF": 8}, parent=f"numa{place}")
            )
            self.tell(**{f"NUMA{place}_UUID": f"numa{place}", f"PF{place}_UUID": f"pf{place}"})
        self.tell(CN1_UUID="cn1", CN2_UUID="cn2", SS_UUID="ss", SS2_UUID="ss2")


class NUMAAggregateFixture(APIFixture):
    """Two hosts that share a disk; one of their four NUMA nodes shares another."""

    def fill(self) -> None:
        first, second, third = fresh_ids("AGGA_UUID", "AGGB_UUID", "AGGC_UUID")
        disk = {"DISK_GB": {"total": 2000, "reserved": 100}}
        cpu = {"VCPU": {"total": 24, "allocation_ratio": 16.0}}
        self.ledger.make(
            Provider("cn1", aggregates=(first,)),
            Provider("cn2", aggregates=(first, second)),
            Provider("ss1", disk, (SHARES,), (first,)),
            Provider("ss2", disk, (SHARES,), (third,)),
            Provider("numa1_1", cpu, aggregates=(third,), parent="cn1"),
            Provider("numa1_2", cpu, parent="cn1"),
            Provider("numa2_1", cpu, parent="cn2"),
            Provider("numa2_2", cpu, parent="cn2"),
        )
        self.tell(CN1_UUID="cn1", CN2_UUID="cn2", SS1_UUID="ss1", SS2_UUID="ss2")
        self.tell(NUMA1_1_UUID="numa1_1", NUMA1_2_UUID="numa1_2", NUMA2_1_UUID="numa2_1", NUMA2_2_UUID="numa2_2")


class NUMANetworkFixture(APIFixture):
    """A host whose NUMA nodes have devices and whose agents have networks, a host with network cards, and a shared disk."""

    parents: Mapping[str, str] = {}

    def fill(self) -> None:
        aggregates = fresh_ids("AGGA_UUID")
        self.ledger.make(
            Provider("ss1", {"DISK_GB": 2000}, (SHARES,), aggregates),
            Provider("cn1", {}, ("COMPUTE_VOLUME_MULTI_ATTACH",), aggregates, self.parents.get("cn1", "")),
            *_numa_side(),
            *_network_side(),
            Provider(
                "cn2",
                {"VCPU": 8, "MEMORY_MB": {"total": 2048, "min_unit": 1024, "step_size": 128}, "DISK_GB": 1000},
                ("CUSTOM_FOO",),
                aggregates,
                self.parents.get("cn2", ""),
            ),
            *_cards(),
        )
        self.ledger.claim("numa0", {"VCPU": 2}, "numafx-project", "numafx-user")
        self.ledger.claim("cn2", {"VCPU": 3}, "numafx-project", "numafx-user")
        self.tell(**{f"{name.upper()}_UUID": name for name in self.ledger.uuids})


def _numa_side() -> Iterator[Provider]:
    first = {"VCPU": 4, "MEMORY_MB": {"total": 2048, "min_unit": 512, "step_size": 256}}
    second = {"VCPU": 4, "MEMORY_MB": {"total": 2048, "min_unit": 256, "max_unit": 1024}}
    yield Provider("numa0", first, ("HW_NUMA_ROOT",), parent="cn1")
    yield Provider("numa1", second, ("HW_NUMA_ROOT", "CUSTOM_FOO"), parent="cn1")
    yield Provider("fpga0", {"FPGA": 1}, parent="numa0")
    yield Provider("pgpu0", {"VGPU": 8}, parent="numa0")
    yield Provider("fpga1_0", {"FPGA": 1}, parent="numa1")
    yield Provider("fpga1_1", {"FPGA": 1}, parent="numa1")


def _network_side() -> Iterator[Provider]:
    bandwidth = "NET_BW_EGR_KILOBIT_PER_SEC"
    yield Provider("sriov_agent", {}, ("CUSTOM_VNIC_TYPE_DIRECT",), parent="cn1")
    yield Provider("esn1", {bandwidth: 10000}, ("CUSTOM_PHYSNET1",), parent="sriov_agent")
    yield Provider("esn2", {bandwidth: 20000}, ("CUSTOM_PHYSNET2",), parent="sriov_agent")
    yield Provider("ovs_agent", {}, ("CUSTOM_VNIC_TYPE_NORMAL",), parent="cn1")
    yield Provider("br_int", {bandwidth: 1000}, ("CUSTOM_PHYSNET0",), parent="ovs_agent")


def _cards() -> Iterator[Provider]:
    """Three cards; each of their devices by the network that it is on."""
    for card, functions, networks in ((1, 4, (1, 2)), (2, 2, (1, 2, 1, 2)), (3, 8, (1,))):
        yield Provider(f"nic{card}", {}, ("CUSTOM_HW_NIC_ROOT",), parent="cn2")
        for number, network in enumerate(networks, 1):
            yield Provider(f"pf{card}_{number}", {"CUSTOM_VF": functions}, (f"CUSTOM_PHYSNET{network}",), parent=f"nic{card}")


class DeepNUMANetworkFixture(NUMANetworkFixture):
    """The same two hosts, each below a parent, and both below one grandparent."""

    parents: Mapping[str, str] = {"cn1": "p1", "cn2": "p2"}

    def fill(self) -> None:
        self.ledger.make(Provider("gp1"), Provider("p1", parent="gp1"), Provider("p2", parent="gp1"))
        super().fill()


class NonSharedStorageFixture(APIFixture):
    """Three hosts with disks of their own."""

    def fill(self) -> None:
        fresh_ids("AGGA_UUID", "AGGB_UUID", "AGGC_UUID")
        for number in (1, 2, 3):
            self.ledger.make(Provider(f"cn{number}", {"VCPU": 24, "MEMORY_MB": 131072, "DISK_GB": 2000}))
            self.tell(**{f"CN{number}_UUID": f"cn{number}"})


class GranularFixture(APIFixture):
    """Three hosts that differ in what they have, two shared disks and a shared network, joined by three aggregates."""

    def fill(self) -> None:
        first, second, third = fresh_ids("AGGA", "AGGB", "AGGC")
        cpu = {"VCPU": 8, "MEMORY_MB": 4096}
        net = {"SRIOV_NET_VF": 8, "CUSTOM_NET_MBPS": 4000}
        self.ledger.make(
            Provider(
                "cn_left",
                {**cpu, "DISK_GB": 500, "VGPU": 8, **net},
                ("HW_CPU_X86_AVX", "HW_CPU_X86_AVX2", "HW_GPU_API_DXVA", "HW_NIC_DCB_PFC", "CUSTOM_FOO"),
                (first,),
            ),
            Provider(
                "cn_middle",
                {**cpu, **net},
                ("HW_CPU_X86_AVX", "HW_CPU_X86_AVX2", "HW_CPU_X86_SSE", "HW_NIC_ACCEL_TLS"),
                (first, second),
            ),
            Provider(
                "cn_right",
                {**cpu, "DISK_GB": 500, "VGPU": {"total": 8, "max_unit": 2}},
                ("HW_CPU_X86_MMX", "HW_GPU_API_DXVA", "CUSTOM_DISK_SSD"),
                (second, third),
            ),
            Provider("shr_disk_1", {"DISK_GB": 1000}, (SHARES, "CUSTOM_DISK_SSD"), (first,)),
            Provider("shr_disk_2", {"DISK_GB": 1000}, (SHARES,), (first, second)),
            Provider("shr_net", {"SRIOV_NET_VF": 16, "CUSTOM_NET_MBPS": 40000}, (SHARES,), (third,)),
        )
        self.tell(**{name.upper(): name for name in self.ledger.uuids})


class NeutronQoSMultiSegmentFixture(APIFixture):
    """Four hosts with an agent of each kind, whose devices are on other networks than the wanted one, on one segment, or both."""

    # A host's bridges and physical functions: the end of the variable's name, the device's name, and its network.
    hosts = (
        ("compute0", 5000, 10000, (("br_ex", "br-ex", "OTHER"),), (("pf0", "enp129s0f0", "OTHER"),)),
        ("compute1", 5000, 10000, (("br_ex", "br-ex", "MSN_S1"),), (("pf0", "enp129s0f0", "MSN_S1"),)),
        ("compute2", 5000, 10000, (("br_ex", "br-ex", "MSN_S2"),), (("pf0", "enp129s0f0", "MSN_S2"),)),
        (
            "compute3",
            1000,
            1000,
            (("br_ex", "br-ex", "MSN_S1"), ("br_ex2", "br-ex2", "MSN_S2")),
            (("pf0", "enp129s0f0", "MSN_S1"), ("pf1", "enp129s0f1", "MSN_S2")),
        ),
    )
    direct = ("CUSTOM_VNIC_TYPE_DIRECT", "CUSTOM_VNIC_TYPE_DIRECT_PHYSICAL", "CUSTOM_VNIC_TYPE_MACVTAP")

    def fill(self) -> None:
        normal = ("CUSTOM_VNIC_TYPE_NORMAL",)
        for host, bridged, direct, bridges, functions in self.hosts:
            switch, nics = f"{host}:Open vSwitch agent", f"{host}:NIC Switch agent"
            self.ledger.make(
                Provider(host, {"VCPU": 8, "MEMORY_MB": 4096, "DISK_GB": 500}),
                Provider(switch, {"NET_PACKET_RATE_KILOPACKET_PER_SEC": 1000}, normal, parent=host),
                Provider(nics, {}, self.direct, parent=host),
            )
            self.tell(**{host: host, f"{host}:ovs_agent": switch, f"{host}:sriov_agent": nics})
            for agent, speed, traits, devices in ((switch, bridged, normal, bridges), (nics, direct, self.direct, functions)):
                both = {"NET_BW_EGR_KILOBIT_PER_SEC": speed, "NET_BW_IGR_KILOBIT_PER_SEC": speed}
                for variable, device, network in devices:
                    name = f"{agent}:{device}"
                    self.ledger.make(Provider(name, both, (*traits, f"CUSTOM_PHYSNET_{network}"), parent=agent))
                    self.tell(**{f"{host}:{variable}": name})


def fresh_ids(*variables: str) -> list[str]:
    """New uuids, in the environment under these names."""
    made = [str(uuid4()) for _ in variables]
    os.environ.update(zip(variables, made, strict=True))
    return made
