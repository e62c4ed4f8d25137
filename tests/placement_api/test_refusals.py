"""How the placement API refuses: forms, phrases that clients look for, headers, and who may do what."""

from typing import Any

import httpx
import pytest

from kilonova.domain.clock import new_uuid
from kilonova.http.calls import Caller
from kilonova.placement_api.face import Mounting, placement_face
from kilonova.placement_api.parts import PlacementParts
from tests.placement_api.placement_client import Client, FakeAuthenticator, code, holding

SYSTEM = "system"


def detail(answer: httpx.Response) -> str:
    """The sentence of an error."""
    return str(answer.json()["errors"][0]["detail"])


async def test_errors_have_a_code_from_1_23_on(client: Client) -> None:
    (old,) = (await client.at("1.22").get(f"/resource_providers/{new_uuid()}")).json()["errors"]
    new = await client.at("1.23").get(f"/resource_providers/{new_uuid()}")

    assert "code" not in old
    assert code(new) == "placement.resource_provider.not_found"


async def test_a_version_that_is_not_served_is_told_with_those_that_are(client: Client) -> None:
    answer = await client.at("0.5").get("/resource_providers")

    (error,) = answer.json()["errors"]
    assert answer.status_code == 406
    assert (error["min_version"], error["max_version"]) == ("1.0", "1.39")
    assert answer.headers["vary"] == "openstack-api-version"


@pytest.mark.parametrize(
    ("accept", "kind"), [(None, "application/json"), ("application/json", "application/json"), ("text/html", "text/html")]
)
async def test_a_path_that_does_not_exist_is_told_in_the_form_that_the_client_reads(
    client: Client, accept: str | None, kind: str
) -> None:
    answer = await client.http.get("/no-such-path", headers={"accept": accept} if accept else {})

    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (404, kind)


async def test_an_unknown_provider_is_told_before_the_body_is_read(client: Client) -> None:
    at = f"/resource_providers/{new_uuid()}"
    for path in (at, f"{at}/inventories", f"{at}/inventories/VCPU", f"{at}/traits", f"{at}/aggregates"):
        assert (await client.put(path, {"nonsense": 1})).status_code == 404
    assert (await client.post(f"{at}/inventories", {})).status_code == 404


@pytest.mark.parametrize(
    ("body", "phrases"),
    [
        ({}, ("JSON does not validate: 'name' is a required property", "Failed validating 'required'")),
        ({"name": 1}, ("1 is not of type 'string'", "Failed validating 'type' in schema['properties']['name']")),
        ({"name": "a", "uuid": "x"}, ("'x' is not a 'uuid'", "Failed validating 'format'")),
        ({"name": "a" * 201}, ("Failed validating 'maxLength'",)),
        ({"name": "a", "more": 1}, ("Additional properties are not allowed ('more' was unexpected)",)),
    ],
)
async def test_a_body_that_does_not_fit_is_told_with_what_it_breaks(client: Client, body: Any, phrases: tuple[str, ...]) -> None:
    answer = await client.post("/resource_providers", body)

    assert answer.status_code == 400
    for phrase in phrases:
        assert phrase in detail(answer)


async def test_names_that_go_by_a_pattern_are_told_with_it(client: Client) -> None:
    provider = await client.provider(VCPU=4)
    small = await client.put(f"/allocations/{new_uuid()}", holding({provider: {"vcpu": 1}}))
    empty = await client.put(f"/allocations/{new_uuid()}", holding({provider: {}}))

    assert "'vcpu' does not match any of the regexes: '^[A-Z0-9_]" in detail(small)
    assert "should be non-empty" in detail(empty)


@pytest.mark.parametrize("name", ["'; --", "\n", "VCPU\n", "\\", '"', "ö", ""])
async def test_any_name_may_be_the_wrong_one(client: Client, name: str) -> None:
    provider = await client.provider(VCPU=4)

    for body in (holding({provider: {name: 1}}), {name: 1}):
        assert (await client.put(f"/allocations/{new_uuid()}", body)).status_code == 400


async def test_a_long_value_is_not_told_back_whole(client: Client) -> None:
    answer = await client.post("/resource_providers", {"name": "a" * 100_000})

    assert len(answer.content) < 2_000


@pytest.mark.parametrize(
    ("query", "phrase"),
    [
        ("resources=", "Got: empty string."),
        ("resources=VCPU", "Got: VCPU."),
        ("resources=VCPU:x", "expected positive integer amount. Got: x."),
        ("resources=VCPU:0", "requires amount >= 1"),
        ("resources=VCPU:1&limit=0", "Failed validating 'pattern'"),
        ("resources=VCPU:1&required=", "HW_CPU_X86_VMX,!CUSTOM_MAGIC. Got: "),
        ("resources=VCPU:1&in_tree=x", "to be a format of uuid"),
        ("resources=VCPU:1&member_of=x", "to contain valid UUID(s)"),
        ("resources1@=VCPU:1", "'resources1@' does not match any of the regexes: '^resources([a-zA-Z0-9_-]{1,64})?$'"),
        ("resources=VCPU:1&group_policy=x", "'x' is not one of ['none', 'isolate']"),
        ("required=HW_CPU_X86_AVX", "There must be at least one resources"),
        ("resources=NOTHING:1", "No such resource class NOTHING"),
    ],
)
async def test_a_query_that_does_not_fit_is_told_with_what_it_breaks(client: Client, query: str, phrase: str) -> None:
    answer = await client.get(f"/allocation_candidates?{query}")

    assert answer.status_code == 400
    assert phrase in detail(answer)


class Callers(FakeAuthenticator):
    """As tests know them, and an administrator of the whole cloud."""

    async def caller(self, token: str, headers: Any) -> Caller:
        if token == SYSTEM:
            return Caller("u1", "", frozenset({"admin", "reader"}), system=True)
        return await super().caller(token, headers)


def mounted(parts: PlacementParts, policy: dict[str, str]) -> Client:
    """A client of a face with a policy of its own."""
    transport = httpx.ASGITransport(placement_face(parts, Callers(), Mounting(policy=policy)))
    return Client(httpx.AsyncClient(transport=transport, base_url="http://test/placement"))


async def statuses(client: Client, path: str) -> list[int]:
    return [(await client.by(token).get(path)).status_code for token in ("admin", "service", "reader", SYSTEM)]


async def test_who_may_do_what_by_default(parts: PlacementParts) -> None:
    client = mounted(parts, {})

    assert await statuses(client, "/resource_providers") == [200, 200, 403, 403]
    assert await statuses(client, "/usages?project_id=p1") == [200, 200, 200, 403]
    assert await statuses(client, "/usages?project_id=p2") == [200, 200, 403, 403]
    assert [(await client.by(who).post("/reshaper", {})).status_code for who in ("admin", "service")] == [403, 400]


async def test_an_operators_rules_go_by_the_community_s_names(parts: PlacementParts) -> None:
    client = mounted(parts, {"placement:resource_providers:list": "role:reader", "service_api": "role:admin"})

    assert await statuses(client, "/resource_providers") == [403, 403, 200, 403]
    assert [(await client.by(who).post("/reshaper", {})).status_code for who in ("admin", "service")] == [400, 403]


async def test_even_an_open_rule_lets_no_token_in_that_has_no_project(parts: PlacementParts) -> None:
    client = mounted(parts, {"placement:resource_providers:list": "@", "placement:usages": ""})

    assert await statuses(client, "/resource_providers") == [200, 200, 200, 403]
    assert await statuses(client, "/usages?project_id=p2") == [200, 200, 200, 403]
