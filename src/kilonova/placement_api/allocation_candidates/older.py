"""What older clients are not shown: candidates whose form they cannot understand, or cannot tell apart."""

from typing import Final

import numpy as np

from kilonova.domain.resources import CandidateQuery
from kilonova.placement.batch import Batch
from kilonova.placement.index import Index
from kilonova.placement.rows import IntColumn, Mask

_NESTED: Final = 29
_WITH_MAPPINGS: Final = 34

_KINDS: Final = 2**20
"""More kinds of amounts than one answer has."""


class Sieve:
    """Narrows the batches of one answer."""

    def __init__(self, index: Index, query: CandidateQuery, version: int) -> None:
        self._index = index
        self._only_flat = version < _NESTED
        # A single group gets what is claimed, so there those that claim the same are one already.
        self._only_new = version < _WITH_MAPPINGS and len(query.groups) > 1
        self._kinds: dict[object, int] = {}
        self._seen: set[bytes] = set()

    @property
    def narrows(self) -> bool:
        """Whether anything may be left out."""
        return self._only_flat or self._only_new

    def narrow(self, batch: Batch) -> Batch:
        """Those of the batch that are shown."""
        if not self.narrows:
            return batch
        held = [place for place, amounts in enumerate(batch.form.amounts) if amounts]
        if self._only_flat and len(held) > 1:
            batch = _chosen(batch, self._flat(batch.providers[:, held]))
        if self._only_new:
            batch = _chosen(batch, self._new(batch, held))
        return batch

    def _flat(self, rows: IntColumn) -> Mask:
        """Where no two providers are of one tree: clients before 1.29 know of none."""
        roots = np.sort(self._index.rows.root[rows], axis=1)
        flat: Mask = (roots[:, 1:] != roots[:, :-1]).all(axis=1)
        return flat

    def _new(self, batch: Batch, held: list[int]) -> Mask:
        """Where nothing before claims the same: before 1.34 nobody is told which group got what (C141)."""
        kinds = np.array([self._kind(batch, place) for place in held], dtype=np.int64)
        claims = np.sort(batch.providers[:, held] * _KINDS + kinds, axis=1)
        new = np.zeros(len(batch), dtype=np.bool_)
        for number, claim in enumerate(claims):
            key = claim.tobytes()
            if key not in self._seen:
                self._seen.add(key)
                new[number] = True
        return new

    def _kind(self, batch: Batch, place: int) -> int:
        amounts = frozenset(batch.form.amounts[place].items())
        return self._kinds.setdefault(amounts, len(self._kinds))


def _chosen(batch: Batch, mask: Mask) -> Batch:
    return Batch(batch.form, batch.roots[mask], batch.providers[mask])
