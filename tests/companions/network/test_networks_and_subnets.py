"""Networks and subnets through HTTP."""

from typing import Any
from uuid import uuid4

import pytest

from .neighbourhood import Neighbourhood, network


async def test_a_network_has_what_clients_read(near: Neighbourhood) -> None:
    made = await near.make("network", name="private", description=None, mtu="1400", tags=["blue"])
    assert made["tenant_id"] == made["project_id"] == "1" * 32
    assert made["created_at"].endswith("Z")
    assert (made["mtu"], made["tags"], made["description"], made["revision_number"]) == (1400, ["blue"], "", 1)
    subnet = await near.make("subnet", network_id=made["id"], cidr="10.0.0.0/24", ip_version=4)
    shown = (await near.get(f"/networks/{made['id']}"))["network"]
    assert shown == {**made, "subnets": [subnet["id"]]}
    assert "provider:network_type" not in shown
    assert "provider:network_type" in (await near.as_("admin").get(f"/networks/{made['id']}"))["network"]


async def test_an_update_changes_what_it_names(near: Neighbourhood) -> None:
    made = await near.make("network", name="private")
    body = {"network": {"name": "other", "admin_state_up": "False"}}
    changed = (await near.ask("PUT", f"/networks/{made['id']}", body))["network"]
    assert (changed["name"], changed["admin_state_up"], changed["revision_number"]) == ("other", False, 2)
    assert changed["mtu"] == made["mtu"]


async def test_several_are_made_at_once_or_none(near: Neighbourhood) -> None:
    made = await near.ask("POST", "/networks", {"networks": [{"name": "a"}, {"name": "b"}]}, 201)
    assert [entry["name"] for entry in made["networks"]] == ["a", "b"]
    net = await near.net("10.0.0.0/30")
    bodies = [{"network_id": net}, {"network_id": net}]
    assert await near.refused("POST", "/ports", {"ports": bodies}) == (409, "IpAddressGenerationFailure")
    assert (await near.get("/ports"))["ports"] == []


async def test_what_is_anothers_does_not_exist_unless_it_is_shared(near: Neighbourhood) -> None:
    admin, bob = near.as_("admin"), near.as_("bob")
    mine = await near.net("10.0.0.0/24")
    shared = await admin.net("10.1.0.0/24", shared=True)
    subnets = {entry["network_id"]: entry["id"] for entry in (await admin.get("/subnets"))["subnets"]}
    assert [entry["id"] for entry in (await bob.get("/networks"))["networks"]] == [shared]
    assert [entry["id"] for entry in (await bob.get("/subnets"))["subnets"]] == [subnets[shared]]
    for method in ("GET", "DELETE"):
        assert await bob.refused(method, f"/networks/{mine}") == (404, "NetworkNotFound")
        assert await bob.refused(method, f"/subnets/{subnets[mine]}") == (404, "SubnetNotFound")
    assert await bob.refused("DELETE", f"/networks/{shared}") == (403, "PolicyNotAuthorized")
    assert await bob.refused("DELETE", f"/subnets/{subnets[shared]}") == (403, "PolicyNotAuthorized")
    body = {"subnet": {"network_id": shared, "cidr": "10.2.0.0/24", "ip_version": 4}}
    assert await bob.refused("POST", "/subnets", body) == (404, "NetworkNotFound")
    assert len((await admin.get("/networks"))["networks"]) == 2


async def test_only_administrators_share_networks_or_make_them_for_others(near: Neighbourhood) -> None:
    assert await near.refused("POST", "/networks", {"network": {"shared": True}}) == (403, "PolicyNotAuthorized")
    body = {"network": {"project_id": "2" * 32}}
    assert await near.refused("POST", "/networks", body) == (400, "InvalidInput")
    await near.as_("admin").ask("POST", "/networks", body, 201)
    assert len((await near.as_("bob").get("/networks"))["networks"]) == 1


async def test_a_network_with_ports_stays(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24")
    port = await near.make("port", network_id=net)
    (subnet,) = (await near.get("/subnets"))["subnets"]
    assert await near.refused("DELETE", f"/networks/{net}") == (409, "NetworkInUse")
    assert await near.refused("DELETE", f"/subnets/{subnet['id']}") == (409, "SubnetInUse")
    await near.ask("DELETE", f"/ports/{port['id']}", status=204)
    await near.ask("DELETE", f"/networks/{net}", status=204)
    assert (await near.get("/subnets"))["subnets"] == []


@pytest.mark.parametrize(
    ("body", "gateway", "pools"),
    [
        ({"cidr": "10.0.0.0/29"}, "10.0.0.1", ["10.0.0.2-10.0.0.6"]),
        ({"cidr": "10.0.0.0/29", "gateway_ip": None}, None, ["10.0.0.1-10.0.0.6"]),
        ({"cidr": "10.0.0.0/29", "gateway_ip": "10.0.0.3"}, "10.0.0.3", ["10.0.0.1-10.0.0.2", "10.0.0.4-10.0.0.6"]),
        ({"cidr": "10.0.0.0/31"}, "10.0.0.0", ["10.0.0.1-10.0.0.1"]),
        ({"cidr": "10.0.0.7/32"}, None, ["10.0.0.7-10.0.0.7"]),
        ({"cidr": "fd00::/126"}, "fd00::1", ["fd00::2-fd00::3"]),
        ({"cidr": "fd00::/64", "gateway_ip": "fe80::1"}, "fe80::1", ["fd00::1-fd00::ffff:ffff:ffff:ffff"]),
        (
            {"cidr": "10.0.0.0/29", "allocation_pools": [{"start": "10.0.0.5", "end": "10.0.0.6"}]},
            "10.0.0.1",
            ["10.0.0.5-10.0.0.6"],
        ),
    ],
)
async def test_gateway_and_pools_are_filled_in(
    near: Neighbourhood, body: dict[str, Any], gateway: str | None, pools: list[str]
) -> None:
    version = 6 if ":" in body["cidr"] else 4
    made = await near.make("subnet", network_id=await near.net(), ip_version=version, **body)
    assert made["gateway_ip"] == gateway
    assert [f"{pool['start']}-{pool['end']}" for pool in made["allocation_pools"]] == pools


def _pool(start: str, end: str) -> dict[str, str]:
    return {"start": start, "end": end}


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"cidr": "10.0.0.5/24"}, (400, "InvalidInput")),
        ({"cidr": "10.0.0.0"}, (400, "InvalidInput")),
        ({"cidr": "ten"}, (400, "InvalidInput")),
        ({"cidr": "fd00::/64"}, (400, "InvalidInput")),
        ({"cidr": "10.0.0.128/25"}, (400, "InvalidInput")),
        ({"gateway_ip": "10.2.0.1"}, (400, "InvalidInput")),
        ({"gateway_ip": "nowhere"}, (400, "HTTPBadRequest")),
        ({"ipv6_address_mode": "slaac"}, (400, "InvalidInput")),
        ({"colour": "blue"}, (400, "HTTPBadRequest")),
        ({"allocation_pools": [_pool("10.1.0.9", "10.1.0.5")]}, (400, "InvalidAllocationPool")),
        ({"allocation_pools": [_pool("fd00::1", "fd00::5")]}, (400, "InvalidAllocationPool")),
        ({"allocation_pools": [_pool("10.1.0.5", "10.1.1.5")]}, (400, "OutOfBoundsAllocationPool")),
        ({"allocation_pools": [_pool("10.1.0.1", "10.1.0.5")]}, (409, "GatewayConflictWithAllocationPools")),
        (
            {"allocation_pools": [_pool("10.1.0.2", "10.1.0.5"), _pool("10.1.0.5", "10.1.0.7")]},
            (409, "OverlappingAllocationPools"),
        ),
        ({"network_id": str(uuid4())}, (404, "NetworkNotFound")),
    ],
)
async def test_a_wrong_subnet_is_refused(near: Neighbourhood, body: dict[str, Any], refusal: tuple[int, str]) -> None:
    net = await near.net("10.0.0.0/24")
    asked = {"network_id": net, "cidr": "10.1.0.0/24", "ip_version": 4, **body}
    assert await near.refused("POST", "/subnets", {"subnet": asked}) == refusal
    assert len((await near.get("/subnets"))["subnets"]) == 1


async def test_a_subnet_can_be_changed_but_not_made_wrong(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24")
    path = f"/subnets/{(await near.get('/subnets'))['subnets'][0]['id']}"
    pools = [_pool("10.0.0.2", "10.0.0.2")]
    body = {"subnet": {"dns_nameservers": ["8.8.8.8"], "enable_dhcp": False, "allocation_pools": pools}}
    changed = (await near.ask("PUT", path, body))["subnet"]
    assert (changed["dns_nameservers"], changed["enable_dhcp"], changed["cidr"]) == (["8.8.8.8"], False, "10.0.0.0/24")
    body = {"subnet": {"gateway_ip": "10.0.0.2"}}
    assert await near.refused("PUT", path, body) == (409, "GatewayConflictWithAllocationPools")
    (card,) = await near.bind(network(net))
    assert card.fixed_ips[0]["ip_address"] == "10.0.0.2"
