"""Allocations and consumers over HTTP."""

import asyncio
from typing import Any

import pytest

from kilonova.domain.clock import new_uuid
from tests.placement_api.placement_client import Client, code, holding


async def test_a_refused_first_write_leaves_no_consumer(client: Client) -> None:
    """C131."""
    provider, consumer = await client.provider(VCPU=4), new_uuid()
    assert (await client.claim(consumer, provider, VCPU=9999)).status_code == 409
    assert (await client.get(f"/allocations/{consumer}")).json() == {"allocations": {}}
    assert (await client.claim(consumer, provider, VCPU=1)).status_code == 204


async def test_a_consumer_that_gave_all_back_is_new_again(client: Client) -> None:
    """C133."""
    provider, consumer = await client.provider(VCPU=4), new_uuid()
    await client.claim(consumer, provider, VCPU=1)
    assert (await client.claim(consumer, provider, 1)).status_code == 204
    assert (await client.claim(consumer, provider, None, VCPU=1)).status_code == 204
    assert (await client.delete(f"/allocations/{consumer}")).status_code == 204
    assert (await client.delete(f"/allocations/{consumer}")).status_code == 404
    assert (await client.claim(consumer, provider, None, VCPU=1)).status_code == 204


async def test_unknown_keys_are_refused_at_every_level(client: Client) -> None:
    """C135."""
    provider = await client.provider(VCPU=4)

    def body() -> dict[str, Any]:
        return holding({provider: {"VCPU": 1}})

    with_top, with_provider, with_class = body(), body(), body()
    with_top["extra"] = 1
    with_provider["allocations"][provider]["extra"] = 1
    with_class["allocations"][provider]["resources"]["extra"] = 1
    not_uuid = body() | {"allocations": {"x": {"resources": {"VCPU": 1}}}}
    for bad in (with_top, with_provider, with_class, not_uuid):
        assert (await client.put(f"/allocations/{new_uuid()}", bad)).status_code == 400
        assert (await client.post("/allocations", {new_uuid(): bad})).status_code == 400


async def test_an_overloaded_provider_takes_what_makes_it_no_worse(client: Client) -> None:
    """C139."""
    provider, first, second = await client.provider(VCPU=10), new_uuid(), new_uuid()
    await client.claim(first, provider, VCPU=4)
    await client.claim(second, provider, VCPU=4)
    reserve = {"resource_provider_generation": await client.generation(provider), "total": 10, "reserved": 6}
    await client.put(f"/resource_providers/{provider}/inventories/VCPU", reserve)
    assert (await client.claim(first, provider, 1, VCPU=4)).status_code == 204
    assert (await client.claim(first, provider, 2, VCPU=2)).status_code == 204
    assert (await client.claim(first, provider, 3, VCPU=3)).status_code == 409
    assert (await client.claim(new_uuid(), provider, VCPU=1)).status_code == 409


@pytest.mark.parametrize(
    ("version", "codes"),
    [
        ("1.39", ("placement.concurrent_update", "placement.undefined_code", "placement.undefined_code")),
        ("1.1002", ("placement.concurrent_update", "kilonova.over_capacity", "kilonova.bad_amount")),
    ],
)
async def test_conflicts_are_told_apart_by_code(client: Client, version: str, codes: tuple[str, str, str]) -> None:
    """C155."""
    provider, consumer = await client.provider(VCPU=4), new_uuid()
    body = {"resource_provider_generation": 1, "total": 4, "step_size": 2}
    await client.put(f"/resource_providers/{provider}/inventories/VCPU", body)
    own = client.at(version)
    await own.claim(consumer, provider, VCPU=2)
    stale = await own.claim(consumer, provider, None, VCPU=2)
    full = await own.claim(new_uuid(), provider, VCPU=4)
    broken = await own.claim(new_uuid(), provider, VCPU=1)
    assert [answer.status_code for answer in (stale, full, broken)] == [409, 409, 409]
    assert (code(stale), code(full), code(broken)) == codes


async def test_each_version_shows_what_it_knows_of_a_consumer(client: Client) -> None:
    provider, consumer = await client.provider(VCPU=4), new_uuid()
    await client.claim(consumer, provider, VCPU=2)
    shown: dict[str, Any] = {"allocations": {provider: {"generation": 2, "resources": {"VCPU": 2}}}}
    path = f"/allocations/{consumer}"
    assert (await client.at("1.11").get(path)).json() == shown
    shown |= {"project_id": "p1", "user_id": "u1"}
    assert (await client.at("1.27").get(path)).json() == shown
    shown |= {"consumer_generation": 1}
    assert (await client.at("1.37").get(path)).json() == shown
    assert (await client.get(path)).json() == shown | {"consumer_type": "INSTANCE"}
    held = (await client.get(f"/resource_providers/{provider}/allocations")).json()
    assert held == {
        "allocations": {consumer: {"resources": {"VCPU": 2}, "consumer_generation": 1}},
        "resource_provider_generation": 2,
    }


async def test_older_bodies_are_still_understood(client: Client) -> None:
    provider, consumer = await client.provider(VCPU=4), new_uuid()
    listed: dict[str, Any] = {"allocations": [{"resource_provider": {"uuid": provider}, "resources": {"VCPU": 1}}]}
    assert (await client.at("1.7").put(f"/allocations/{consumer}", listed)).status_code == 204
    assert (await client.at("1.8").put(f"/allocations/{consumer}", listed)).status_code == 400
    named = {**listed, "project_id": "p1", "user_id": "u1"}
    assert (await client.at("1.8").put(f"/allocations/{consumer}", named)).status_code == 204
    assert (await client.at("1.12").put(f"/allocations/{consumer}", named)).status_code == 400
    keyed = {**named, "allocations": {provider: {"resources": {"VCPU": 3}}}}
    assert (await client.at("1.12").put(f"/allocations/{consumer}", keyed)).status_code == 204
    assert (await client.at("1.12").put(f"/allocations/{consumer}", {**keyed, "allocations": {}})).status_code == 400
    shown = (await client.get(f"/allocations/{consumer}")).json()
    assert (shown["consumer_generation"], shown["consumer_type"]) == (3, "unknown")


async def test_unknown_providers_and_classes_are_bad_requests(client: Client) -> None:
    provider = await client.provider(VCPU=4)
    assert (await client.claim(new_uuid(), new_uuid(), VCPU=1)).status_code == 400
    assert (await client.claim(new_uuid(), provider, CUSTOM_NO=1)).status_code == 400
    assert (await client.claim(new_uuid(), provider, DISK_GB=1)).status_code == 409
    assert (await client.put("/allocations/not-a-uuid", holding({provider: {"VCPU": 1}}))).status_code == 400


async def test_several_consumers_are_written_all_or_none(client: Client) -> None:
    provider, first, second = await client.provider(VCPU=4), new_uuid(), new_uuid()
    both = {first: holding({provider: {"VCPU": 3}}), second: holding({provider: {"VCPU": 2}})}
    assert (await client.post("/allocations", both)).status_code == 409
    assert (await client.get(f"/resource_providers/{provider}/usages")).json()["usages"] == {"VCPU": 0}
    await client.claim(first, provider, VCPU=4)
    swap = {first: holding({}, 1), second: holding({provider: {"VCPU": 4}})}
    assert (await client.post("/allocations", swap)).status_code == 204
    assert (await client.get(f"/allocations/{first}")).json() == {"allocations": {}}


async def test_usages_of_a_project_by_type(client: Client) -> None:
    provider = await client.provider(VCPU=8, DISK_GB=8)
    await client.claim(new_uuid(), provider, VCPU=2, DISK_GB=1)
    await client.claim(new_uuid(), provider, VCPU=1)
    older = {"allocations": {provider: {"resources": {"VCPU": 1}}}, "project_id": "p1", "user_id": "u2"}
    await client.at("1.12").put(f"/allocations/{new_uuid()}", older)
    assert (await client.at("1.37").get("/usages?project_id=p1")).json() == {"usages": {"VCPU": 4, "DISK_GB": 1}}
    assert (await client.get("/usages?project_id=p1")).json()["usages"] == {
        "INSTANCE": {"VCPU": 3, "DISK_GB": 1, "consumer_count": 2},
        "unknown": {"VCPU": 1, "consumer_count": 1},
    }
    assert (await client.get("/usages?project_id=p1&user_id=u2&consumer_type=all")).json() == {
        "usages": {"all": {"VCPU": 1, "consumer_count": 1}}
    }
    assert (await client.get("/usages")).status_code == 400


async def test_a_reader_sees_the_usages_of_their_own_project_only(client: Client) -> None:
    assert (await client.by("reader").get("/usages?project_id=p1")).status_code == 200
    assert (await client.by("reader").get("/usages?project_id=p2")).status_code == 403


async def test_of_requests_that_arrive_together_each_gets_its_own_answer(client: Client) -> None:
    provider, other, held = await client.provider(VCPU=5), await client.provider(VCPU=5), new_uuid()
    await client.claim(held, other, VCPU=5)
    answers = await asyncio.gather(
        *(client.claim(new_uuid(), provider, VCPU=1) for _ in range(8)),
        client.claim(new_uuid(), provider, CUSTOM_NO=1),
        client.claim(held, provider, None, VCPU=1),
        client.delete(f"/allocations/{held}"),
        client.delete(f"/allocations/{new_uuid()}"),
    )
    statuses = [answer.status_code for answer in answers]
    assert sorted(statuses[:8]) == [204] * 5 + [409] * 3
    assert statuses[8:] == [400, 409, 204, 404]
    assert (await client.get(f"/resource_providers/{provider}/usages")).json()["usages"] == {"VCPU": 5}
    assert (await client.get(f"/resource_providers/{other}/usages")).json()["usages"] == {"VCPU": 0}
