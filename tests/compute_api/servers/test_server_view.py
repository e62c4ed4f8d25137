"""What a server shows at each version and to whom."""

from typing import Any

import pytest

from kilonova.domain.flavor import Flavor

from .cloud import IMAGE, OTHER_PROJECT, PROJECT, START, Cloud, server, wish_for

pytestmark = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)

PORT = {
    "id": "p", "network_id": "n", "network_name": "net", "mac_address": "fa:16:3e:00:00:01", "made": True, "tag": "",
    "fixed_ips": [{"ip_address": "10.1.2.3", "subnet_id": "s", "version": 4}],
}  # fmt: skip


async def show(cloud: Cloud, version: str, token: str = "member", **changed: Any) -> dict[str, Any]:
    made = server(**changed)
    await cloud.add(made)
    shown: dict[str, Any] = (await cloud.get(f"/servers/{made.id}", version=version, token=token))["server"]
    return shown


FIRST_KEYS = {
    "id", "name", "status", "tenant_id", "user_id", "metadata", "hostId", "image", "flavor", "created", "updated", "addresses",
    "accessIPv4", "accessIPv6", "links", "OS-DCF:diskConfig", "key_name", "config_drive", "security_groups", "progress",
    "os-extended-volumes:volumes_attached", "OS-EXT-AZ:availability_zone", "OS-SRV-USG:launched_at",
    "OS-SRV-USG:terminated_at", "OS-EXT-STS:task_state", "OS-EXT-STS:vm_state", "OS-EXT-STS:power_state",
}  # fmt: skip


async def test_the_first_version_shows_the_first_keys(cloud: Cloud) -> None:
    shown = await show(cloud, "2.1")
    assert set(shown) == FIRST_KEYS
    assert shown["flavor"] == {"id": "f1", "links": [{"rel": "bookmark", "href": "http://cloud/compute/flavors/f1"}]}
    assert shown["image"] == {"id": IMAGE, "links": [{"rel": "bookmark", "href": f"http://cloud/compute/images/{IMAGE}"}]}
    assert shown["created"] == "2026-09-21T14:13:20Z"
    assert (shown["status"], shown["config_drive"], len(shown["hostId"])) == ("ACTIVE", "", 56)


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("2.9", "locked"),
        ("2.19", "description"),
        ("2.26", "tags"),
        ("2.63", "trusted_image_certificates"),
        ("2.71", "server_groups"),
        ("2.73", "locked_reason"),
        ("2.90", "OS-EXT-SRV-ATTR:hostname"),
        ("2.96", "pinned_availability_zone"),
        ("2.100", "scheduler_hints"),
    ],
)
async def test_a_key_comes_with_its_version(cloud: Cloud, version: str, key: str) -> None:
    major, minor = version.split(".")
    assert key in await show(cloud, version)
    assert key not in await show(cloud, f"{major}.{int(minor) - 1}")


async def test_the_flavor_is_embedded_from_2_47(cloud: Cloud) -> None:
    shown = await show(cloud, "2.47", flavor=Flavor(1, "f1", "small", 2, 512, 1, 3, 4, extra_specs={"a": "b"}))
    assert shown["flavor"] == {
        "vcpus": 2, "ram": 512, "disk": 1, "ephemeral": 3, "swap": 4, "original_name": "small", "extra_specs": {"a": "b"},
    }  # fmt: skip


async def test_image_properties_are_shown_from_2_98(cloud: Cloud) -> None:
    assert (await show(cloud, "2.98"))["image"]["properties"] == {"os_distro": "cirros"}
    assert "properties" not in (await show(cloud, "2.97"))["image"]


async def test_certificates_and_hints_are_shown_as_asked(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made, wish=wish_for(made, trusted_certificates=("c",), hints={"query": "q"}))
    shown = (await cloud.get(f"/servers/{made.id}"))["server"]
    assert (shown["trusted_image_certificates"], shown["scheduler_hints"]) == (["c"], {"query": "q"})


async def test_addresses_carry_their_card(cloud: Cloud) -> None:
    shown = await show(cloud, "2.1", addresses=(PORT,))
    assert shown["addresses"] == {
        "net": [
            {
                "version": 4, "addr": "10.1.2.3", "OS-EXT-IPS:type": "fixed",
                "OS-EXT-IPS-MAC:mac_addr": "fa:16:3e:00:00:01",
            }
        ]
    }  # fmt: skip


async def test_hosts_are_shown_to_administrators_only(cloud: Cloud) -> None:
    await cloud.sql(
        "INSERT INTO hosts VALUES ('host-1', 1, 's', 'cell1', 'p', 1, '', TRUE, FALSE, NULL, FALSE, 0, ?, '', 0, 0, 0)",
        '{"hostname":"node-1"}',
    )
    shown = await show(cloud, "2.100", token="admin")
    assert shown["OS-EXT-SRV-ATTR:host"] == "host-1"
    assert shown["OS-EXT-SRV-ATTR:hypervisor_hostname"] == "node-1"
    assert shown["host_status"] == "UP"
    assert "host_status" not in await show(cloud, "2.15", token="admin")
    member = await show(cloud, "2.100")
    assert "host_status" not in member
    assert "OS-EXT-SRV-ATTR:host" not in member


async def test_a_buried_server_shows_its_fault_and_no_host(cloud: Cloud) -> None:
    fault = {"code": 500, "created": START, "message": "No valid host was found.", "details": "host-1: 64 VCPU asked"}
    buried: dict[str, Any] = {"vm_state": "error", "host": None, "fault": fault, "pinned_zone": "az1"}
    shown = await show(cloud, "2.1", **buried)
    assert (shown["status"], shown["hostId"], shown["OS-EXT-AZ:availability_zone"]) == ("ERROR", "", "az1")
    assert shown["fault"] == {"code": 500, "created": "2026-09-21T14:13:20Z", "message": "No valid host was found."}
    assert "progress" not in shown
    assert (await show(cloud, "2.1", "admin", **buried))["fault"]["details"] == "host-1: 64 VCPU asked"


async def test_a_server_of_another_project_does_not_exist(cloud: Cloud) -> None:
    made = server(project_id=OTHER_PROJECT)
    await cloud.add(made, server(deleted=True, name="gone"))
    assert (await cloud.call("GET", f"/servers/{made.id}")).status_code == 404
    assert (await cloud.call("GET", f"/servers/{made.id}", token="admin")).status_code == 200
    assert (await cloud.call("GET", "/servers/gone")).json()["itemNotFound"]["code"] == 404
    assert (await cloud.call("DELETE", f"/servers/{made.id}")).status_code == 404
    assert cloud.acceptor.acts == []


async def test_a_project_may_stand_in_the_path(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    assert (await cloud.call("GET", f"/{PROJECT}/servers/{made.id}")).status_code == 200
