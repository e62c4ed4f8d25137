"""The way of a request through a face, over ASGI."""

from collections.abc import AsyncIterator, Mapping

import httpx
import pytest

from kilonova.domain.errors import Conflict, NotFound, Unauthorized
from kilonova.http.calls import Answer, Call, Caller, Route
from kilonova.http.errors import compute_form, errors_form
from kilonova.http.face import Face, FaceSettings
from kilonova.http.policy import Policy
from kilonova.http.shapes import Field, Shape, text
from kilonova.http.versions import Versions

VERSIONS = Versions("compute", 2, 1, 104, 1003, legacy_header="x-openstack-nova-api-version")
THING = Shape([Field("thing", Shape([Field("name", text(1, 8), required=True)]), required=True)])


class Tokens:
    async def caller(self, token: str, headers: object) -> Caller:
        if token not in {"admin", "member"}:
            raise Unauthorized("The token is not known.")
        return Caller(token, "p1", frozenset({token}))


async def show(call: Call, parts: object) -> Answer:
    return Answer(body={"id": call.path["id"], "version": call.version, "user": call.caller.user_id, "all": call.query})


async def make(call: Call, parts: object) -> Answer:
    return Answer(201, call.body)


async def clash(call: Call, parts: object) -> Answer:
    raise Conflict("It is busy.")


async def broken(call: Call, parts: object) -> Answer:
    raise ZeroDivisionError("inside")


async def count(call: Call, parts: object) -> Answer:
    return Answer(body={"bytes": sum([len(chunk) async for chunk in call.body])})


async def newer(call: Call, parts: object) -> Answer:
    return Answer(body="newer")


ROUTES = [
    Route("GET", "/things/{id}", show, "any", until=50),
    Route("GET", "/things/{id}", newer, "any", since=51),
    Route("POST", "/things", make, "any", body=THING),
    Route("PUT", "/things/{id}", clash, "admin"),
    Route("DELETE", "/things/{id}", broken, "any"),
    Route("PUT", "/things/{id}/file", count, "any", stream=True),
    Route("GET", "/", newer, ""),
]


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    settings = FaceSettings("compute", "/compute/v2.1", compute_form, VERSIONS, body_limit=200, legacy_project=True)
    face = Face(settings, ROUTES, None, Tokens(), Policy({"any": "@", "admin": "role:admin"}))
    transport = httpx.ASGITransport(app=face)  # type: ignore[arg-type]
    headers = {"x-auth-token": "member"}
    async with httpx.AsyncClient(transport=transport, base_url="http://c/compute/v2.1", headers=headers) as made:
        yield made


async def test_a_handler_gets_path_query_version_and_caller(client):
    answer = await client.get("/things/7?a=1&a=2&b=", headers={"openstack-api-version": "compute 2.9"})

    assert answer.json() == {"id": "7", "version": 9, "user": "member", "all": {"a": ["1", "2"], "b": [""]}}
    assert answer.headers["openstack-api-version"] == "compute 2.9"
    assert answer.headers["x-openstack-request-id"].startswith("req-")


async def test_a_second_row_serves_other_versions(client):
    answer = await client.get("/things/7", headers={"openstack-api-version": "compute 2.51"})

    assert answer.json() == "newer"


async def test_a_project_in_the_path_is_passed_over(client):
    assert (await client.get(f"/{'a' * 32}/things/7")).json()["id"] == "7"


@pytest.mark.parametrize(
    ("request_", "status", "key"),
    [
        (("GET", "/nothing", {}), 404, "itemNotFound"),
        (("PATCH", "/things/7", {}), 405, "badMethod"),
        (("GET", "/things/7", {"headers": {"x-auth-token": "stranger"}}), 401, "unauthorized"),
        (("GET", "/things/7", {"headers": {"x-auth-token": ""}}), 401, "unauthorized"),
        (("PUT", "/things/7", {}), 403, "forbidden"),
        (("PUT", "/things/7", {"headers": {"x-auth-token": "admin"}}), 409, "conflictingRequest"),
        (("GET", "/things/7", {"headers": {"openstack-api-version": "compute 2.200"}}), 406, "computeFault"),
        (("GET", "/things/7", {"headers": {"openstack-api-version": "compute x"}}), 400, "badRequest"),
        (("POST", "/things", {"content": "{"}), 400, "badRequest"),
        (("POST", "/things", {}), 400, "badRequest"),
        (("POST", "/things", {"json": {"thing": {"name": ""}}}), 400, "badRequest"),
        (("POST", "/things", {"json": {"thing": {"name": "a", "x": 1}}}), 400, "badRequest"),
        (("POST", "/things", {"content": "a", "headers": {"content-type": "text/plain"}}), 415, "badMediaType"),
        (("POST", "/things", {"content": "x" * 201}), 413, "overLimit"),
        (("GET", "/things/%00", {}), 400, "badRequest"),
        (("GET", "/things/7?a=%00", {}), 400, "badRequest"),
        (("GET", "/things/7?a=%88", {}), 400, "badRequest"),
    ],
)
async def test_what_is_wrong_is_told_in_the_community_s_form(client, request_, status, key):
    method, path, options = request_
    answer = await client.request(method, path, **options)

    assert answer.status_code == status
    assert answer.json()[key]["code"] == status
    assert answer.json()[key]["message"]


async def test_a_good_body_reaches_the_handler(client):
    answer = await client.post("/things", json={"thing": {"name": "a"}})

    assert (answer.status_code, answer.json()) == (201, {"thing": {"name": "a"}})


async def test_what_nobody_expected_is_a_500_with_the_request_id_and_no_inside(client):
    answer = await client.delete("/things/7")

    assert answer.status_code == 500
    assert answer.headers["x-openstack-request-id"] in answer.json()["computeFault"]["message"]
    assert "inside" not in answer.text


async def test_a_streamed_body_has_no_limit_of_size_and_any_media_type(client):
    answer = await client.put("/things/7/file", content=b"x" * 5000, headers={"content-type": "application/octet-stream"})

    assert answer.json() == {"bytes": 5000}


async def test_a_route_without_a_rule_asks_no_token(client):
    assert (await client.get("/", headers={"x-auth-token": ""})).status_code == 200


def test_a_route_with_an_unknown_rule_is_refused_at_start():
    with pytest.raises(ValueError, match="no known rule"):
        Face(FaceSettings("compute", "", compute_form), [Route("GET", "/", show, "nobody")], None, Tokens(), Policy({}))


async def test_a_method_that_is_not_there_is_told_with_those_that_are(client):
    answer = await client.patch("/things/7", headers={"openstack-api-version": "compute 2.9"})

    assert answer.headers["allow"] == "GET, PUT, DELETE"
    assert answer.headers["openstack-api-version"] == "compute 2.9"


async def test_errors_tell_the_version_as_answers_do(client):
    missing = await client.get("/nothing", headers={"openstack-api-version": "compute 2.9"})
    unknown = await client.get("/things/7", headers={"openstack-api-version": "compute 2.200"})

    assert missing.headers["openstack-api-version"] == "compute 2.9"
    assert "openstack-api-version" in unknown.headers["vary"].lower()


async def absent(path: Mapping[str, str], parts: object) -> None:
    if path["id"] == "0":
        raise NotFound("There is no such thing.")


EXACT = [
    Route("GET", "/things/{id}", show, "any"),
    Route("PUT", "/things/{id}", make, "any", body=THING, needs=absent),
    Route("POST", "/names/{id}", newer, "any"),
]


@pytest.fixture
async def exact() -> AsyncIterator[httpx.AsyncClient]:
    settings = FaceSettings("exact", "", errors_form, exact_media=True)
    transport = httpx.ASGITransport(app=Face(settings, EXACT, None, Tokens(), Policy({"any": "@"})))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://c", headers={"x-auth-token": "member"}) as made:
        yield made


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (("PUT", "/things/0", {"json": {}}), 404),
        (("PUT", "/things/1", {"json": {}}), 400),
        (("PUT", "/things/1", {"json": {"thing": {"name": "a"}}}), 201),
        (("PUT", "/things/0", {}), 415),
        (("PUT", "/things/1", {"headers": {"content-type": "application/json"}}), 400),
        (("PUT", "/things/1", {"content": "{}", "headers": {"content-type": "text/plain"}}), 415),
        (("PUT", "/things/1", {"content": "{}"}), 400),
        (("POST", "/names/1", {}), 200),
        (("GET", "/things/1", {"headers": {"accept": "text/plain"}}), 406),
        (("GET", "/things/1", {"headers": {"accept": "text/html, */*;q=0.1"}}), 200),
    ],
)
async def test_where_media_types_are_taken_exactly_a_body_names_its_own_and_answers_are_json_or_nothing(exact, request_, status):
    method, path, options = request_

    assert (await exact.request(method, path, **options)).status_code == status


@pytest.mark.parametrize(
    ("accept", "kind"),
    [(None, "application/json"), ("text/html", "text/html"), ("text/plain", "text/plain"), ("image/png", "text/plain")],
)
async def test_a_refusal_is_in_the_form_that_the_client_reads(exact, accept, kind):
    answer = await exact.get("/nothing", headers={"accept": accept} if accept else {})

    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (404, kind)
    assert "could not be found" in answer.text
