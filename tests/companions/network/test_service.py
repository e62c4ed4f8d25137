"""The service that operations use, on both databases."""

import asyncio
from ipaddress import ip_address, ip_network
from uuid import uuid4

import pytest

from kilonova.domain.errors import BadRequest, Conflict, Forbidden

from .neighbourhood import ADMIN, ALICE, BOB, Neighbourhood, network, port


async def test_a_card_gets_an_address_of_each_version_and_the_default_group(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24", "fd00::/64", name="private")
    (card,) = await near.bind(network(net))
    assert card.network_name == "private"
    assert card.made
    assert [entry["version"] for entry in card.fixed_ips] == [4, 6]
    assert ip_address(str(card.fixed_ips[0]["ip_address"])) in ip_network("10.0.0.0/24")
    shown = (await near.as_("admin").get(f"/ports/{card.id}"))["port"]
    assert shown["device_owner"] == "compute:zone-1"
    assert shown["binding:host_id"] == "host-1"
    assert shown["status"] == "ACTIVE"
    (group,) = (await near.get("/security-groups"))["security_groups"]
    assert shown["security_groups"] == [group["id"]]


async def test_a_repeated_bind_finds_the_same_ports_and_follows_the_server_to_another_host(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24")
    server = str(uuid4())
    first = await near.bind(network(net), network(net), server_id=server)
    assert await near.bind(network(net), network(net), server_id=server) == first
    assert await near.bind(network(net), network(net), server_id=server, host="host-2") == first
    ports = (await near.as_("admin").get(f"/ports?device_id={server}"))["ports"]
    assert [entry["binding:host_id"] for entry in ports] == ["host-2", "host-2"]


async def test_release_deletes_what_was_made_and_frees_what_the_user_brought(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24")
    brought = await near.make("port", network_id=net, name="mine")
    server = str(uuid4())
    cards = await near.bind(network(net), port(brought["id"]), server_id=server)
    assert [card.made for card in cards] == [True, False]
    await near.service.release(server)
    await near.service.release(server)
    (left,) = (await near.get("/ports"))["ports"]
    assert (left["name"], left["device_id"], left["device_owner"], left["status"]) == ("mine", "", "", "DOWN")
    await near.ask("DELETE", f"/ports/{brought['id']}", status=204)
    await near.ask("DELETE", f"/networks/{net}", status=204)


async def test_a_network_without_addresses_left_is_a_conflict_and_leaves_nothing(near: Neighbourhood) -> None:
    roomy, tight = await near.net("10.0.0.0/24"), await near.net("10.1.0.0/30")
    await near.bind(network(tight))
    with pytest.raises(Conflict, match="no free IPv4 address"):
        await near.bind(network(roomy), network(tight))
    assert (await near.get(f"/ports?network_id={roomy}"))["ports"] == []


async def test_all_addresses_of_a_small_subnet_are_given_out_once(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/27")
    cards = [(await near.bind(network(net)))[0] for _ in range(29)]
    given = {card.fixed_ips[0]["ip_address"] for card in cards}
    assert given == {f"10.0.0.{number}" for number in range(2, 31)}


async def test_servers_that_bind_at_once_get_different_addresses(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/28")
    cards = await asyncio.gather(*[near.bind(network(net)) for _ in range(13)])
    assert len({card[0].fixed_ips[0]["ip_address"] for card in cards}) == 13


async def test_one_server_that_is_bound_twice_at_once_has_one_port(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/28")
    server = str(uuid4())
    first, second = await asyncio.gather(*[near.bind(network(net), server_id=server) for _ in range(2)])
    assert first == second
    assert len((await near.get("/ports"))["ports"]) == 1


async def test_one_port_goes_to_one_of_two_servers(near: Neighbourhood) -> None:
    brought = await near.make("port", network_id=await near.net("10.0.0.0/28"))
    asked = [near.bind(port(brought["id"])) for _ in range(2)]
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert sorted(type(entry).__name__ for entry in found) == ["PortInUse", "tuple"]


async def test_an_asked_address_is_given_or_refused(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24")
    asked = network(net, "10.0.0.77")
    assert await near.service.check(ALICE, [asked]) == (asked,)
    (card,) = await near.bind(asked)
    assert card.fixed_ips[0]["ip_address"] == "10.0.0.77"
    with pytest.raises(BadRequest, match="in use"):
        await near.service.check(ALICE, [asked])
    with pytest.raises(Conflict, match="in use"):
        await near.bind(asked)
    for wrong in ("10.0.1.5", "10.0.0.255", "ten"):
        with pytest.raises(BadRequest, match=wrong):
            await near.service.check(ALICE, [network(net, wrong)])


async def test_check_refuses_what_cannot_be_used(near: Neighbourhood) -> None:
    bare, net = await near.net(), await near.net("10.0.0.0/24")
    brought = await near.make("port", network_id=net)
    service = near.service
    with pytest.raises(BadRequest, match="no subnet"):
        await service.check(ALICE, [network(bare)])
    with pytest.raises(BadRequest, match="could not be found"):
        await service.check(ALICE, [network(str(uuid4()))])
    with pytest.raises(BadRequest, match="could not be found"):
        await service.check(BOB, [network(net)])
    with pytest.raises(BadRequest, match=brought["id"]):
        await service.check(BOB, [port(brought["id"])])
    with pytest.raises(BadRequest, match=brought["id"]):
        await service.check(ADMIN, [port(brought["id"])])
    with pytest.raises(BadRequest, match="more than once"):
        await service.check(ALICE, [port(brought["id"]), port(brought["id"])])
    (found,) = await service.check(ALICE, [port(brought["id"])])
    assert found.network_id == net
    await near.bind(port(brought["id"]))
    with pytest.raises(Conflict, match="in use"):
        await service.check(ALICE, [port(brought["id"])])


async def test_a_network_or_port_that_goes_between_check_and_bind_is_a_conflict(near: Neighbourhood) -> None:
    with pytest.raises(Conflict):
        await near.bind(network(str(uuid4())))
    with pytest.raises(Conflict):
        await near.bind(port(str(uuid4())))


async def test_automatic_takes_the_only_usable_network(near: Neighbourhood) -> None:
    admin = near.as_("admin")
    assert await near.service.automatic(ALICE) == ()
    await near.net()
    outside = await admin.net("192.0.2.0/24", **{"router:external": True})
    assert await near.service.automatic(ALICE) == ()
    with pytest.raises(Forbidden):
        await near.service.check(ALICE, [network(outside)])
    shared = await admin.net("10.9.0.0/24", shared=True)
    assert [entry.network_id for entry in await near.service.automatic(ALICE)] == [shared]
    assert (await near.service.check(ALICE, [network(shared)]))[0].network_id == shared
    await near.net("10.0.0.0/24")
    with pytest.raises(Conflict, match="2 networks"):
        await near.service.automatic(ALICE)
    assert len(await near.service.automatic(BOB)) == 1


async def test_groups_are_found_by_name_or_id(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24")
    web = await near.make("security_group", name="web")
    for asked in (("web",), (web["id"],), ("web", "web")):
        (card,) = await near.bind(network(net), groups=asked)
        assert (await near.get(f"/ports/{card.id}"))["port"]["security_groups"] == [web["id"]]
    (card,) = await near.bind(network(net), groups=("default", "web"))
    assert len((await near.get(f"/ports/{card.id}"))["port"]["security_groups"]) == 2
    with pytest.raises(Conflict, match="nothing-like-it"):
        await near.bind(network(net), groups=("nothing-like-it",))


async def test_the_ports_of_two_who_need_the_default_group_first_share_it(near: Neighbourhood) -> None:
    net = await near.net("10.0.0.0/24")
    await asyncio.gather(*[near.bind(network(net)) for _ in range(4)])
    groups = {tuple(entry["security_groups"]) for entry in (await near.get("/ports"))["ports"]}
    assert len(groups) == 1
    assert len((await near.get("/security-group-rules"))["security_group_rules"]) == 4


async def test_hosts_of_a_self_configured_subnet_get_the_address_of_their_hardware(near: Neighbourhood) -> None:
    net = await near.net()
    modes = {"ipv6_address_mode": "slaac", "ipv6_ra_mode": "slaac"}
    await near.make("subnet", network_id=net, cidr="fd00:1::/64", ip_version=6, **modes)
    made = await near.make("port", network_id=net, mac_address="fa:16:3e:01:02:03")
    assert made["fixed_ips"][0]["ip_address"] == "fd00:1::f816:3eff:fe01:203"


async def test_groups_are_named_whether_asked_for_by_name_or_id(near: Neighbourhood) -> None:
    web = await near.make("security_group", name="web")
    assert await near.service.name_groups(ALICE, []) == ("default",)
    assert await near.service.name_groups(ALICE, [web["id"], "default", "web"]) == ("web", "default")
    with pytest.raises(BadRequest, match="nobody"):
        await near.service.name_groups(ALICE, ["nobody"])
    with pytest.raises(BadRequest, match="web"):
        await near.service.name_groups(BOB, ["web"])


async def test_a_group_whose_name_is_not_its_own_alone_goes_by_its_id(near: Neighbourhood) -> None:
    first, _ = await near.make("security_group", name="twin"), await near.make("security_group", name="twin")
    assert await near.service.name_groups(ALICE, [first["id"]]) == (first["id"],)
