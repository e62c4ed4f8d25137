"""GET /allocation_candidates."""

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import numpy as np

from kilonova.domain.errors import Unavailable
from kilonova.domain.ledger import Amounts
from kilonova.domain.resources import Candidate
from kilonova.http.calls import Answer, Call
from kilonova.placement.batch import Batch, Form
from kilonova.placement.index import Index
from kilonova.placement.search import batches
from kilonova.placement.unchanged import deals
from kilonova.placement.usage import Usage
from kilonova.placement_api.allocation_candidates.holdings import pinned_with
from kilonova.placement_api.allocation_candidates.older import Sieve
from kilonova.placement_api.allocation_candidates.query import Asked, read_query
from kilonova.placement_api.allocation_candidates.summaries import Summaries
from kilonova.placement_api.allocation_candidates.view import Page
from kilonova.placement_api.bodies import Body
from kilonova.placement_api.lookups import check_names
from kilonova.placement_api.parts import PlacementParts

Found = TypeVar("Found")


async def list_candidates(call: Call, parts: PlacementParts) -> Answer:
    """GET /allocation_candidates: as many as are asked for, or as anybody gets at most."""
    asked = read_query(call.query, call.version)
    await check_names(parts, asked.classes, asked.traits)
    if asked.unchanged is not None:
        return await _unchanged(call, parts, asked, asked.unchanged)
    if asked.replacing:
        return await _replacing(call, parts, asked)
    async with parts.index.pinned() as index:
        summaries = Summaries(index, parts.prepared, call.version, asked.classes)
        return await _answer(call, parts, asked, summaries, None)


async def _replacing(call: Call, parts: PlacementParts, asked: Asked) -> Answer:
    """As if some consumers held nothing (placement 1.1002)."""
    async with pinned_with(parts, asked.replacing) as (index, held):
        usage = index.usage()
        for amounts in held.values():
            usage.give_back(Candidate(0, amounts, {}))
        replaced = _by_row(index, held.values())
        summaries = Summaries(index, parts.prepared, call.version, asked.classes, replaced)
        return await _answer(call, parts, asked, summaries, usage)


async def _unchanged(call: Call, parts: PlacementParts, asked: Asked, consumer: str) -> Answer:
    """What a consumer holds as the only candidate (placement 1.1002)."""
    async with pinned_with(parts, [consumer]) as (index, held):
        summaries = Summaries(index, parts.prepared, call.version, asked.classes)
        body = Body()
        page = Page(summaries, body)
        for found in _in_time(deals(index, asked.query, held.get(consumer, {})), parts.search_seconds):
            if found is not None:
                await page.take(_batch_of(index, found))
            elif body.due:
                await body.breathe()
        await page.end()
        return body.answer(call)


async def _answer(call: Call, parts: PlacementParts, asked: Asked, summaries: Summaries, usage: Usage | None) -> Answer:
    """Search and write in slices: between them the loop serves others. The index must be pinned."""
    body = Body()
    page = Page(summaries, body)
    sieve = Sieve(summaries.index, asked.query, call.version)
    bearable = min(parts.most_candidates, max(1, parts.most_choices // max(1, asked.choices)))
    limit = min(asked.limit or bearable, bearable)
    found = 0
    # Most of what is found may be such that a version does not show it.
    most = bearable if sieve.narrows else limit
    for batch in _in_time(batches(summaries.index, asked.query, most, usage), parts.search_seconds):
        if batch is not None:
            shown = sieve.narrow(batch).first(limit - found)
            found += len(shown)
            await page.take(shown)
            if found == limit:
                break
        if body.due:
            await body.breathe()
    await page.end()
    return body.answer(call)


def _in_time(found: Iterable[Found], seconds: float) -> Iterator[Found]:
    """What a search finds. Raises Unavailable once it takes longer: some questions would take longer than anybody lives."""
    end = time.monotonic() + seconds
    for step in found:
        yield step
        if time.monotonic() > end:
            raise Unavailable(f"The search did not come to an end within {seconds:g} seconds; ask for fewer groups at once.")


def _by_row(index: Index, held: Iterable[Amounts]) -> dict[int, Mapping[str, int]]:
    """What consumers hold together, by row of the index and class."""
    together: dict[int, dict[str, int]] = {}
    for amounts in held:
        for number, by_class in amounts.items():
            row = together.setdefault(index.row(number), {})
            for name, amount in by_class.items():
                row[name] = row.get(name, 0) + amount
    return dict(together)


def _batch_of(index: Index, candidate: Candidate) -> Batch:
    """One candidate as a batch."""
    places = list(dict.fromkeys((*candidate.allocations, *(number for some in candidate.mappings.values() for number in some))))
    form = Form(
        tuple(candidate.allocations.get(number, {}) for number in places),
        {suffix: tuple(places.index(number) for number in some) for suffix, some in candidate.mappings.items()},
    )
    rows = np.array([[index.row(number) for number in places]], dtype=np.int64)
    return Batch(form, np.array([index.row(candidate.root_id)], dtype=np.int64), rows)
