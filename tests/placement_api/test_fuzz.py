"""Requests that are almost right, changed anywhere: each is served or refused in the error form, and a refusal writes nothing."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.placement_api.placement_client import Client, holding

CONSUMER: Final = "c0000000-0000-4000-8000-000000000001"
AGGREGATE: Final = "a0000000-0000-4000-8000-000000000001"
ODD: Final = (
    None, True, -1, 0, 1.5, 2.0, 2**31, 2**63, 10**30, 1e308, "", " ", "\x00", "VCPU", "é" * 300, "'; --", [], {}, [[]], {"": {}},
)  # fmt: skip
VERSIONS: Final = ("1.0", "1.7", "1.12", "1.19", "1.28", "1.34", "1.38", "1.39", "1.1002")
QUERIES: Final = (
    "",
    "resources=VCPU:1",
    "resources=VCPU:x",
    "resources1=VCPU:1&group_policy=none",
    "required=!",
    "required=in:,",
    "member_of=!in:",
    "member_of=in:",
    "in_tree=",
    "limit=0",
    "limit=" + "9" * 5000,
    "name=in:",
    "associated=",
    "project_id=",
    "uuid=x",
    "same_subtree=,",
    "root_required=in:HW",
    "resources=%00",
    "%FF=1",
    "resources=VCPU:1&resources=VCPU:1",
    "name=%C3%A9",
    "consumer_type=all",
    "=",
    "&&",
)
HEADERS: Final[tuple[dict[str, str], ...]] = (
    {},
    {"accept": "text/html"},
    {"accept": ";q=x,,*/*;q=0"},
    {"content-type": "text/plain"},
    {"content-type": ""},
    {"openstack-api-version": "placement"},
    {"openstack-api-version": "placement 1.99999999999"},
    {"openstack-api-version": ",,compute 2.1, placement latest"},
    {"x-auth-token": "nobody"},
    {"x-auth-token": "reader"},
    {"origin": "http://other"},
)


def _requests(provider: str) -> list[tuple[str, str, Any]]:
    """Good requests, by which the bad ones are made."""
    at = f"/resource_providers/{provider}"
    inventory = {"total": 4, "reserved": 1, "min_unit": 1, "max_unit": 4, "step_size": 1, "allocation_ratio": 1.5}
    held = holding({provider: {"VCPU": 1}})
    return [
        ("POST", "/resource_providers", {"name": "other", "parent_provider_uuid": provider}),
        ("PUT", at, {"name": "renamed", "parent_provider_uuid": None}),
        ("POST", f"{at}/inventories", {**inventory, "resource_class": "DISK_GB", "resource_provider_generation": 1}),
        ("PUT", f"{at}/inventories", {"resource_provider_generation": 1, "inventories": {"VCPU": inventory}}),
        ("PUT", f"{at}/inventories/VCPU", {**inventory, "resource_provider_generation": 1}),
        ("PUT", f"{at}/traits", {"traits": ["HW_CPU_X86_AVX"], "resource_provider_generation": 1}),
        ("PUT", f"{at}/aggregates", {"aggregates": [AGGREGATE], "resource_provider_generation": 1}),
        ("POST", "/resource_classes", {"name": "CUSTOM_GOLD"}),
        ("PUT", "/resource_classes/CUSTOM_IRON", {"name": "CUSTOM_STEEL"}),
        ("PUT", "/traits/CUSTOM_RED", None),
        ("PUT", f"/allocations/{CONSUMER}", {**held, "mappings": {"": [provider]}}),
        ("POST", "/allocations", {CONSUMER: held}),
        (
            "POST",
            "/reshaper",
            {
                "inventories": {provider: {"resource_provider_generation": 1, "inventories": {"VCPU": inventory}}},
                "allocations": {CONSUMER: held},
            },
        ),
        *(("GET", path, None) for path in ("/resource_providers", "/allocation_candidates", "/traits", "/usages", at)),
        ("DELETE", at, None),
        ("DELETE", f"/allocations/{CONSUMER}", None),
    ]


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every part of a body."""
    found = [path]
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        found += _places(inner, (*path, key))
    return found


def _changed(body: Any, place: tuple[Any, ...], change: Callable[[Any, Any], Any]) -> Any:
    """The body with a part changed: `change` gets what holds the part, and its key."""
    if not place:
        return change(None, None)
    made = deepcopy(body)
    holder = made
    for key in place[:-1]:
        holder = holder[key]
    change(holder, place[-1])
    return made


@st.composite
def wrongs(draw: st.DrawFn, provider: str) -> tuple[str, str, Any]:
    """A good request, or one whose body differs from it in a part: another value, another key, or nothing there."""
    method, path, body = draw(st.sampled_from(_requests(provider)))
    if method == "GET":
        return method, f"{path}?{'&'.join(draw(st.lists(st.sampled_from(QUERIES), max_size=3)))}", None
    odd = draw(
        st.one_of(st.sampled_from(ODD), st.text(max_size=5), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
    )
    kind = draw(st.sampled_from(("value", "key", "gone", "as it is")))

    def change(holder: Any, key: Any) -> Any:
        if holder is None:
            return odd
        value = holder.pop(key)
        if kind == "value":
            holder.insert(key, odd) if isinstance(holder, list) else holder.update({key: odd})
        elif kind == "key":
            holder.append(odd) if isinstance(holder, list) else holder.update({str(odd): value})
        return None

    return method, path, body if kind == "as it is" else _changed(body, draw(st.sampled_from(_places(body))), change)


async def _state(client: Client) -> list[Any]:
    """All that is told of the ledger."""
    newest = client.at("1.39")
    paths = ("/resource_providers", "/resource_classes", "/traits?name=startswith:CUSTOM_", f"/allocations/{CONSUMER}")
    return [(await newest.get(path)).json() for path in paths]


async def _ask(client: Client, wrong: tuple[str, str, Any], version: str, headers: dict[str, str]) -> httpx.Response:
    method, path, body = wrong
    usual = {
        "x-auth-token": "admin",
        "openstack-api-version": f"placement {version}",
        **({"content-type": "application/json"} if body is not None else {}),
    }
    content = None if body is None else json.dumps(body)
    return await client.http.request(method, path, content=content, headers={**usual, **headers})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
async def test_nothing_that_is_asked_is_a_servers_error_and_a_refusal_writes_nothing(client: Client, data: st.DataObject) -> None:
    listed = (await client.get("/resource_providers")).json()["resource_providers"]
    provider = listed[0]["uuid"] if listed else await client.provider("first", VCPU=8)
    wrong = data.draw(wrongs(provider))
    version, headers = data.draw(st.sampled_from(VERSIONS)), data.draw(st.sampled_from(HEADERS))
    before = await _state(client)

    answer = await _ask(client, wrong, version, headers)

    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert await _state(client) == before
        if answer.headers["content-type"] == "application/json":
            (error,) = answer.json()["errors"]
            assert (error["status"], bool(error["detail"])) == (answer.status_code, True)
