"""Three processes that serve placement on one PostgreSQL: what one has answered, no other is behind of."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import pytest
import pytest_asyncio

from kilonova.domain.clock import new_uuid

from .alone import placement_alone

pytestmark = pytest.mark.asyncio(loop_scope="module")
PROCESSES: Final = 3
WRITERS: Final = 4
ROUNDS: Final = 4
MANY: Final = 1_000_000
Json = dict[str, Any]


@dataclass
class Trio:
    """A client of each process."""

    clients: Sequence[httpx.AsyncClient]

    async def write(self, by: int, method: str, path: str, body: Json | None = None) -> Json:
        """Ask one process for a change; its answer, which must be good."""
        answer = await self.clients[by].request(method, path, json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return dict(answer.json()) if answer.content else {}

    async def read_elsewhere(self, by: int, path: str) -> list[Json]:
        """What the other processes answer, asked at once."""
        others = [client for number, client in enumerate(self.clients) if number != by]
        answers = await asyncio.gather(*(client.get(path) for client in others))
        assert [answer.status_code for answer in answers] == [200] * len(others), path
        return [answer.json() for answer in answers]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trio(postgresql_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trio]:
    async with placement_alone(postgresql_server, tmp_path_factory.mktemp("trio"), PROCESSES) as made:
        yield Trio(made.clients)


@dataclass
class Host:
    """A host that one writer changes through all processes in turn; after each change the others must know of it."""

    trio: Trio
    uuid: str = field(default_factory=new_uuid)
    label: str = field(default_factory=lambda: "CUSTOM_" + new_uuid().replace("-", "_").upper())
    generation: int = 0

    @property
    def _path(self) -> str:
        return f"/resource_providers/{self.uuid}"

    async def make(self, by: int) -> None:
        await self.trio.write(by, "POST", "/resource_providers", {"name": self.uuid, "uuid": self.uuid})
        for shown in await self.trio.read_elsewhere(by, self._path):
            assert (shown["name"], shown["generation"]) == (self.uuid, 0)
        await self.trio.write(by, "PUT", f"/traits/{self.label}")

    async def offer(self, by: int, total: int) -> None:
        inventories = {"VCPU": {"total": total}}
        await self._change(by, "inventories", {"inventories": inventories})
        for shown in await self.trio.read_elsewhere(by, f"{self._path}/inventories"):
            assert shown["inventories"]["VCPU"]["total"] == total
            assert shown["resource_provider_generation"] == self.generation

    async def mark(self, by: int, *, marked: bool) -> None:
        await self._change(by, "traits", {"traits": [self.label] if marked else []})
        for shown in await self.trio.read_elsewhere(by, f"{self._path}/traits"):
            assert shown["traits"] == ([self.label] if marked else [])
        for found in await self.trio.read_elsewhere(by, f"/allocation_candidates?resources=VCPU:1&required={self.label}"):
            assert list(found["provider_summaries"]) == ([self.uuid] if marked else [])

    async def join(self, by: int, aggregate: str) -> None:
        await self._change(by, "aggregates", {"aggregates": [aggregate]})
        for found in await self.trio.read_elsewhere(by, f"/resource_providers?member_of={aggregate}"):
            assert [entry["uuid"] for entry in found["resource_providers"]] == [self.uuid]

    async def hold(self, by: int, consumer: str, amount: int) -> None:
        await self.trio.write(by, "PUT", f"/allocations/{consumer}", claim_of({self.uuid: amount}))
        self.generation += 1
        for shown in await self.trio.read_elsewhere(by, f"{self._path}/usages"):
            assert (shown["usages"], shown["resource_provider_generation"]) == ({"VCPU": amount}, self.generation)
        for shown in await self.trio.read_elsewhere(by, f"/allocations/{consumer}"):
            assert shown["allocations"][self.uuid]["resources"] == {"VCPU": amount}
        for found in await self.trio.read_elsewhere(by, f"/allocation_candidates?resources=VCPU:1&in_tree={self.uuid}"):
            assert found["provider_summaries"][self.uuid]["resources"]["VCPU"]["used"] == amount

    async def release(self, by: int, consumer: str) -> None:
        await self.trio.write(by, "DELETE", f"/allocations/{consumer}")
        for shown in await self.trio.read_elsewhere(by, f"{self._path}/usages"):
            assert shown["usages"] == {"VCPU": 0}
            self.generation = shown["resource_provider_generation"]

    async def _change(self, by: int, part: str, body: Json) -> None:
        written = {**body, "resource_provider_generation": self.generation}
        self.generation = (await self.trio.write(by, "PUT", f"{self._path}/{part}", written))["resource_provider_generation"]


def claim_of(amounts: Mapping[str, int]) -> Json:
    """What a new consumer asks for, by provider."""
    return {
        "allocations": {provider: {"resources": {"VCPU": amount}} for provider, amount in amounts.items()},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }


async def live(host: Host, first: int) -> None:
    """One host's life, each change through another process than the one before."""
    await host.make(first % PROCESSES)
    for number in range(ROUNDS):
        by = (first + number) % PROCESSES
        consumer = new_uuid()
        await host.offer(by, 100 + number)
        await host.mark((by + 1) % PROCESSES, marked=True)
        await host.join((by + 2) % PROCESSES, new_uuid())
        await host.hold(by, consumer, 1 + number)
        await host.release((by + 1) % PROCESSES, consumer)
        await host.mark((by + 2) % PROCESSES, marked=False)


async def test_what_one_process_has_answered_all_others_know_whoever_else_is_writing(trio: Trio) -> None:
    await asyncio.gather(*(live(Host(trio), number) for number in range(WRITERS)))


async def test_no_process_shows_less_in_use_than_was_answered_before_it_was_asked(trio: Trio) -> None:
    shared = Host(trio)
    await shared.make(0)
    await shared.offer(0, MANY)
    begun = answered = 0

    async def claim_and_look(first: int) -> None:
        nonlocal begun, answered
        for number in range(2 * ROUNDS):
            by = (first + number) % PROCESSES
            begun += 1
            await trio.write(by, "PUT", f"/allocations/{new_uuid()}", claim_of({shared.uuid: 1}))
            answered += 1
            least = answered
            for shown in await trio.read_elsewhere(by, f"/resource_providers/{shared.uuid}/usages"):
                assert least <= shown["usages"]["VCPU"] <= begun

    await asyncio.gather(*(claim_and_look(number) for number in range(WRITERS)))
    assert answered == 2 * ROUNDS * WRITERS
