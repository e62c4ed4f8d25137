"""Questions that nobody can answer in a lifetime: dozens of groups of two classes on children that each take one or two."""

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from kilonova.placement.search import match
from kilonova.placement_api.face import placement_face
from kilonova.placement_api.parts import PlacementParts
from tests.placement.clouds import ask, group, index_of, provider
from tests.placement_api.placement_client import Client, FakeAuthenticator

CHILDREN = 24
WANTED = [(5 + number % 4, 4 + number % 5) for number in range(1, 45)]


@pytest.fixture
async def hurried(parts: PlacementParts) -> AsyncIterator[Client]:
    """A client of a face that gives a search a tenth of a second."""
    face = placement_face(replace(parts, search_seconds=0.1), FakeAuthenticator())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(face), base_url="http://test/placement") as http:
        yield Client(http)


async def test_a_search_that_takes_too_long_is_refused_and_others_go_on(hurried: Client) -> None:
    await hurried.put("/resource_classes/CUSTOM_A")
    root = await hurried.provider()
    for number in range(CHILDREN):
        await hurried.provider(parent=root, VCPU=10 + number * 7 % 5, CUSTOM_A=12)
    groups = "&".join(f"resources{number}=VCPU:{vcpus},CUSTOM_A:{others}" for number, (vcpus, others) in enumerate(WANTED, 1))

    answer = await hurried.get(f"/allocation_candidates?{groups}&group_policy=none")

    assert answer.status_code == 503
    assert "did not come to an end within 0.1 seconds" in answer.json()["errors"][0]["detail"]
    after = await hurried.get("/allocation_candidates?resources=VCPU:14")
    assert len(after.json()["allocation_requests"]) == sum(1 for number in range(CHILDREN) if number * 7 % 5 == 4)


def test_a_host_that_nobody_can_decide_about_does_not_fit() -> None:
    root = provider(1, {"VCPU": 1})
    children = [provider(2 + number, {"VCPU": 10 + number * 7 % 5, "CUSTOM_A": 12}, root) for number in range(CHILDREN)]
    index = index_of(root, *children)

    asked = [group(f"_{number}", VCPU=vcpus, CUSTOM_A=others) for number, (vcpus, others) in enumerate(WANTED)]
    found = match(index, ask(*asked, group_policy="none"))

    assert not len(found.roots)
    assert [(miss.code, miss.roots) for miss in found.misses] == [("combination", (root.id,))]
