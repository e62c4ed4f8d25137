"""The numpy side of the index: one row a provider, its numbers and flags in columns.

Rows know amounts and names only; which provider owns a row, and who belongs to whose tree, is the index's business.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from kilonova.domain.resources import Inventory

IntColumn = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NOBODY: Final = -1


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

    def clear(self, row: int) -> None:
        """Make the row one without this class."""
        self.stepped -= int(self.step_size[row] != 1)
        self.capacity[row] = self.used[row] = self.max_unit[row] = 0
        self.min_unit[row] = self.step_size[row] = 1

    def grow(self, length: int) -> None:
        """Lengthen every column."""
        for name, fill in (("capacity", 0), ("used", 0), ("min_unit", 1), ("max_unit", 0), ("step_size", 1)):
            setattr(self, name, grown(getattr(self, name), length, fill))


class Flags:
    """Named yes/no columns (traits, aggregates), a bit a row: thousands of aggregates must not cost megabytes each."""

    __slots__ = ("_bits", "_length")

    def __init__(self, length: int) -> None:
        self._length = length
        self._bits: dict[str, npt.NDArray[np.uint8]] = {}

    def replace(self, row: int, before: frozenset[str], after: frozenset[str]) -> None:
        """Make `after` the flags of a row that had `before`."""
        for name in before - after:
            self._bits[name][row >> 3] &= np.uint8(255 ^ (128 >> (row & 7)))
        for name in after - before:
            bits = self._bits.get(name)
            if bits is None:
                bits = self._bits[name] = np.zeros((self._length + 7) // 8, dtype=np.uint8)
            bits[row >> 3] |= np.uint8(128 >> (row & 7))

    def mask(self, name: str) -> Mask:
        """A fresh mask of the rows that have the flag; all False for a name nobody has."""
        bits = self._bits.get(name)
        if bits is None:
            return np.zeros(self._length, dtype=np.bool_)
        return np.unpackbits(bits, count=self._length).view(np.bool_)

    def any_of(self, names: Iterable[str]) -> Mask:
        """A fresh mask of the rows that have at least one of the flags."""
        found = np.zeros((self._length + 7) // 8, dtype=np.uint8)
        for name in names:
            bits = self._bits.get(name)
            if bits is not None:
                found |= bits
        return np.unpackbits(found, count=self._length).view(np.bool_)

    def grow(self, length: int) -> None:
        """Lengthen every column."""
        self._length = length
        for name, bits in self._bits.items():
            longer = np.zeros((length + 7) // 8, dtype=np.uint8)
            longer[: len(bits)] = bits
            self._bits[name] = longer


class Rows:
    """All columns, and which rows are taken.

    `root` holds the row of each row's root provider, `size` (at root rows) how many providers the tree has. `stamp` is
    another number whenever anything of the row's provider changes: what is derived from it can be kept beside.
    """

    def __init__(self, length: int = 64) -> None:
        self.ids: IntColumn = np.full(length, NOBODY, dtype=np.int64)
        self.root: IntColumn = np.arange(length, dtype=np.int64)
        self.size: IntColumn = np.zeros(length, dtype=np.int64)
        self.is_root: Mask = np.zeros(length, dtype=np.bool_)
        self.stamp: IntColumn = np.zeros(length, dtype=np.int64)
        self._stamps = 0
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

    def mark(self, row: int) -> None:
        """Note that something of the row's provider changed."""
        self._stamps += 1
        self.stamp[row] = self._stamps

    def vacate(self, row: int) -> None:
        """Take an emptied row back; flags and classes must have been cleared before."""
        self.ids[row] = NOBODY
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
        self.size = np.concatenate([self.size, np.zeros(length - before, dtype=np.int64)])
        self.is_root = np.concatenate([self.is_root, np.zeros(length - before, dtype=np.bool_)])
        self.stamp = np.concatenate([self.stamp, np.zeros(length - before, dtype=np.int64)])
        for columns in self.classes.values():
            columns.grow(length)
        self.traits.grow(length)
        self.aggregates.grow(length)
        self._free.extend(range(length - 1, before - 1, -1))
