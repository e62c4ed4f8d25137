"""Ports through HTTP."""

from typing import Any
from uuid import uuid4

import pytest

from .neighbourhood import Neighbourhood


async def test_a_port_has_what_clients_read(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24")
    made = await near.make("port", network_id=net, name="p", description="d", mac_address="FA:16:3E:00:00:01")
    assert made["mac_address"] == "fa:16:3e:00:00:01"
    assert (made["status"], made["device_id"], made["binding:vnic_type"]) == ("DOWN", "", "normal")
    assert len(made["fixed_ips"]) == len(made["security_groups"]) == 1
    assert "binding:host_id" not in made
    assert (await near.get(f"/ports/{made['id']}"))["port"] == made
    shown = (await near.as_("admin").get(f"/ports/{made['id']}"))["port"]
    assert (shown["binding:vif_type"], shown["binding:host_id"]) == ("unbound", "")
    assert await near.as_("bob").refused("GET", f"/ports/{made['id']}") == (404, "PortNotFound")


async def test_addresses_are_taken_as_asked(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24", "10.1.0.0/24")
    first, second = (
        entry["id"]
        for entry in (await near.get(f"/networks/{net}"))["network"]["subnets"]
        and (await near.get("/subnets?sort_key=cidr"))["subnets"]
    )
    asked = [{"subnet_id": second}, {"ip_address": "10.0.0.9"}, {"subnet_id": first, "ip_address": "10.0.0.1"}]
    made = await near.make("port", network_id=net, fixed_ips=asked)
    assert [entry["subnet_id"] for entry in made["fixed_ips"]] == [second, first, first]
    assert [entry["ip_address"] for entry in made["fixed_ips"]][1:] == ["10.0.0.9", "10.0.0.1"]
    assert (await near.make("port", network_id=net, fixed_ips=[]))["fixed_ips"] == []


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"network_id": str(uuid4())}, (404, "NetworkNotFound")),
        ({"fixed_ips": [{"ip_address": "10.9.0.1"}]}, (400, "InvalidIpForNetwork")),
        ({"fixed_ips": [{"ip_address": "10.0.0.0"}]}, (400, "InvalidIpForNetwork")),
        ({"fixed_ips": [{"ip_address": "10.0.0.7"}]}, (409, "IpAddressAlreadyAllocated")),
        ({"fixed_ips": [{"subnet_id": str(uuid4())}]}, (400, "InvalidInput")),
        ({"fixed_ips": [{}]}, (400, "InvalidInput")),
        ({"fixed_ips": [{"ip_address": "ten"}]}, (400, "HTTPBadRequest")),
        ({"mac_address": "fa:16:3e:00:00:07"}, (409, "MacAddressInUse")),
        ({"mac_address": "01:16:3e:00:00:07"}, (400, "HTTPBadRequest")),
        ({"security_groups": [str(uuid4())]}, (404, "SecurityGroupNotFound")),
        ({"binding:host_id": "host-1"}, (403, "PolicyNotAuthorized")),
        ({"binding:vnic_type": "direct"}, (400, "HTTPBadRequest")),
    ],
)
async def test_a_wrong_port_is_refused(near: Neighbourhood, body: dict[str, Any], refusal: tuple[int, str]) -> None:
    net = await near.net("10.0.0.0/24")
    await near.make("port", network_id=net, mac_address="fa:16:3e:00:00:07", fixed_ips=[{"ip_address": "10.0.0.7"}])
    assert await near.refused("POST", "/ports", {"port": {"network_id": net, **body}}) == refusal
    assert len((await near.get("/ports"))["ports"]) == 1


async def test_on_a_shared_network_only_its_owner_chooses_addresses(near: Neighbourhood) -> None:
    net = await near.as_("admin").net("10.0.0.0/24", shared=True)
    assert (await near.make("port", network_id=net))["fixed_ips"]
    for body in ({"mac_address": "fa:16:3e:00:00:07"}, {"fixed_ips": [{"ip_address": "10.0.0.7"}]}):
        asked = {"port": {"network_id": net, **body}}
        assert await near.refused("POST", "/ports", asked) == (403, "PolicyNotAuthorized")


async def test_an_update_keeps_the_addresses_that_stay_and_frees_the_others(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24")
    both = [{"ip_address": "10.0.0.7"}, {"ip_address": "10.0.0.8"}]
    made = await near.make("port", network_id=net, fixed_ips=both)
    body = {"port": {"fixed_ips": [both[1], {"ip_address": "10.0.0.9"}], "device_id": "d", "name": "n"}}
    changed = (await near.ask("PUT", f"/ports/{made['id']}", body))["port"]
    assert [entry["ip_address"] for entry in changed["fixed_ips"]] == ["10.0.0.8", "10.0.0.9"]
    assert (changed["device_id"], changed["name"]) == ("d", "n")
    await near.make("port", network_id=net, fixed_ips=[both[0]])
    body = {"port": {"fixed_ips": [both[0]]}}
    assert await near.refused("PUT", f"/ports/{made['id']}", body) == (409, "IpAddressAlreadyAllocated")
    assert (await near.get(f"/ports/{made['id']}"))["port"]["fixed_ips"] == changed["fixed_ips"]


async def test_only_an_administrator_moves_a_port(near: Neighbourhood) -> None:
    made = await near.make("port", network_id=await near.net("10.0.0.0/24"))
    path = f"/ports/{made['id']}"
    for body in ({"binding:host_id": "h"}, {"mac_address": "fa:16:3e:00:00:07"}):
        assert await near.refused("PUT", path, {"port": body}) == (403, "PolicyNotAuthorized")
        await near.as_("admin").ask("PUT", path, {"port": body})
    shown = (await near.as_("admin").get(path))["port"]
    assert (shown["binding:vif_type"], shown["mac_address"]) == ("other", "fa:16:3e:00:00:07")


async def test_a_port_without_port_security_has_no_groups(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24")
    made = await near.make("port", network_id=net, port_security_enabled=False)
    assert made["security_groups"] == []
    group = await near.make("security_group", name="web")
    body = {"port": {"network_id": net, "port_security_enabled": False, "security_groups": [group["id"]]}}
    assert await near.refused("POST", "/ports", body) == (400, "InvalidInput")
