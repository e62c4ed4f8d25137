"""Loads a data set through a placement API, and tells what that cost."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeVar

from placement_client import Asker
from placement_data import Dataset, Spec

Item = TypeVar("Item")
AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class Loaded:
    """How many requests loading took, and how many seconds."""

    requests: int
    seconds: float


async def load(asker: Asker, dataset: Dataset) -> Loaded:
    """Make every provider with all that it has, parents before children, AT_ONCE at a time. Raises RuntimeError."""
    begun = time.perf_counter()
    traits = {name for spec in dataset.providers for name in spec.traits if name.startswith("CUSTOM_")}
    for name in sorted(traits):
        await asker.must("PUT", f"/traits/{name}")
    sent = [len(traits)]
    for level in _levels(dataset.providers):
        await spread(level, lambda spec: _one(asker, spec, sent), AT_ONCE)
    return Loaded(sum(sent), time.perf_counter() - begun)


async def spread(items: Iterable[Item], work: Callable[[Item], Awaitable[None]], at_once: int) -> None:
    """Do `work` on each item, `at_once` at a time."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(worker())


def _levels(specs: Sequence[Spec]) -> list[list[Spec]]:
    depth: dict[str, int] = {}
    levels: list[list[Spec]] = []
    for spec in specs:
        depth[spec.uuid] = 0 if spec.parent is None else depth[spec.parent] + 1
        while len(levels) <= depth[spec.uuid]:
            levels.append([])
        levels[depth[spec.uuid]].append(spec)
    return levels


async def _one(asker: Asker, spec: Spec, sent: list[int]) -> None:
    made = {"name": spec.name, "uuid": spec.uuid, **({"parent_provider_uuid": spec.parent} if spec.parent else {})}
    await asker.must("POST", "/resource_providers", made)
    generation = 0
    for name, value in _parts(spec):
        body = {"resource_provider_generation": generation, name: value}
        await asker.must("PUT", f"/resource_providers/{spec.uuid}/{name}", body)
        generation += 1
    sent.append(generation + 1)


def _parts(spec: Spec) -> Iterable[tuple[str, Any]]:
    if spec.inventories:
        yield "inventories", {name: _shown(asdict(entry)) for name, entry in spec.inventories.items()}
    if spec.traits:
        yield "traits", list(spec.traits)
    if spec.aggregates:
        yield "aggregates", list(spec.aggregates)


def _shown(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "used"}
