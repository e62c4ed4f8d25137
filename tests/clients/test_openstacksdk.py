"""The community's SDK, unpatched and in this process: the wider set of calls, each at the version that the SDK picks."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import openstack.config
import pytest
from openstack.connection import Connection
from openstack.exceptions import NotFoundException
from started_cloud import StartedCloud

# The SDK warns of its own code: what it will drop one day is its affair.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]

LIMIT_SECONDS = 20
FAST: dict[str, Any] = {"interval": 0.05, "wait": LIMIT_SECONDS}


def connect(cloud: StartedCloud, name: str) -> Connection:
    loaded = openstack.config.OpenStackConfig(config_files=[str(cloud.clouds_yaml)], load_envvars=False)
    return Connection(config=loaded.get_one(cloud=name))


@pytest.fixture(scope="module")
def sdk(cloud: StartedCloud) -> Iterator[Connection]:
    with connect(cloud, "kilonova") as connection:
        yield connection


@pytest.fixture(scope="module")
def own(cloud: StartedCloud) -> Iterator[Connection]:
    with connect(cloud, "kilonova-own") as connection:
        yield connection


@pytest.fixture(scope="module")
def flavor(sdk: Connection) -> Any:
    return sdk.compute.create_flavor(name="sdk-small", vcpus=1, ram=256, disk=1)


@pytest.fixture(scope="module")
def image(sdk: Connection) -> Any:
    return sdk.image.create_image("sdk-image", data=b"\0" * 4096, disk_format="raw", container_format="bare")


@pytest.fixture
def server(sdk: Connection, flavor: Any, image: Any) -> Iterator[Any]:
    made = sdk.compute.create_server(
        name=f"sdk-{uuid4().hex[:8]}", flavor_id=flavor.id, image_id=image.id, networks="none", metadata={"tier": "front"}
    )
    yield sdk.compute.wait_for_server(made, **FAST)
    sdk.compute.delete_server(made, ignore_missing=True)
    sdk.compute.wait_for_delete(made, **FAST)


def test_a_server_is_found_shown_and_listed(sdk: Connection, server: Any) -> None:
    assert sdk.compute.find_server(server.name).id == server.id
    shown = sdk.compute.get_server(server.id)
    assert (shown.status, shown.vm_state, shown.flavor.original_name) == ("ACTIVE", "active", "sdk-small")
    assert server.id in {entry.id for entry in sdk.compute.servers()}
    assert server.id in {entry.id for entry in sdk.compute.servers(details=False, name=server.name)}
    assert [entry.id for entry in sdk.compute.servers(limit=1, paginated=False)]


def settled(sdk: Connection, server_id: str, status: str) -> Any:
    # Read anew: the SDK takes an old reading in the wanted status for the end of the wait.
    return sdk.compute.wait_for_server(sdk.compute.get_server(server_id), status=status, **FAST)


def test_a_server_stops_starts_and_reboots(sdk: Connection, server: Any) -> None:
    sdk.compute.stop_server(server)
    assert settled(sdk, server.id, "SHUTOFF").power_state == 4
    sdk.compute.start_server(server)
    assert settled(sdk, server.id, "ACTIVE").power_state == 1
    for kind in ("SOFT", "HARD"):
        sdk.compute.reboot_server(server, kind)
        assert settled(sdk, server.id, "ACTIVE").task_state is None
    actions = {entry.action for entry in sdk.compute.server_actions(server)}
    assert actions == {"create", "stop", "start", "reboot"}


def test_metadata_and_tags_are_kept(sdk: Connection, server: Any) -> None:
    sdk.compute.set_server_metadata(server, colour="blue")
    assert sdk.compute.get_server_metadata(server).metadata == {"tier": "front", "colour": "blue"}
    sdk.compute.delete_server_metadata(server, ["tier"])
    assert sdk.compute.get_server(server.id).metadata == {"colour": "blue"}
    sdk.compute.add_tag_to_server(server, "first")
    assert sdk.compute.get_server(server.id).tags == ["first"]
    sdk.compute.remove_tags_from_server(server)
    assert sdk.compute.get_server(server.id).tags == []


def test_a_server_is_renamed_and_deleted(sdk: Connection, server: Any) -> None:
    assert sdk.compute.update_server(server, name="sdk-renamed", description="words").description == "words"
    assert sdk.compute.find_server("sdk-renamed").id == server.id
    assert "login:" in sdk.compute.get_server_console_output(server)["output"]
    sdk.compute.delete_server(server)
    sdk.compute.wait_for_delete(server, **FAST)
    with pytest.raises(NotFoundException):
        sdk.compute.get_server(server.id)


def test_flavors_have_extra_specs(sdk: Connection, flavor: Any) -> None:
    sdk.compute.create_flavor_extra_specs(flavor, {"hw:cpu_policy": "shared"})
    assert sdk.compute.get_flavor_extra_specs_property(flavor, "hw:cpu_policy") == "shared"
    assert sdk.compute.find_flavor("sdk-small", get_extra_specs=True).extra_specs == {"hw:cpu_policy": "shared"}
    sdk.compute.delete_flavor_extra_specs_property(flavor, "hw:cpu_policy")
    assert "sdk-small" in {entry.name for entry in sdk.compute.flavors()}


def test_a_keypair_is_made_and_deleted(sdk: Connection) -> None:
    made = sdk.compute.create_keypair(name="sdk-key")
    assert "PRIVATE KEY" in made.private_key
    assert sdk.compute.find_keypair("sdk-key").fingerprint == made.fingerprint
    sdk.compute.delete_keypair("sdk-key")
    assert "sdk-key" not in {entry.name for entry in sdk.compute.keypairs()}


def test_members_of_an_anti_affinity_group_are_kept_apart(sdk: Connection, flavor: Any, image: Any) -> None:
    group = sdk.compute.create_server_group(name="sdk-apart", policy="anti-affinity")
    made = [
        sdk.compute.create_server(
            name=f"sdk-apart-{number}",
            flavor_id=flavor.id,
            image_id=image.id,
            networks="none",
            scheduler_hints={"group": group.id},
        )
        for number in range(3)
    ]
    hosts = {sdk.compute.wait_for_server(entry, **FAST).compute_host for entry in made}
    assert hosts == {"host-1", "host-2", "host-3"}
    assert set(sdk.compute.get_server_group(group.id).member_ids) == {entry.id for entry in made}
    for entry in made:
        sdk.compute.delete_server(entry)
        sdk.compute.wait_for_delete(entry, **FAST)
    sdk.compute.delete_server_group(group)


def test_an_aggregate_gathers_hosts(sdk: Connection) -> None:
    aggregate = sdk.compute.create_aggregate(name="sdk-fast")
    sdk.compute.add_host_to_aggregate(aggregate, "host-1")
    sdk.compute.set_aggregate_metadata(aggregate, {"ssd": "true"})
    shown = sdk.compute.find_aggregate("sdk-fast")
    assert (shown.hosts, shown.metadata) == (["host-1"], {"ssd": "true"})
    sdk.compute.remove_host_from_aggregate(aggregate, "host-1")
    sdk.compute.delete_aggregate(aggregate)
    assert "sdk-fast" not in {entry.name for entry in sdk.compute.aggregates()}


def test_services_and_hypervisors_are_shown(sdk: Connection) -> None:
    service = sdk.compute.find_service("nova-compute", host="host-3")
    sdk.compute.disable_service(service, disabled_reason="rest")
    assert sdk.compute.find_service("nova-compute", host="host-3").status == "disabled"
    sdk.compute.enable_service(service)
    assert {entry.name for entry in sdk.compute.hypervisors()} == {"host-1", "host-2", "host-3"}
    assert sdk.compute.find_hypervisor("host-2", details=True).state == "up"
    assert [zone.name for zone in sdk.compute.availability_zones()] == ["nova"]
    assert sdk.compute.get_limits().absolute.instances == 10


def test_placement_answers_at_the_community_s_versions(sdk: Connection) -> None:
    assert {provider.name for provider in sdk.placement.resource_providers()} == {"host-1", "host-2", "host-3"}
    reply = sdk.placement.get("/allocation_candidates?resources=VCPU:1", microversion="1.39")
    assert len(reply.json()["allocation_requests"]) == 3
    assert sdk.placement.get("/resource_providers", headers={"OpenStack-API-Version": "placement 1.40"}).status_code == 406


def test_placement_answers_at_own_versions(own: Connection) -> None:
    provider = own.placement.find_resource_provider("host-1")
    path = f"/allocation_candidates?in_tree={provider.id}"
    newest = {"OpenStack-API-Version": "placement 1.39"}
    assert own.placement.get(path, headers=newest).status_code == 400
    reply = own.placement.get(f"{path}&required=HW_ARCH_X86_64", headers={"OpenStack-API-Version": "placement 1.1001"})
    assert reply.status_code == 200
    [found] = reply.json()["allocation_requests"]
    assert (found["allocations"], found["mappings"]) == ({}, {"": [provider.id]})
