"""GET /allocation_candidates."""

import asyncio
import time
from typing import Final

from kilonova.domain.resources import Candidate, CandidateQuery
from kilonova.http.calls import Answer, Call
from kilonova.placement.index import Index
from kilonova.placement.search import explore
from kilonova.placement_api.allocation_candidates.query import read_query
from kilonova.placement_api.allocation_candidates.view import shown_candidates
from kilonova.placement_api.lookups import check_names
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.replies import reply

_SLICE: Final = 0.005


async def list_candidates(call: Call, parts: PlacementParts) -> Answer:
    """GET /allocation_candidates: as many as are asked for, or as a client without a limit gets at most."""
    asked = read_query(call.query, call.version)
    await check_names(parts, asked.classes, asked.traits)
    async with parts.index.pinned() as index:
        found = await _find(index, asked.query, asked.limit or parts.most_candidates)
        return reply(call, shown_candidates(index, found, asked.classes, call.version))


async def _find(index: Index, query: CandidateQuery, limit: int) -> list[Candidate]:
    """Search in slices: between them the loop serves others. The index must be pinned."""
    found: list[Candidate] = []
    pause = time.perf_counter() + _SLICE
    for candidate in explore(index, query, limit):
        if candidate is not None:
            found.append(candidate)
            if len(found) == limit:
                break
        if time.perf_counter() > pause:
            await asyncio.sleep(0)
            pause = time.perf_counter() + _SLICE
    return found
