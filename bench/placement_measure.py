"""Measures one side: questions, and claims one at a time or several at once; and reads answers, so that sides can be compared."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import orjson
from burst import percentile
from http_client import Reply
from placement_client import PROJECT, USER, Asker
from placement_data import Dataset
from placement_load import spread

WARM_UPS: Final = 3
LEAST: Final = 3
"""How many requests are measured at least, however long they take."""

Cpu = Callable[[], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Measured:
    """Times in ms. `cpu` is by process, per request; `status` is that of the answers."""

    status: int
    cpu: Mapping[str, float]
    p50: float
    p99: float

    @property
    def total(self) -> float:
        """CPU per request of server and database."""
        return sum(self.cpu.values())


async def measure(asker: Asker, cpu: Cpu, target: str, seconds: float) -> Measured:
    """Ask the same again and again for `seconds`. Where the side breaks (HTTP 500), it is asked once."""
    for _ in range(WARM_UPS):
        reply = await asker.ask("GET", target)
        if reply.status >= 500:
            return Measured(reply.status, {}, 0.0, 0.0)
    replies: list[Reply] = []
    before, begun = cpu(), time.perf_counter()
    while len(replies) < LEAST or time.perf_counter() - begun < seconds:
        replies.append(await asker.must("GET", target))
    return _measured(replies, before, cpu())


async def measure_claims(asker: Asker, cpu: Cpu, claims: Sequence[tuple[str, Any]], at_once: int) -> Measured:
    """Make claims, each for a consumer of its own, `at_once` at a time. Raises RuntimeError where one is refused."""
    replies: list[Reply] = []

    async def one(claim: tuple[str, Any]) -> None:
        replies.append(await asker.must("PUT", f"/allocations/{claim[0]}", claim[1]))

    before = cpu()
    await spread(claims, one, at_once)
    return _measured(replies, before, cpu())


def claims_of(dataset: Dataset) -> Iterator[tuple[str, Any]]:
    """New consumers and what each asks for: round and round over the hosts."""
    while True:
        for allocations in dataset.claims:
            shown = {uuid: {"resources": dict(amounts)} for uuid, amounts in allocations.items()}
            body = {"allocations": shown, "project_id": PROJECT, "user_id": USER}
            yield str(uuid4()), {**body, "consumer_generation": None, "consumer_type": "INSTANCE"}


def read_answer(reply: Reply) -> frozenset[Any] | None:
    """What an answer says, without its order: candidates, or providers; None for one that has neither."""
    found = orjson.loads(reply.body)
    if "allocation_requests" in found:
        return frozenset(_candidate(request) for request in found["allocation_requests"])
    if "resource_providers" in found:
        return frozenset(provider["uuid"] for provider in found["resource_providers"])
    return None


def _candidate(request: Mapping[str, Any]) -> Any:
    amounts = frozenset(
        (uuid, name, amount) for uuid, entry in request["allocations"].items() for name, amount in entry["resources"].items()
    )
    return amounts, frozenset((suffix, frozenset(uuids)) for suffix, uuids in request["mappings"].items())


def _measured(replies: Sequence[Reply], before: Mapping[str, float], after: Mapping[str, float]) -> Measured:
    count = len(replies)
    seconds = [reply.seconds for reply in replies]
    cpu = {name: (value - before[name]) / count * 1e3 for name, value in after.items()}
    return Measured(replies[-1].status, cpu, percentile(seconds, 0.5) * 1e3, percentile(seconds, 0.99) * 1e3)
