"""What follows from where providers stand (trees by row) and from their flags (reach of sharing), kept until it changes."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from kilonova.domain.resources import Provider
from kilonova.placement.forest import Forest
from kilonova.placement.rows import IntColumn, Mask, Rows
from kilonova.placement.trees import Trees

SHARES: Final = "MISC_SHARES_VIA_AGGREGATE"


class Topology:
    """Read-only answers about trees and sharing; `changed` says of each provider that comes, goes, moves or is marked."""

    __slots__ = ("_anchors", "_forest", "_providers", "_rows", "_sharing", "_sorted", "_trees")

    def __init__(self, rows: Rows, forest: Forest, providers: Mapping[int, Provider]) -> None:
        self._rows = rows
        self._forest = forest
        self._providers = providers
        self._trees: Trees | None = None
        self._sorted: tuple[IntColumn, IntColumn] | None = None
        self._sharing: IntColumn | None = None
        self._anchors: dict[frozenset[str], Mask] = {}

    def changed(self, old: Provider | None, new: Provider | None) -> None:
        """Drop what no longer holds when `old` becomes `new`; None for a provider that comes or goes."""
        if old is None or new is None or old.root_id != new.root_id or old.parent_id != new.parent_id:
            self._forget()
        elif old.aggregates != new.aggregates or (SHARES in old.traits) != (SHARES in new.traits):
            self._forget_sharing()

    @property
    def has_trees(self) -> bool:
        """Whether any tree has more than its root."""
        return bool(self._forest)

    @property
    def trees(self) -> Trees:
        """All trees of the moment."""
        if self._trees is None:
            self._trees = Trees(self._rows)
        return self._trees

    def sharing_rows(self) -> IntColumn:
        """The rows of the providers that share what they have with the trees in their aggregates."""
        if self._sharing is None:
            self._sharing = np.flatnonzero(self._rows.traits.mask(SHARES))
        return self._sharing

    def anchors(self, row: int) -> Mask:
        """The root rows of the trees that a sharing provider's resources reach.

        A whole tree is reached when any provider of it is in one of the sharing provider's aggregates.
        """
        aggregates = self._providers[int(self._rows.ids[row])].aggregates
        reached = self._anchors.get(aggregates)
        if reached is None:
            reached = np.zeros(len(self._rows), dtype=np.bool_)
            reached[self._rows.root[self._rows.aggregates.any_of(aggregates)]] = True
            self._anchors[aggregates] = reached
        return reached

    def sum_by_tree(self, amounts: IntColumn, root_ids: IntColumn) -> IntColumn:
        """Amounts by row, summed over the tree of each of the roots; the roots must exist."""
        if self.has_trees:
            # Through float64, exact up to 2**53: bincount is an order of magnitude faster than np.add.at.
            amounts = np.bincount(self._rows.root, weights=amounts, minlength=len(amounts)).astype(np.int64)
        if self._sorted is None:
            order = np.argsort(self._rows.ids)
            self._sorted = (self._rows.ids[order], order)
        ids, order = self._sorted
        found: IntColumn = amounts[order[np.searchsorted(ids, root_ids)]]
        return found

    def _forget(self) -> None:
        self._trees = None
        self._sorted = None
        self._forget_sharing()

    def _forget_sharing(self) -> None:
        self._sharing = None
        self._anchors = {}
