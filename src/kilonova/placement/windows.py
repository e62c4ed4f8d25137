"""Which part of the index a search reads at a time, so that a small limit costs a small part of a large cloud."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from kilonova.domain.resources import CandidateQuery
from kilonova.placement.index import Index
from kilonova.placement.rows import IntColumn, Mask

FIRST_TREES: Final = 256
"""Trees in the smallest first window: below that, calls of numpy cost more than the rows."""

MOST_ROWS: Final = 16_384
"""Rows of the largest window but for a larger tree: what is read in two or three milliseconds."""

GROWTH: Final = 4
"""How many times larger each window is than the one before: when few trees answer, all are soon read at full speed."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some whole trees, and the sharing providers of others with them.

    at: rows of the index by position. root: the position of each position's root. is_root: the roots of the window's
    trees. lined_up: whether each root is followed by its tree, in the order of Trees.
    """

    at: slice | IntColumn
    root: IntColumn
    is_root: Mask
    lined_up: bool

    def rows_of(self, positions: IntColumn) -> IntColumn:
        """The rows of the index in these positions."""
        if isinstance(self.at, slice):
            return positions + self.at.start if self.at.start else positions
        rows: IntColumn = self.at[positions]
        return rows


def whole(index: Index) -> Window:
    """Everything at once: positions are rows of the index."""
    return Window(slice(None), index.rows.root, index.rows.is_root, lined_up=False)


def windows(index: Index, query: CandidateQuery, limit: int | None) -> Iterator[Window]:
    """Windows that together hold every tree that may answer, each tree once; small ones first for a small limit."""
    flat = not index.topology.has_trees and not len(index.topology.sharing_rows())
    pins = _pins(index, query)
    if pins:
        yield from _pinned(index, pins, flat)
        return
    length = MOST_ROWS if limit is None else _rows_of_trees(index, max(FIRST_TREES, 2 * limit))
    if len(index.rows) <= min(2 * length, MOST_ROWS):
        yield whole(index)
    else:
        yield from (_flat if flat else _nested)(index, length)


def _rows_of_trees(index: Index, trees: int) -> int:
    """About how many rows so many trees have: one too many or too few makes no difference."""
    return trees * max(1, len(index) // max(1, int(index.rows.is_root.sum())))


def _pins(index: Index, query: CandidateQuery) -> set[str]:
    """Providers whose trees alone may answer: a suffixed group may take what another tree shares."""
    nobody_shares = not len(index.topology.sharing_rows())
    return {group.in_tree for group in query.groups if group.in_tree and (not group.suffix or nobody_shares)}


def _pinned(index: Index, uuids: set[str], flat: bool) -> Iterator[Window]:
    providers = [index.find(uuid) for uuid in uuids]
    roots = {provider.root_id for provider in providers if provider is not None}
    if len(roots) == 1 and None not in providers:
        row = index.row(roots.pop())
        tree = 0 if flat else int(index.topology.trees.number[row])
        yield _of_rows(index, row, row + 1) if flat else _of_trees(index, tree, tree + 1)


def _flat(index: Index, length: int) -> Iterator[Window]:
    start = 0
    while start < len(index.rows):
        end = start + min(length, MOST_ROWS)
        yield _of_rows(index, start, end)
        start, length = end, length * GROWTH


def _of_rows(index: Index, first: int, end: int) -> Window:
    """Roots by themselves, where nobody shares."""
    is_root = index.rows.is_root[first:end]
    return Window(slice(first, end), np.arange(len(is_root)), is_root, lined_up=True)


def _nested(index: Index, length: int) -> Iterator[Window]:
    starts = index.topology.trees.starts
    tree = 0
    while tree + 1 < len(starts):
        end = int(np.searchsorted(starts, starts[tree] + min(length, MOST_ROWS), side="right")) - 1
        end = max(tree + 1, end)
        yield _of_trees(index, tree, end)
        tree, length = end, length * GROWTH


def _of_trees(index: Index, first: int, end: int) -> Window:
    """The trees with the numbers from `first` to before `end`."""
    trees = index.topology.trees
    bounds = trees.starts[first : end + 1] - trees.starts[first]
    members = trees.rows[trees.starts[first] : trees.starts[end]]
    sharing = index.topology.sharing_rows()
    number = trees.number[sharing]
    guests = sharing[(number < first) | (number >= end)]
    root = np.concatenate([np.repeat(bounds[:-1], np.diff(bounds)), np.arange(len(members), len(members) + len(guests))])
    is_root = np.zeros(len(root), dtype=np.bool_)
    is_root[bounds[:-1]] = True
    return Window(np.concatenate([members, guests]), root, is_root, lined_up=True)
