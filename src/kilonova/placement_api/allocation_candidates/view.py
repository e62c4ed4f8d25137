"""How candidates are shown: the requests that would claim them, then summaries of the providers that they use."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from kilonova.placement.batch import Batch
from kilonova.placement.rows import IntColumn
from kilonova.placement_api.allocation_candidates.forms import FormWriter, writer_of
from kilonova.placement_api.allocation_candidates.summaries import NESTED, Summaries
from kilonova.placement_api.bodies import Body
from kilonova.placement_api.prepared import UUID

_CHOICES: Final = 8192
"""How many choices (candidates × places) are written at a time: a candidate of 64 groups is as long as 64 of one."""

_TOGETHER: Final = 512
"""How many candidates, or summaries, are written at a time: at most a few milliseconds."""


class Page:
    """One answer being written: batches in, pieces of the body out. The index must be pinned until the end."""

    def __init__(self, summaries: Summaries, body: Body) -> None:
        self._summaries = summaries
        self._index = summaries.index
        self._body = body
        self._waiting: list[tuple[FormWriter, Batch]] = []
        self._many = 0
        self._used = np.zeros(len(self._index.rows), dtype=np.bool_)
        self._first = True
        body.add([b'{"allocation_requests":['])

    async def take(self, batch: Batch) -> None:
        """Write candidates down, now or with those that come next."""
        writer = writer_of(batch.form, self._summaries.version)
        places = max(1, batch.providers.shape[1])
        together = min(_TOGETHER, max(1, _CHOICES // places))
        for start in range(0, len(batch), together):
            piece = batch if len(batch) <= together else _part(batch, start, start + together)
            self._waiting.append((writer, piece))
            self._many += len(piece) * places
            if self._many >= together * places:
                self._write()
                await self._body.breathe()

    async def end(self) -> None:
        """Write what waits, and the summaries."""
        self._write()
        self._body.add([b'],"provider_summaries":{'])
        rows, self._first = self._summarised(), True
        for start in range(0, len(rows), _TOGETHER):
            self._add(self._summaries.write(rows[start : start + _TOGETHER]))
            await self._body.breathe()
        self._body.add([b"}}"])

    def _write(self) -> None:
        if not self._waiting:
            return
        flat = np.concatenate([batch.providers.ravel() for _, batch in self._waiting])
        (uuids,) = self._summaries.prepared.pieces(UUID, self._index, flat)
        at = 0
        for writer, batch in self._waiting:
            end = at + batch.providers.size
            self._add(writer.write(uuids[at:end], len(batch)))
            at = end
        self._mark(flat)
        self._waiting, self._many = [], 0

    def _add(self, pieces: list[bytes]) -> None:
        if self._first and pieces:
            # All but the first have a comma before them.
            self._first, pieces[0] = False, pieces[0][1:]
        self._body.add(pieces)

    def _mark(self, flat: IntColumn) -> None:
        """Note what is to be summarised: the roots of the trees that are used; before 1.29 what is used itself."""
        if all(len(writer.held) == batch.providers.shape[1] for writer, batch in self._waiting):
            used: Sequence[IntColumn] = (flat,)
        else:
            # A candidate that allocates nothing (placement 1.1001) still tells of its tree.
            used = [batch.providers[:, writer.held].ravel() if writer.held else batch.roots for writer, batch in self._waiting]
        for rows in used:
            self._used[rows if self._summaries.version < NESTED else self._index.rows.root[rows]] = True

    def _summarised(self) -> IntColumn:
        marked, topology = np.flatnonzero(self._used), self._index.topology
        if self._summaries.version < NESTED or not topology.has_trees:
            return marked
        trees = topology.trees
        numbers = trees.number[marked]
        starts, sizes = trees.starts[numbers], trees.starts[numbers + 1] - trees.starts[numbers]
        before = np.cumsum(sizes) - sizes
        rows: IntColumn = trees.rows[np.repeat(starts - before, sizes) + np.arange(sizes.sum())]
        return rows


def _part(batch: Batch, start: int, end: int) -> Batch:
    return Batch(batch.form, batch.roots[start:end], batch.providers[start:end])
