"""Web pages of other origins: what a browser asks before and is told after."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest

from kilonova.http.cors import Cors

PAGE = "http://page.example.com"


async def application(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 405, "headers": [(b"vary", b"accept")]})
    await send({"type": "http.response.body", "body": b"inside"})


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=Cors(application, [PAGE], ["X-Own"]))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://c") as made:
        yield made


def preflight(origin: str, method: str = "PUT", names: str = "") -> dict[str, str]:
    asked = {"access-control-request-headers": names} if names else {}
    return {"origin": origin, "access-control-request-method": method, **asked}


async def test_a_page_that_may_is_told_what_it_may_send(client):
    answer = await client.options("/", headers=preflight(PAGE, names="X-Auth-Token, x-own"))

    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert answer.headers["access-control-allow-headers"] == "x-auth-token,x-own"
    assert answer.headers["vary"] == "origin"


@pytest.mark.parametrize("headers", [preflight("http://other"), preflight(PAGE, "TRACE"), preflight(PAGE, names="x-other")])
async def test_a_page_that_may_not_is_told_nothing(client, headers):
    answer = await client.options("/", headers=headers)

    assert (answer.status_code, answer.text, answer.headers["vary"]) == (200, "", "origin")
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_an_answer_can_be_read_by_pages_that_may_and_no_others(client):
    mine = await client.get("/", headers={"origin": PAGE})
    other = await client.get("/", headers={"origin": "http://other"})

    assert (mine.text, mine.headers["access-control-allow-origin"]) == ("inside", PAGE)
    assert "openstack-api-version" in mine.headers["access-control-expose-headers"]
    assert mine.headers.get_list("vary") == ["accept", "origin"]
    assert "access-control-allow-origin" not in other.headers
    assert "access-control-allow-credentials" not in mine.headers


async def test_caches_are_told_that_answers_depend_on_the_origin_whoever_asks(client):
    stranger = await client.get("/", headers={"origin": "http://other"})
    nobody = await client.get("/")

    assert stranger.headers.get_list("vary") == nobody.headers.get_list("vary") == ["accept", "origin"]


async def test_what_is_no_preflight_reaches_the_application(client):
    assert (await client.options("/", headers={"origin": PAGE})).status_code == 405
    assert (await client.get("/")).text == "inside"
