"""What follows from where providers stand (trees by row, reach of sharing), kept until something moves."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from kilonova.domain.resources import Provider
from kilonova.placement.forest import Forest
from kilonova.placement.rows import IntColumn, Mask, Rows

SHARES: Final = "MISC_SHARES_VIA_AGGREGATE"


class Topology:
    """Read-only answers about trees and sharing; `forget` when a provider moves, comes, goes or changes its flags."""

    __slots__ = ("_anchors", "_forest", "_providers", "_row_of", "_rows", "_sorted", "_tree_rows")

    def __init__(self, rows: Rows, forest: Forest, providers: Mapping[int, Provider], row_of: Mapping[int, int]) -> None:
        self._rows = rows
        self._forest = forest
        self._providers = providers
        self._row_of = row_of
        self.forget()

    def forget(self) -> None:
        """Drop everything derived."""
        self._tree_rows: dict[int, IntColumn] = {}
        self._anchors: dict[frozenset[str], Mask] = {}
        self._sorted: tuple[IntColumn, IntColumn] | None = None

    @property
    def has_trees(self) -> bool:
        """Whether any tree has more than its root."""
        return bool(self._forest)

    def tree_rows(self, root_row: int) -> IntColumn:
        """The rows of the tree whose root has this row, the root first."""
        rows = self._tree_rows.get(root_row)
        if rows is None:
            below = sorted(self._forest.below(int(self._rows.ids[root_row])))
            rows = np.array([root_row, *(self._row_of[provider_id] for provider_id in below)], dtype=np.int64)
            self._tree_rows[root_row] = rows
        return rows

    def sharing_rows(self) -> IntColumn:
        """The rows of the providers that share what they have with the trees in their aggregates."""
        return np.flatnonzero(self._rows.traits.mask(SHARES))

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
