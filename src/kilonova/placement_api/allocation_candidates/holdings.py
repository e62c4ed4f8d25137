"""What consumers hold, read so that it agrees with the index."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from kilonova.domain.errors import Unavailable
from kilonova.domain.ledger import Amounts, Consumer
from kilonova.placement.index import Index
from kilonova.placement_api.parts import PlacementParts
from kilonova.storage.ledger import allocations_of_consumers, consumers_by_uuid

_TRIES: Final = 20
"""How often a consumer may change under our eyes; each look takes about a millisecond."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """The consumers that exist, and what each holds."""

    consumers: Mapping[str, Consumer]
    amounts: Mapping[str, Amounts]


@asynccontextmanager
async def pinned_with(parts: PlacementParts, consumers: Sequence[str]) -> AsyncIterator[tuple[Index, Mapping[str, Amounts]]]:
    """The pinned index, and what the consumers held at its moment; who holds nothing is not in it.

    Raises Unavailable when the consumers do not stay the same long enough for a look.
    """
    for _ in range(_TRIES):
        before = await _read(parts, consumers)
        async with parts.index.pinned() as index:
            # Every write of a consumer raises its generation: what is the same before and after was so all the time.
            if await _read(parts, consumers) == before:
                yield index, before.amounts
                return
    raise Unavailable(f"What these consumers hold changes faster than it can be read: {', '.join(consumers)}.")


async def _read(parts: PlacementParts, consumers: Sequence[str]) -> Holdings:
    async with parts.database.read() as transaction:
        found = await consumers_by_uuid(transaction, consumers)
        return Holdings(found, await allocations_of_consumers(transaction, consumers))
