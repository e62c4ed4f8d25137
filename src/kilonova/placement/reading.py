"""One search's view of the index: the columns of a window with the used amounts of a batch, asked for as masks.

Rows of a reading are positions in its window; `at` says which rows of the index they are.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from kilonova.placement.index import Index
from kilonova.placement.rows import IntColumn, Mask
from kilonova.placement.usage import Usage
from kilonova.placement.windows import Window, whole


class Reading:
    """Masks by row over one state of the index. Masks handed out may be shared: do not write to them.

    ids: provider ids. root: the row of each row's root. is_root: roots of the window's trees. size: at roots, how many
    providers the tree has.
    """

    def __init__(self, index: Index, usage: Usage | None, window: Window | None = None) -> None:
        window = window if window is not None else whole(index)
        self.index = index
        self._usage = usage if usage is not None else index.usage()
        self._window = window
        self._at = window.at
        self.ids: IntColumn = index.rows.ids[window.at]
        self.root = window.root
        self.is_root = window.is_root
        self.size: IntColumn = index.rows.size[window.at]
        self.nobody: Mask = np.zeros(len(self.ids), dtype=np.bool_)
        self.everybody: Mask = self.ids >= 0
        self.any_sharing = len(index.topology.sharing_rows()) > 0
        self.sharing: Mask = self.nobody
        if self.any_sharing:
            everywhere = np.zeros(len(index.rows), dtype=np.bool_)
            everywhere[index.topology.sharing_rows()] = True
            self.sharing = everywhere[window.at]

    def at(self, rows: IntColumn) -> IntColumn:
        """Which rows of the index these are."""
        return self._window.rows_of(rows)

    def free(self, resource_class: str) -> IntColumn:
        """Capacity less used of a class by row; 0 where nobody has the class."""
        columns = self.index.rows.classes.get(resource_class)
        if columns is None:
            return np.zeros(len(self.ids), dtype=np.int64)
        free: IntColumn = columns.capacity[self._at] - self._usage.used(resource_class)[self._at]
        return free

    def room(self, resource_class: str, rows: IntColumn | None = None) -> IntColumn:
        """What rows (all, unless some are named) can give of a class to one candidate, by what is free and by max_unit."""
        at = self._at if rows is None else self.at(rows)
        columns = self.index.rows.classes.get(resource_class)
        if columns is None:
            return np.zeros(self.nobody.shape if rows is None else rows.shape, dtype=np.int64)
        free = columns.capacity[at] - self._usage.used(resource_class)[at]
        room: IntColumn = np.minimum(free, columns.max_unit[at])
        return room

    def has_class(self, resource_class: str) -> Mask:
        """Which rows have an inventory of the class."""
        columns = self.index.rows.classes.get(resource_class)
        if columns is None:
            return self.nobody
        has: Mask = columns.max_unit[self._at] > 0
        return has

    def unit_fits(self, resource_class: str, amount: int) -> Mask:
        """Where the amount is within min_unit, max_unit and step_size."""
        columns = self.index.rows.classes.get(resource_class)
        if columns is None:
            return self.nobody
        fits: Mask = (columns.min_unit[self._at] <= amount) & (columns.max_unit[self._at] >= amount)
        if columns.stepped:
            fits &= amount % columns.step_size[self._at] == 0
        return fits

    def any_trait(self, names: Iterable[str]) -> Mask:
        """Which rows have at least one of the traits."""
        return self.index.rows.traits.any_of(names)[self._at]

    def any_aggregate(self, names: Iterable[str]) -> Mask:
        """Which rows are themselves in at least one of the aggregates."""
        return self.index.rows.aggregates.any_of(names)[self._at]

    def at_root(self, mask: Mask) -> Mask:
        """For each row of a tree of the window, whether the root of its tree is in the mask."""
        if not self.index.topology.has_trees:
            return mask
        spread: Mask = mask[self.root]
        return spread

    def tree_of(self, uuid: str) -> Mask:
        """The rows of the tree that the provider is in; none when there is no such provider."""
        provider = self.index.find(uuid)
        if provider is None:
            return self.nobody
        tree: Mask = self.index.rows.root[self._at] == self.index.row(provider.root_id)
        return tree

    def own_roots(self, mask: Mask) -> Mask:
        """The root rows of trees that have at least one provider in the mask."""
        if not self.index.topology.has_trees:
            return mask
        roots = np.zeros(len(self.ids), dtype=np.bool_)
        # By numbers: picking with a mask is up to three times slower.
        roots[self.root[np.flatnonzero(mask)]] = True
        return roots

    def anchors(self, row: int) -> Mask:
        """The root rows of the trees that a sharing provider's resources reach."""
        return self.index.topology.anchors(int(self.at(np.array([row]))[0]))[self._at]

    def roots(self, own: Mask, shared: Sequence[int]) -> Mask:
        """The root rows of trees that `own` providers serve from within or `shared` rows from anywhere."""
        roots = self.own_roots(own)
        # Sharing providers in the same aggregates reach the same trees.
        aggregates = {self.index.provider(provider_id).aggregates: row for row, provider_id in self._named(shared)}
        for row in aggregates.values():
            roots = roots | self.anchors(row)
        return roots

    def shapes(self, root_rows: IntColumn) -> IntColumn:
        """How the trees are built: trees with equal numbers have the same parents in the same positions."""
        trees = self.index.topology.trees
        found: IntColumn = trees.shape[trees.number[self.at(root_rows)]]
        return found

    def slices(self, root_rows: IntColumn, size: int) -> IntColumn:
        """The rows of trees of one size, trees × positions: the root first, every parent before its children."""
        if self._window.lined_up:
            return root_rows[:, None] + np.arange(size)
        return self.index.topology.trees.slices(root_rows, size)

    def _named(self, rows: Sequence[int]) -> Iterable[tuple[int, int]]:
        return zip(rows, self.ids[list(rows)].tolist(), strict=True) if rows else ()
