"""The bytes of candidates against candidates as values, over small random clouds that change in between."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kilonova.domain.resources import Candidate, CandidateQuery, Provider
from kilonova.operations.ledger_index import LedgerIndex
from kilonova.placement.batch import Batch
from kilonova.placement.index import Index
from kilonova.placement.search import batches, candidates
from kilonova.placement_api.allocation_candidates.older import Sieve
from kilonova.placement_api.allocation_candidates.summaries import Summaries
from kilonova.placement_api.allocation_candidates.view import Page
from kilonova.placement_api.bodies import Body
from kilonova.placement_api.face import placement_face
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.prepared import Prepared
from kilonova.storage.database import Database
from tests.placement.clouds import index_of
from tests.placement.test_search_exact import clouds, queries
from tests.placement_api.placement_client import Client, FakeAuthenticator

VERSIONS = st.sampled_from([10, 12, 17, 25, 27, 28, 29, 33, 34, 39])


def written(index: Index, prepared: Prepared, query: CandidateQuery, version: int) -> dict[str, Any]:
    async def write() -> bytes:
        classes = frozenset(name for group in query.groups for name in group.resources)
        body, sieve = Body(), Sieve(index, query, version)
        page = Page(Summaries(index, prepared, version, classes), body)
        for batch in batches(index, query):
            if batch is not None:
                await page.take(sieve.narrow(batch))
        await page.end()
        whole = body.whole()
        assert isinstance(whole, bytes)
        return whole

    found: dict[str, Any] = orjson.loads(asyncio.run(write()))
    return found


def expected(index: Index, query: CandidateQuery, version: int) -> tuple[list[Any], dict[str, Any]]:
    """Requests and summaries, written as the API reference reads."""
    found = list(candidates(index, query))
    if version < 29:
        found = [candidate for candidate in found if not nested(index, candidate)]
    requests = {orjson.dumps(request, option=orjson.OPT_SORT_KEYS): request for request in shown_all(index, found, version)}
    used = {number for candidate in found for number in candidate.allocations}
    if version >= 29:
        roots = {index.provider(number).root_id for number in used}
        used = {provider.id for root in roots for provider in index.tree(root)}
    classes = {name for group in query.groups for name in group.resources}
    return list(requests.values()), {index.provider(number).uuid: summary(index, number, classes, version) for number in used}


def nested(index: Index, candidate: Candidate) -> bool:
    roots = [index.provider(number).root_id for number in candidate.allocations]
    return len(set(roots)) < len(roots)


def shown_all(index: Index, found: list[Candidate], version: int) -> list[dict[str, Any]]:
    uuids = {number: f"uuid-{number}" for number in range(1, 20)}
    return [shown(uuids, candidate, version) for candidate in found]


def shown(uuids: dict[int, str], candidate: Candidate, version: int) -> dict[str, Any]:
    if version < 12:
        listed = [(uuids[number], amounts) for number, amounts in sorted(candidate.allocations.items())]
        return {"allocations": [{"resource_provider": {"uuid": uuid}, "resources": dict(amounts)} for uuid, amounts in listed]}
    request: dict[str, Any] = {
        "allocations": {uuids[number]: {"resources": dict(amounts)} for number, amounts in candidate.allocations.items()}
    }
    if version >= 34:
        request["mappings"] = {suffix: sorted(uuids[one] for one in some) for suffix, some in candidate.mappings.items()}
    return request


def summary(index: Index, number: int, classes: set[str], version: int) -> dict[str, Any]:
    provider = index.provider(number)
    made: dict[str, Any] = {
        "resources": {
            name: {"capacity": inventory.capacity, "used": inventory.used}
            for name, inventory in provider.inventories.items()
            if version >= 27 or name in classes
        }
    }
    if version >= 17:
        made["traits"] = sorted(provider.traits, key=lambda name: (name.startswith("CUSTOM_"), name))
    if version >= 29:
        made["parent_provider_uuid"] = None if provider.parent_id is None else index.provider(provider.parent_id).uuid
        made["root_provider_uuid"] = index.provider(provider.root_id).uuid
    return made


def in_order(requests: list[Any]) -> list[bytes]:
    """Requests in an order of their own: the answer's means nothing, nor does that of a list of providers."""
    for request in requests:
        for uuids in request.get("mappings", {}).values():
            uuids.sort()
        if isinstance(request["allocations"], list):
            request["allocations"].sort(key=lambda entry: str(entry["resource_provider"]["uuid"]))
    return sorted(orjson.dumps(request, option=orjson.OPT_SORT_KEYS) for request in requests)


@settings(max_examples=100, deadline=None)
@given(clouds(), clouds(), queries(), VERSIONS)
def test_the_bytes_say_what_the_candidates_are_also_after_changes(
    before: list[Provider], after: list[Provider], query: CandidateQuery, version: int
) -> None:
    index, prepared = index_of(*before), Prepared()
    for step in range(3):
        found = written(index, prepared, query, version)
        requests, summaries = expected(index, query, version)
        assert in_order(found["allocation_requests"]) == in_order(requests)
        assert found["provider_summaries"] == summaries
        if step == 0:
            index.apply(after, {provider.id for provider in before} - {provider.id for provider in after})
        else:
            index = index.copy()
            index.apply(before, {provider.id for provider in after} - {provider.id for provider in before})


@settings(max_examples=50, deadline=None)
@given(clouds(), queries(), st.integers(1, 3))
def test_a_page_written_part_by_part_is_the_same(cloud: list[Provider], query: CandidateQuery, size: int) -> None:
    async def write(pieces: int) -> bytes:
        body = Body()
        page = Page(Summaries(index, Prepared(), 39, frozenset()), body)
        for batch in found:
            for start in range(0, len(batch), pieces):
                await page.take(Batch(batch.form, batch.roots[start:][:pieces], batch.providers[start:][:pieces]))
        await page.end()
        whole = body.whole()
        assert isinstance(whole, bytes)
        return whole

    index = index_of(*cloud)
    found = [batch for batch in batches(index, query, 500) if batch is not None]
    assert orjson.loads(asyncio.run(write(size))) == orjson.loads(asyncio.run(write(10_000)))


@pytest.fixture
async def devices(database: Database) -> AsyncIterator[Client]:
    """A client whose answers have at most 4,000 candidates, and one host with 24 equal devices."""
    face = placement_face(PlacementParts(database, LedgerIndex(database), most_candidates=4000), FakeAuthenticator())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(face), base_url="http://test/placement") as http:
        client = Client(http)
        await client.put("/resource_classes/CUSTOM_DEVICE")
        root = await client.provider(VCPU=1)
        await asyncio.gather(*[client.provider(parent=root, CUSTOM_DEVICE=1) for _ in range(24)])
        yield client


GROUPS = "&".join(f"resources{number}=CUSTOM_DEVICE:1" for number in range(1, 7))


@pytest.mark.parametrize("limit", ["", "&limit=1000000000"])
async def test_an_answer_of_megabytes_has_a_length_and_ends(devices: Client, limit: str) -> None:
    answer = await devices.get(f"/allocation_candidates?{GROUPS}&group_policy=isolate{limit}")
    requests = answer.json()["allocation_requests"]
    assert int(answer.headers["content-length"]) == len(answer.content) > 2 * 2**20
    assert len({tuple(sorted((name, one) for name, (one,) in request["mappings"].items())) for request in requests}) == 4000
    assert len(answer.json()["provider_summaries"]) == 25


async def test_others_are_served_while_a_large_answer_is_written(devices: Client) -> None:
    asked = asyncio.create_task(devices.get(f"/allocation_candidates?{GROUPS}&group_policy=isolate"))
    served = 0
    async with asyncio.timeout(60):
        while not asked.done():
            await asyncio.sleep(0)
            assert (await devices.http.get("/")).status_code == 200
            served += 1
    assert (await asked).status_code == 200
    assert served > 5


async def test_what_older_versions_are_not_shown_does_not_count_towards_the_limit(devices: Client) -> None:
    query = "/allocation_candidates?resources1=CUSTOM_DEVICE:1&resources2=CUSTOM_DEVICE:1&group_policy=isolate&limit=100"
    requests = (await devices.at("1.33").get(query)).json()["allocation_requests"]
    assert len({frozenset(request["allocations"]) for request in requests}) == len(requests) == 100
