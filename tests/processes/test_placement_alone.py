"""`kilonova placement` as processes of their own: two on one PostgreSQL, and a takeover while they run."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.storage.upstream import HOST, SERVER, SMALL_CLOUD, on_sqlite, uuid

from .alone import Alone, placement_alone
from .programs import run

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def put_inventory(client: httpx.AsyncClient, provider: str, total: int) -> None:
    """Give a provider VCPUs through one of the processes."""
    generation = (await client.get(f"/resource_providers/{provider}")).json()["generation"]
    body = {"resource_provider_generation": generation, "inventories": {"VCPU": {"total": total}}}
    answer = await client.put(f"/resource_providers/{provider}/inventories", json=body)
    assert answer.status_code == 200, answer.text


def one_vcpu_of(provider: str) -> dict[str, Any]:
    """What a new consumer asks for."""
    return {
        "allocations": {provider: {"resources": {"VCPU": 1}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def alone(postgresql_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Alone]:
    async with placement_alone(postgresql_server, tmp_path_factory.mktemp("alone"), 2) as made:
        yield made


async def test_a_takeover_is_seen_by_the_processes_that_run(alone: Alone, tmp_path: Path):
    for client in alone.clients:
        assert (await client.get("/resource_providers")).json() == {"resource_providers": []}

    code, said = await run("placement", "import", "--config", str(alone.config), "--from", on_sqlite(tmp_path, *SMALL_CLOUD))

    assert code == 0, said
    assert "4 providers in 2 trees" in said
    assert "2 consumers with 5 allocations" in said
    for client in alone.clients:
        names = {entry["name"] for entry in (await client.get("/resource_providers")).json()["resource_providers"]}
        assert names == {"host", "numa", "device", "störage"}
        usages = (await client.get(f"/resource_providers/{HOST}/usages")).json()["usages"]
        assert usages == {"VCPU": 6}
        held = (await client.get(f"/allocations/{SERVER}")).json()
        assert (held["consumer_generation"], held["consumer_type"], len(held["allocations"])) == (3, "INSTANCE", 3)
        found = (await client.get("/allocation_candidates?resources=CUSTOM_GOLD:1")).json()
        assert len(found["allocation_requests"]) == 1


async def test_a_second_takeover_is_refused_in_one_line(alone: Alone, tmp_path: Path):
    address = on_sqlite(tmp_path, *SMALL_CLOUD)
    await alone.clients[0].put("/traits/CUSTOM_OURS")
    await alone.clients[0].post("/resource_providers", json={"name": "ours", "uuid": uuid(500)})

    code, said = await run("placement", "import", "--config", str(alone.config), "--from", address)

    assert code == 2
    assert re.fullmatch(r"kilonova: This ledger has providers or consumers already.*\n", said), said


async def test_what_one_process_has_answered_the_other_shows_at_once(alone: Alone):
    first, second = alone.clients
    for number in range(1, 41):
        writer, reader = (first, second) if number % 2 else (second, first)
        provider, consumer = uuid(1000 + number), uuid(2000 + number)
        made = await writer.post("/resource_providers", json={"name": f"p-{number}", "uuid": provider})
        assert made.status_code == 200, made.text
        await put_inventory(alone.clients[number % 2], provider, 1000 + number)
        listed = (await reader.get(f"/resource_providers?resources=VCPU:{1000 + number}")).json()["resource_providers"]
        assert [entry["uuid"] for entry in listed] == [provider]

        claimed = await writer.put(f"/allocations/{consumer}", json=one_vcpu_of(provider))
        assert claimed.status_code == 204, claimed.text
        path = f"/allocation_candidates?resources=VCPU:{1000 + number}"
        assert (await reader.get(path)).json()["allocation_requests"] == []

        gone = await writer.delete(f"/allocations/{consumer}")
        assert gone.status_code == 204, gone.text
        assert len((await reader.get(path)).json()["allocation_requests"]) == 1
        await put_inventory(alone.clients[number % 2], provider, 1)


async def test_two_processes_together_give_out_no_more_than_there_is(alone: Alone):
    provider = uuid(3000)
    await alone.clients[0].post("/resource_providers", json={"name": "narrow", "uuid": provider})
    await put_inventory(alone.clients[0], provider, 7)

    async def claim(number: int) -> int:
        answer = await alone.clients[number % 2].put(f"/allocations/{uuid(4000 + number)}", json=one_vcpu_of(provider))
        return answer.status_code

    statuses = await asyncio.gather(*(claim(number) for number in range(20)))

    assert statuses.count(204) <= 7
    assert set(statuses) <= {204, 409}
    usages = (await alone.clients[1].get(f"/resource_providers/{provider}/usages")).json()["usages"]
    assert usages == {"VCPU": statuses.count(204)}


async def test_it_answers_at_the_root_and_at_our_usual_places(alone: Alone):
    client = alone.clients[0]
    for path in ("/", "/placement", "/own/placement"):
        found = (await client.get(path, headers={"x-auth-token": ""})).json()["versions"][0]
        assert found["max_version"] == ("1.1002" if path.startswith("/own") else "1.39")
        base = path.rstrip("/")
        assert (await client.get(f"{base}/resource_classes/VCPU")).json()["links"][0]["href"] == f"{base}/resource_classes/VCPU"
    assert (await client.get("/healthz")).text == "database: ok\n"
    assert "kilonova_http_requests_total" in (await client.get("/metrics")).text
    assert (await client.get("/compute/v2.1/servers")).status_code == 404


async def test_sigterm_ends_each_in_good_order(alone: Alone):
    for program in alone.programs:
        assert await program.end() == 0
