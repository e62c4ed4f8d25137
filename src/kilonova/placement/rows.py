"""The numpy side of the index: one row a provider, its numbers and flags in columns.

Rows know amounts and names only; which provider owns a row, and who belongs to whose tree, is the index's business.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from kilonova.domain.resources import Inventory
from kilonova.placement.flags import Flags
from kilonova.placement.grouped import Grouped

IntColumn = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NOBODY: Final = -1
_AMOUNTS: Final = ("capacity", "used", "min_unit", "max_unit", "step_size")


def grown(column: npt.NDArray[np.generic], length: int, fill: int) -> npt.NDArray[np.generic]:
    """A copy of a column with `length` rows, the new ones holding `fill`."""
    longer = np.full(length, fill, dtype=column.dtype)
    longer[: len(column)] = column
    return longer


class ClassColumns:
    """One resource class over all rows. A row without an inventory of it has max_unit 0, so no amount passes."""

    __slots__ = ("capacity", "max_unit", "min_unit", "step_size", "stepped", "used")

    def __init__(self, length: int) -> None:
        self.capacity: IntColumn = np.zeros(length, dtype=np.int64)
        self.used: IntColumn = np.zeros(length, dtype=np.int64)
        self.min_unit: IntColumn = np.ones(length, dtype=np.int64)
        self.max_unit: IntColumn = np.zeros(length, dtype=np.int64)
        self.step_size: IntColumn = np.ones(length, dtype=np.int64)
        # How many rows have a step other than 1: a whole-column modulo is dear and mostly not needed.
        self.stepped = 0

    def put(self, row: int, inventory: Inventory) -> None:
        """Write one inventory into its row."""
        self.stepped += int(inventory.step_size != 1) - int(self.step_size[row] != 1)
        self.capacity[row] = inventory.capacity
        self.used[row] = inventory.used
        self.min_unit[row] = inventory.min_unit
        self.max_unit[row] = inventory.max_unit
        self.step_size[row] = inventory.step_size

    def fill(self, rows: IntColumn, inventories: Sequence[Inventory]) -> None:
        """Write one inventory into each of `rows`, which had none."""
        grouped = Grouped(inventories)
        for name in _AMOUNTS:
            amounts = np.fromiter((getattr(entry, name) for entry in grouped.distinct), np.int64, len(grouped.distinct))
            getattr(self, name)[rows] = amounts[grouped.number]
        self.stepped += int(np.count_nonzero(self.step_size[rows] != 1))

    def clear(self, row: int) -> None:
        """Make the row one without this class."""
        self.stepped -= int(self.step_size[row] != 1)
        self.capacity[row] = self.used[row] = self.max_unit[row] = 0
        self.min_unit[row] = self.step_size[row] = 1

    def grow(self, length: int) -> None:
        """Lengthen every column."""
        for name, fill in (("capacity", 0), ("used", 0), ("min_unit", 1), ("max_unit", 0), ("step_size", 1)):
            setattr(self, name, grown(getattr(self, name), length, fill))

    def copy(self) -> "ClassColumns":
        """The same, independent of this one."""
        twin = ClassColumns(0)
        for name in _AMOUNTS:
            setattr(twin, name, getattr(self, name).copy())
        twin.stepped = self.stepped
        return twin


class Rows:
    """All columns, and which rows are taken.

    `root` holds the row of each row's root provider, `parent` that of its parent (NOBODY at roots), `size` (at root rows)
    how many providers the tree has. `stamp` is another number whenever anything of the row's provider changes: what is
    derived from it can be kept beside. No stamp is given twice, nor one up to `stamps`, which a former index has given.
    """

    def __init__(self, length: int = 64, stamps: int = 0) -> None:
        self.ids: IntColumn = np.full(length, NOBODY, dtype=np.int64)
        self.root: IntColumn = np.arange(length, dtype=np.int64)
        self.parent: IntColumn = np.full(length, NOBODY, dtype=np.int64)
        self.size: IntColumn = np.zeros(length, dtype=np.int64)
        self.is_root: Mask = np.zeros(length, dtype=np.bool_)
        self.stamp: IntColumn = np.zeros(length, dtype=np.int64)
        self._stamps = stamps
        self.classes: dict[str, ClassColumns] = {}
        self.traits = Flags(length)
        self.aggregates = Flags(length)
        self._free = list(range(length - 1, -1, -1))

    def __len__(self) -> int:
        return len(self.ids)

    def occupy(self, provider_id: int) -> int:
        """Give a provider a row of its own; grows the columns by a quarter when none is left."""
        if not self._free:
            self._grow(len(self.ids) + max(64, len(self.ids) // 4))
        row = self._free.pop()
        self.ids[row] = provider_id
        self.root[row] = row
        return row

    @property
    def stamps(self) -> int:
        """The last stamp that was given."""
        return self._stamps

    def fill(self, ids: Sequence[int], inventories: Sequence[Mapping[str, Inventory]]) -> None:
        """Give providers the first rows, in this order, and write what they have. All rows must be free.

        Where they stand (`root`, `parent`, `size`, `is_root`) and their flags are written by others.
        """
        count = len(ids)
        self.ids[:count] = ids
        self.stamp[:count] = np.arange(self._stamps + 1, self._stamps + count + 1)
        self._stamps += count
        del self._free[len(self._free) - count :]
        grouped = Grouped(inventories)
        having: dict[str, tuple[list[int], list[Inventory]]] = {}
        for number, offered in enumerate(grouped.distinct):
            for name, inventory in offered.items():
                groups, entries = having.setdefault(name, ([], []))
                groups.append(number)
                entries.append(inventory)
        for name, (groups, entries) in having.items():
            entry_of = np.full(len(grouped.distinct), NOBODY, dtype=np.int64)
            entry_of[groups] = np.arange(len(groups))
            entry_of = entry_of[grouped.number]
            rows = np.flatnonzero(entry_of != NOBODY)
            columns = self.classes[name] = ClassColumns(len(self.ids))
            columns.fill(rows, [entries[number] for number in entry_of[rows].tolist()])

    def copy(self) -> "Rows":
        """The same, independent of this one; it goes on with other stamps."""
        twin = Rows(0, self._stamps)
        for name in ("ids", "root", "parent", "size", "is_root", "stamp"):
            setattr(twin, name, getattr(self, name).copy())
        twin.classes = {name: columns.copy() for name, columns in self.classes.items()}
        twin.traits, twin.aggregates = self.traits.copy(), self.aggregates.copy()
        twin._free = self._free.copy()
        return twin

    def mark(self, row: int) -> None:
        """Note that something of the row's provider changed."""
        self._stamps += 1
        self.stamp[row] = self._stamps

    def vacate(self, row: int) -> None:
        """Take an emptied row back; flags and classes must have been cleared before."""
        self.ids[row] = self.parent[row] = NOBODY
        self.root[row] = row
        self.size[row] = 0
        self.is_root[row] = False
        self._free.append(row)

    def replace_inventories(self, row: int, before: Mapping[str, Inventory], after: Mapping[str, Inventory]) -> None:
        """Write the inventories that changed; a class gets its columns on its first use."""
        for resource_class, inventory in after.items():
            if before.get(resource_class) != inventory:
                columns = self.classes.get(resource_class)
                if columns is None:
                    columns = self.classes[resource_class] = ClassColumns(len(self.ids))
                columns.put(row, inventory)
        for resource_class in before.keys() - after.keys():
            self.classes[resource_class].clear(row)

    def _grow(self, length: int) -> None:
        before = len(self.ids)
        self.ids = np.concatenate([self.ids, np.full(length - before, NOBODY, dtype=np.int64)])
        self.root = np.concatenate([self.root, np.arange(before, length, dtype=np.int64)])
        self.parent = np.concatenate([self.parent, np.full(length - before, NOBODY, dtype=np.int64)])
        self.size = np.concatenate([self.size, np.zeros(length - before, dtype=np.int64)])
        self.is_root = np.concatenate([self.is_root, np.zeros(length - before, dtype=np.bool_)])
        self.stamp = np.concatenate([self.stamp, np.zeros(length - before, dtype=np.int64)])
        for columns in self.classes.values():
            columns.grow(length)
        self.traits.grow(length)
        self.aggregates.grow(length)
        self._free.extend(range(length - 1, before - 1, -1))
