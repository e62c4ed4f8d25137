"""Nonsense at every path of every face's table: refused with a 4xx in the face's own form, never a server's error."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import httpx
import pytest

from kilonova.compute_api.routes import ACTIONS
from kilonova.compute_api.routes import ROUTES as COMPUTE_ROUTES
from kilonova.http.calls import Route
from kilonova.placement_api.routes import ROUTES as PLACEMENT_ROUTES

from .cloud import Cloud
from .doors import Door
from .ledger_words import holding

VERSIONS: Final = {"compute": ("2.1", "2.53", "2.104"), "placement": ("1.0", "1.20", "1.39")}
UNKNOWN: Final = "d0000000-0000-4000-8000-000000000000"
NAMES: Final = ("no-such-thing", UNKNOWN, "9" * 30, "%C3%A9%20'\"", "a" * 300)
BODIES: Final[Sequence[Any]] = ({}, [], "text", 7, {"x": None})
QUERIES: Final = (
    "?limit=-1",
    "?limit=99999999999999999999&marker=y",
    "?limit=1&marker=%00",
    "?x=%FF",
    "?name=%28&uuid=x&sort_key=nothing",
    "?changes-since=never&deleted=x",
    "?tenant_id=%C3%A9&user_id='&project_id=x",
    "?all_tenants=x&flavor=99999999999999999999&power_state=99999999999999999999&launch_index=x&ip=%5B",
)
ROOMS: Final = {
    "compute": ("server", "flavor", "aggregate", "keypair", "server_group", "quota_set", "metadata", "tags", "extra_specs"),
    "placement": ("allocations", "inventories", "traits", "aggregates", "name", "resource_class", "resource_provider_generation"),
}
"""Names that bodies put around what they hold."""


def paths(route: Route, names: Sequence[str]) -> Iterator[str]:
    """The route's path with each name in all its places."""
    if "{" not in route.path:
        yield route.path
        return
    for name in names:
        yield re.sub(r"\{[^}]+\}", name, route.path)


def wrapped(face: str) -> Iterator[Any]:
    """Bodies that are wrong everywhere, and those that have the right name around something wrong."""
    yield from BODIES
    for name in ROOMS[face]:
        for inner in BODIES:
            yield {name: inner}


async def check(door: Door, method: str, path: str, body: Any = None) -> None:
    """Ask; whatever is answered must be no server's error, and a refusal must be told in the face's form."""
    answer = await door.call(method, path, body)
    asked = f"{method} {path} {body} at {door.version}: {answer.status_code} {answer.text}"
    assert answer.status_code < 500, asked
    if answer.status_code >= 400:
        assert _told(answer, door.service), asked


def _told(answer: httpx.Response, service: str) -> bool:
    content = answer.json()
    if service == "placement":
        (error,) = content["errors"]
        return error["status"] == answer.status_code and bool(error["detail"])
    (fault,) = content.values()
    return fault["code"] == answer.status_code and bool(fault["message"])


def door_of(cloud: Cloud, face: str) -> tuple[Door, Sequence[Route]]:
    return (cloud.admin, COMPUTE_ROUTES) if face == "compute" else (cloud.placement, PLACEMENT_ROUTES)


@pytest.mark.parametrize("face", ["compute", "placement"])
async def test_paths_that_name_nothing_are_refused(cloud: Cloud, face: str) -> None:
    door, routes = door_of(cloud, face)
    for version in VERSIONS[face]:
        for route in routes:
            for path in paths(route, NAMES):
                if route.method in {"GET", "DELETE"}:
                    await check(door.at(version), route.method, path)


@pytest.mark.parametrize("face", ["compute", "placement"])
async def test_queries_that_mean_nothing_are_refused(cloud: Cloud, face: str) -> None:
    door, routes = door_of(cloud, face)
    for version in VERSIONS[face]:
        for route in routes:
            if route.method == "GET":
                for query in QUERIES:
                    await check(door.at(version), "GET", next(paths(route, (UNKNOWN,))) + query)


@pytest.mark.parametrize("face", ["compute", "placement"])
async def test_bodies_that_mean_nothing_are_refused(cloud: Cloud, face: str) -> None:
    door, routes = door_of(cloud, face)
    for version in VERSIONS[face]:
        for route in routes:
            if route.method in {"POST", "PUT"}:
                for body in wrapped(face):
                    await check(door.at(version), route.method, next(paths(route, (UNKNOWN,))), body)


async def test_actions_that_mean_nothing_are_refused(cloud: Cloud) -> None:
    server = await cloud.create()
    for version in VERSIONS["compute"]:
        for action in ACTIONS:
            for body in ("text", 7, ["x"], {"x": 1}):
                answer = await cloud.user.at(version).post(f"/servers/{server}/action", {action.name: body})
                assert answer.status_code < 500, f"{action.name} {body} at {version}: {answer.text}"


TEXTS: Final = ("", " ", "\x00", "a\x00b", "é" * 300, "\U0001f600", "'; --", "\ud7ff\u2028")
NUMBERS: Final = (-1, 2**31, 2**63, 10**30, 1.5, 4.0, True, "1e3", "9" * 5000, 4)


async def test_values_that_cannot_be_kept_are_refused(cloud: Cloud) -> None:
    number = await cloud.zone("az1", "h1")
    server = await cloud.create()
    at = f"/servers/{server}"
    for text in TEXTS:
        for method, path, body in (
            ("POST", "/servers", {"server": cloud.wish(name=text)}),
            ("POST", "/servers", {"server": cloud.wish(metadata={text: text})}),
            ("POST", "/servers", {"server": cloud.wish(tags=[text], availability_zone=text, key_name=text)}),
            ("POST", "/servers", {"server": cloud.wish(user_data=text, description=text, hostname=text)}),
            ("POST", "/servers", {"server": cloud.wish(imageRef=text)}),
            ("POST", "/servers", {"server": cloud.wish(flavorRef=text)}),
            ("POST", "/servers", {"server": cloud.wish(), "os:scheduler_hints": {"x": text, text: "x"}}),
            ("PUT", at, {"server": {"name": text}}),
            ("PUT", at, {"server": {"description": text}}),
            ("PUT", f"{at}/metadata", {"metadata": {"k": text}}),
            ("PUT", f"{at}/tags", {"tags": [text]}),
            ("POST", f"{at}/action", {"lock": {"locked_reason": text}}),
            ("POST", "/os-keypairs", {"keypair": {"name": text, "public_key": text}}),
            ("POST", "/os-server-groups", {"server_group": {"name": text, "policy": "affinity"}}),
            ("POST", "/os-aggregates", {"aggregate": {"name": text, "availability_zone": text}}),
            ("POST", f"/os-aggregates/{number}/action", {"set_metadata": {"metadata": {text: text}}}),
            ("POST", f"/os-aggregates/{number}/action", {"add_host": {"host": text}}),
            ("POST", "/flavors", {"flavor": {"name": text, "id": text, "vcpus": 1, "ram": 1, "disk": 0, "description": text}}),
            ("POST", "/flavors/f1/os-extra_specs", {"extra_specs": {"a" + text: text}}),
            ("PUT", f"/os-services/{(await cloud.service('h1'))['id']}", {"status": "disabled", "disabled_reason": text}),
        ):
            await check(cloud.admin, method, path, body)
    for value in NUMBERS:
        for method, path, body in (
            ("POST", "/servers", {"server": cloud.wish(min_count=value, name="many")}),
            ("POST", "/servers", {"server": cloud.wish(max_count=value, name="many")}),
            ("POST", "/flavors", {"flavor": {"name": f"n{value}", "vcpus": value, "ram": value, "disk": value}}),
            ("POST", "/flavors", {"flavor": {"name": "n", "vcpus": 1, "ram": 1, "disk": 1, "swap": value, "rxtx_factor": value}}),
            ("PUT", f"/os-quota-sets/{cloud.kit.project}", {"quota_set": {"cores": value, "force": True}}),
            ("GET", f"/os-aggregates/{str(value)[:40]}", None),
            ("GET", f"/os-hypervisors/{str(value)[:40]}", None),
            ("GET", f"/flavors/{str(value)[:40]}", None),
        ):
            for version in ("2.1", "2.104"):
                await check(cloud.admin.at(version), method, path, body)


async def test_a_refused_nul_character_is_told_with_its_place(cloud: Cloud) -> None:
    for more in ({"imageRef": "a\x00b"}, {"metadata": {"k": "\x00"}}):
        answer = await cloud.user.post("/servers", {"server": cloud.wish(**more)})
        assert answer.status_code == 400
        assert f"server/{'/'.join((*more, *(more.get('metadata') or ())))}" in answer.json()["badRequest"]["message"]
    # What only looks like one is a text like any other.
    await cloud.create(metadata={"k": "\\u0000"})


async def test_amounts_that_cannot_be_kept_are_refused(cloud: Cloud) -> None:
    uuid = (await cloud.provider("h1"))["uuid"]
    door, at = cloud.placement, f"/resource_providers/{uuid}"
    for value in NUMBERS:
        for name in ("total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio"):
            generation = (await cloud.provider("h1"))["generation"]
            body = {"resource_provider_generation": generation, "total": 4, name: value}
            await check(door, "PUT", f"{at}/inventories/VCPU", body)
        await check(door, "PUT", f"{at}/traits", {"traits": [], "resource_provider_generation": value})
        await check(door, "GET", f"/allocation_candidates?resources=VCPU:{value}&limit={value}")
        await check(door, "PUT", f"/allocations/{UNKNOWN}", holding({uuid: {"VCPU": value}}, value))
    for text in TEXTS:
        await check(door, "POST", "/resource_providers", {"name": text, "uuid": text})
        await check(door, "POST", "/resource_providers", {"name": text})
        await check(door, "PUT", f"/allocations/{UNKNOWN}", holding({uuid: {"VCPU": 1}}) | {"project_id": text, "user_id": text})


async def test_numbers_of_thousands_of_digits_are_refused_wherever_they_stand(cloud: Cloud) -> None:
    server, digits = await cloud.create(), "9" * 5000
    image, network = Door(cloud.http, cloud.kit.admin, "/image/v2"), Door(cloud.http, cloud.kit.admin, "/network/v2.0")
    made = (await network.write("/security-groups", {"security_group": {"name": "g"}}))["security_group"]["id"]
    for door, method, path, body in (
        (cloud.admin.at("2.1"), "GET", f"/os-hypervisors/{digits}", None),
        (cloud.admin.at("2.1"), "DELETE", f"/os-services/{digits}", None),
        (cloud.admin, "GET", f"/os-aggregates/{digits}", None),
        (cloud.admin, "GET", f"/servers?limit={digits}", None),
        (cloud.admin.at(f"2.{digits}"), "GET", "/servers", None),
        (cloud.placement.at(f"{digits}.1"), "GET", "/traits", None),
        (cloud.placement, "GET", f"/allocation_candidates?resources=VCPU:{digits}", None),
        (cloud.placement, "GET", f"/resource_providers?resources=VCPU:{digits}", None),
        (image, "GET", f"/images?limit={digits}&size_min={digits}", None),
        (image, "GET", f"/images?limit={digits}", None),
        (network, "GET", f"/ports?limit={digits}", None),
        (network, "GET", "/ports?limit=x", None),
        (network, "POST", "/security-group-rules", _rule(made, "\u00b2")),
        (network, "POST", "/security-group-rules", _rule(made, digits)),
        (cloud.admin, "POST", f"/servers/{server}/action", {"os-getConsoleOutput": {"length": 10**30}}),
        (cloud.admin, "GET", "/servers?changes-since=0001-01-01T00:00:00%2B23:59", None),
        (cloud.admin, "GET", "/servers?changes-since=9999-12-31T23:59:59-23:59", None),
    ):
        answer = await door.call(method, path, body)
        assert answer.status_code < 500, f"{method} {path[:60]}: {answer.text[:300]}"


def _rule(group: str, protocol: str) -> dict[str, Any]:
    return {"security_group_rule": {"security_group_id": group, "direction": "ingress", "protocol": protocol}}


async def test_a_million_servers_are_refused_before_any_is_made_ready(cloud: Cloud) -> None:
    for count in ({"min_count": 10**6}, {"min_count": 11, "max_count": 10**9}):
        answer = await cloud.user.post("/servers", {"server": cloud.wish(**count)})
        assert answer.status_code == 403
        assert "Quota exceeded for instances" in answer.json()["forbidden"]["message"]
    assert (await cloud.user.post("/servers", {"server": cloud.wish(name="many", max_count=10**9)})).status_code == 202
    assert len(await cloud.names()) == 10
    await cloud.admin.write(
        f"/os-quota-sets/{cloud.kit.project}", {"quota_set": dict.fromkeys(("instances", "cores", "ram"), -1)}, "PUT"
    )
    async with asyncio.timeout(60):
        # A wish for each of them would take hours.
        assert (await cloud.user.post("/servers", {"server": cloud.wish(max_count=10**9)})).status_code == 400
