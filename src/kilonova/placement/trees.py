"""All trees as slices of one array of rows, and which trees are built alike; made anew when a provider moves."""

import numpy as np

from kilonova.placement.rows import NOBODY, IntColumn, Rows


class Trees:
    """The trees of one state of the rows.

    rows: tree by tree (in the order of their root rows), each root first, level by level, children in the order of
    their parents and then by id. roots: the root rows, ascending. starts: by tree, where it begins in `rows`; one more
    number says where the last ends. number: by row, which tree it belongs to. shape: by tree, trees of equal shape have
    the same parents in the same positions. parents: by shape, the position of the parent of each position; NOBODY for
    the root.
    """

    __slots__ = ("number", "parents", "roots", "rows", "shape", "starts")

    def __init__(self, rows: Rows) -> None:
        self.roots: IntColumn = np.flatnonzero(rows.is_root)
        self.number: IntColumn = np.zeros(len(rows), dtype=np.int64)
        self.number[self.roots] = np.arange(len(self.roots))
        self.number = self.number[rows.root]
        parent = _parents(rows)
        levels = _levels(rows, parent)
        taken = np.concatenate(levels)
        self.rows: IntColumn = taken[np.argsort(self.number[taken], kind="stable")] if len(levels) > 1 else taken
        self.starts: IntColumn = np.zeros(len(self.roots) + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.number[taken], minlength=len(self.roots)), out=self.starts[1:])
        self.shape: IntColumn = np.zeros(len(self.roots), dtype=np.int64)
        self.parents: list[IntColumn] = [np.full(1, NOBODY, dtype=np.int64)]
        if len(levels) > 1:
            self._compare(parent)

    def slices(self, root_rows: IntColumn, size: int) -> IntColumn:
        """The rows of trees of one size: trees × positions."""
        found: IntColumn = self.rows[self.starts[self.number[root_rows]][:, None] + np.arange(size)]
        return found

    def _compare(self, parent: IntColumn) -> None:
        """Number the shapes; 0 is that of a root by itself."""
        position = np.zeros(len(parent), dtype=np.int64)
        position[self.rows] = np.arange(len(self.rows)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        above = np.where(parent[self.rows] == NOBODY, NOBODY, position[parent[self.rows]])
        sizes = np.diff(self.starts)
        known: dict[bytes, int] = {}
        for size in np.unique(sizes[sizes > 1]).tolist():
            trees = np.flatnonzero(sizes == size)
            looks = above[self.starts[trees][:, None] + np.arange(size)]
            first = len(self.parents)
            shapes = [known.setdefault(look, first + len(known)) for look in looks.view(f"V{8 * size}").ravel().tolist()]
            self.shape[trees] = shapes
            self.parents.extend(np.frombuffer(look, dtype=np.int64) for look in known)
            known.clear()


def _parents(rows: Rows) -> IntColumn:
    """By row, its parent's row; the root where a parent is not to be found in the same tree, NOBODY at roots."""
    strays = (rows.parent == NOBODY) | (rows.root[rows.parent] != rows.root)
    parent: IntColumn = np.where(strays, rows.root, rows.parent)
    parent[parent == np.arange(len(parent))] = NOBODY
    return parent


def _levels(rows: Rows, parent: IntColumn) -> list[IntColumn]:
    """The rows of all roots, those of all their children in the order of the roots and by id, and so on."""
    left = np.flatnonzero((rows.ids != NOBODY) & (parent != NOBODY))
    left = left[np.argsort(rows.ids[left], kind="stable")]
    levels = [np.flatnonzero(rows.is_root)]
    place = np.full(len(parent), NOBODY, dtype=np.int64)
    while len(levels[-1]):
        place[levels[-1]] = np.arange(len(levels[-1]))
        above = place[parent[left]]
        level = left[above != NOBODY]
        levels.append(level[np.argsort(above[above != NOBODY], kind="stable")])
        left = left[above == NOBODY]
    return levels[:-1]
