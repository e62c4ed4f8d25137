"""Filters, order, pages and fields of lists; tags; and what the service says of itself."""

from typing import Any

import pytest

from .neighbourhood import URL, Neighbourhood


async def _names(near: Neighbourhood, path: str) -> list[str]:
    (items,) = (value for key, value in (await near.get(path)).items() if not key.endswith("_links"))
    return [item["name"] for item in items]


@pytest.fixture
async def ports(near: Neighbourhood) -> dict[str, dict[str, Any]]:
    net = await near.net("10.0.0.0/24", name="net")
    made = {}
    for number, name in enumerate("abc", 1):
        body = {"device_id": f"device-{number}", "device_owner": "compute:nova", "admin_state_up": name != "b"}
        address = {"fixed_ips": [{"ip_address": f"10.0.0.{number + 10}"}], "mac_address": f"fa:16:3e:00:00:0{number}"}
        made[name] = await near.make("port", network_id=net, name=name, tags=[name, "all"], **body, **address)
    return made


async def test_ports_are_filtered_by_what_they_are(near: Neighbourhood, ports: dict[str, dict[str, Any]]) -> None:
    a, b = ports["a"], ports["b"]
    subnet = a["fixed_ips"][0]["subnet_id"]
    group = a["security_groups"][0]
    wanted = {
        "": "abc",
        "name=a": "a",
        "name=a&name=c": "ac",
        f"id={a['id']}&id={b['id']}": "ab",
        "name=z": "",
        "device_id=device-2": "b",
        "device_owner=compute:nova": "abc",
        f"network_id={a['network_id']}&name=b": "b",
        f"tenant_id={a['project_id']}": "abc",
        "project_id=nobody": "",
        "mac_address=FA:16:3E:00:00:03": "c",
        "admin_state_up=False": "b",
        "status=DOWN": "abc",
        "status=ACTIVE": "",
        "fixed_ips=ip_address%3D10.0.0.12": "b",
        f"fixed_ips=ip_address%3D10.0.0.12&fixed_ips=subnet_id%3D{subnet}": "b",
        f"fixed_ips=subnet_id%3D{subnet}": "abc",
        "fixed_ips=ip_address_substr%3D.13": "c",
        f"security_groups={group}": "abc",
        "tags=a,all": "a",
        "tags-any=a,b": "ab",
        "not-tags=a": "bc",
        "not-tags-any=a,b": "c",
    }
    found = {query: "".join(await _names(near, f"/ports?{query}")) for query in wanted}
    assert found == wanted


async def test_networks_and_subnets_are_filtered_by_what_they_are(near: Neighbourhood) -> None:
    await near.net("10.0.0.0/24", "fd00::/64", name="inner")
    await near.as_("admin").net(name="outer", shared=True, **{"router:external": True})
    assert await _names(near, "/networks?shared=True") == ["outer"]
    assert await _names(near, "/networks?router:external=false") == ["inner"]
    assert await _names(near, "/networks?name=inner") == ["inner"]
    assert await _names(near.as_("admin"), "/networks?name=inner") == ["inner"]
    assert len(await _names(near, "/subnets?ip_version=6")) == 1
    assert len(await _names(near, "/subnets?cidr=10.0.0.0/24")) == 1


async def test_only_the_fields_that_were_asked_for_are_shown(near: Neighbourhood, ports: dict[str, dict[str, Any]]) -> None:
    assert (await near.get("/ports?fields=id&fields=name&name=a"))["ports"] == [{"id": ports["a"]["id"], "name": "a"}]
    assert (await near.get(f"/ports/{ports['a']['id']}?fields=name"))["port"] == {"name": "a"}


async def test_lists_are_sorted_and_come_in_pages(near: Neighbourhood, ports: dict[str, dict[str, Any]]) -> None:
    assert await _names(near, "/ports?sort_key=name&sort_dir=desc") == ["c", "b", "a"]
    assert await _names(near, "/ports?sort_key=admin_state_up&sort_key=name&sort_dir=asc&sort_dir=desc") == list("bca")
    page = await near.get("/ports?sort_key=name&limit=2")
    assert [item["name"] for item in page["ports"]] == ["a", "b"]
    (link,) = page["ports_links"]
    assert link["rel"] == "next"
    page = await near.get(link["href"].removeprefix(f"{URL}/v2.0"))
    assert [item["name"] for item in page["ports"]] == ["c"]
    (link,) = page["ports_links"]
    assert link["rel"] == "previous"
    page = await near.get(link["href"].removeprefix(f"{URL}/v2.0"))
    assert [item["name"] for item in page["ports"]] == ["a", "b"]


@pytest.mark.parametrize("query", ["colour=blue", "limit=-1", "sort_key=colour", "sort_dir=up", "marker=x"])
async def test_a_query_that_means_nothing_is_refused(near: Neighbourhood, ports: dict[str, dict[str, Any]], query: str) -> None:
    status, _ = await near.refused("GET", f"/ports?{query}")
    assert status == 400


@pytest.mark.parametrize("noun", ["network", "subnet", "port", "security_group"])
async def test_tags_of_every_resource(near: Neighbourhood, noun: str) -> None:
    net = await near.net("10.0.0.0/24")
    bodies: dict[str, dict[str, Any]] = {
        "network": {},
        "subnet": {"network_id": net, "cidr": "10.1.0.0/24", "ip_version": 4},
        "port": {"network_id": net},
        "security_group": {"name": "g"},
    }
    made = await near.make(noun, **bodies[noun])
    path = f"/{noun.replace('_', '-')}s/{made['id']}/tags"
    assert (await near.ask("PUT", path, {"tags": ["b", "a"]}))["tags"] == ["b", "a"]
    await near.ask("PUT", f"{path}/c", status=201)
    await near.ask("GET", f"{path}/c", status=204)
    await near.ask("DELETE", f"{path}/b", status=204)
    assert await near.refused("GET", f"{path}/b") == (404, "TagNotFound")
    assert (await near.get(path))["tags"] == ["a", "c"]
    assert (await near.as_("bob").refused("PUT", path, {"tags": []}))[0] == 404
    await near.ask("DELETE", path, status=204)
    assert (await near.get(path))["tags"] == []


async def test_the_service_says_what_it_is(near: Neighbourhood) -> None:
    versions = (await near.http.get(URL)).json()["versions"]
    assert [(entry["id"], entry["status"]) for entry in versions] == [("v2.0", "CURRENT")]
    assert (await near.http.get(f"{URL}/v2.0/")).json()["resources"][0]["collection"] == "networks"
    aliases = [entry["alias"] for entry in (await near.get("/extensions"))["extensions"]]
    assert (await near.get(f"/extensions/{aliases[0]}"))["extension"]["alias"] == aliases[0]
    assert await near.refused("GET", "/extensions/router") == (404, "ExtensionNotFound")
    assert (await near.get("/availability_zones"))["availability_zones"] == []
    assert (await near.as_("admin").get("/agents"))["agents"] == []
    assert (await near.refused("GET", "/agents"))[0] == 403


async def test_quotas_are_shown_to_their_project(near: Neighbourhood, ports: dict[str, dict[str, Any]]) -> None:
    project = ports["a"]["project_id"]
    assert (await near.get(f"/quotas/{project}"))["quota"]["port"] == -1
    assert (await near.get(f"/quotas/{project}/details.json"))["quota"]["port"]["used"] == 3
    assert (await near.as_("bob").refused("GET", f"/quotas/{project}"))[0] == 403


async def test_nobody_enters_without_a_token(near: Neighbourhood) -> None:
    assert await near.as_("mallory").refused("GET", "/networks") == (401, "HTTPUnauthorized")
    assert await near.refused("GET", "/routers") == (404, "HTTPNotFound")
    assert await near.refused("PATCH", "/networks") == (405, "HTTPMethodNotAllowed")
