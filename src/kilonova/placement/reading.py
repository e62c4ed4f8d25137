"""One search's view of the index: the columns of the moment with the used amounts of a batch, asked for as masks."""

from collections.abc import Iterable, Sequence

import numpy as np

from kilonova.placement.index import Index
from kilonova.placement.rows import IntColumn, Mask
from kilonova.placement.usage import Usage


class Reading:
    """Masks by row over one state of the index. Masks handed out may be shared: do not write to them."""

    def __init__(self, index: Index, usage: Usage | None) -> None:
        self.index = index
        self.rows = index.rows
        self._usage = usage if usage is not None else index.usage()
        self.nobody: Mask = np.zeros(len(self.rows), dtype=np.bool_)
        self.everybody: Mask = self.rows.ids >= 0
        self.sharing: Mask = self.nobody.copy()
        self.sharing[index.topology.sharing_rows()] = True
        self.any_sharing = bool(self.sharing.any())

    def free(self, resource_class: str) -> IntColumn:
        """Capacity less used of a class by row; 0 where nobody has the class."""
        columns = self.rows.classes.get(resource_class)
        if columns is None:
            return np.zeros(len(self.rows), dtype=np.int64)
        free: IntColumn = columns.capacity - self._usage.used(resource_class)
        return free

    def has_class(self, resource_class: str) -> Mask:
        """Which rows have an inventory of the class."""
        columns = self.rows.classes.get(resource_class)
        return self.nobody if columns is None else columns.max_unit > 0

    def unit_fits(self, resource_class: str, amount: int) -> Mask:
        """Where the amount is within min_unit, max_unit and step_size."""
        columns = self.rows.classes.get(resource_class)
        if columns is None:
            return self.nobody
        fits: Mask = (columns.min_unit <= amount) & (columns.max_unit >= amount)
        if columns.stepped:
            fits &= amount % columns.step_size == 0
        return fits

    def any_trait(self, names: Iterable[str]) -> Mask:
        """Which rows have at least one of the traits."""
        return self.rows.traits.any_of(names)

    def any_aggregate(self, names: Iterable[str]) -> Mask:
        """Which rows are themselves in at least one of the aggregates."""
        return self.rows.aggregates.any_of(names)

    def at_root(self, mask: Mask) -> Mask:
        """For each row, whether the root of its tree is in the mask."""
        if not self.index.topology.has_trees:
            return mask
        spread: Mask = mask[self.rows.root]
        return spread

    def tree_of(self, uuid: str) -> Mask:
        """The rows of the tree that the provider is in; none when there is no such provider."""
        provider = self.index.find(uuid)
        if provider is None:
            return self.nobody
        tree: Mask = self.rows.root == self.index.row(provider.root_id)
        return tree

    def own_roots(self, mask: Mask) -> Mask:
        """The root rows of trees that have at least one provider in the mask."""
        if not self.index.topology.has_trees:
            return mask
        roots = np.zeros(len(self.rows), dtype=np.bool_)
        roots[self.rows.root[mask]] = True
        return roots

    def roots(self, own: Mask, shared: Sequence[int]) -> Mask:
        """The root rows of trees that `own` providers serve from within or `shared` rows from anywhere."""
        roots = self.own_roots(own)
        for anchors in {id(found): found for found in map(self.index.topology.anchors, shared)}.values():
            roots = roots | anchors
        return roots
