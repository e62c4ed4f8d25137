"""Named yes/no columns (traits, aggregates) over the rows of the index."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from kilonova.placement.grouped import Grouped

Bits = npt.NDArray[np.uint8]

_BITS_OF_ONE: Final = 2048
"""A row in a set of Python's takes about as much memory as so many bits."""


class Flags:
    """A flag is a bit a row, or the set of its rows where these are few: thousands of aggregates must not cost megabytes."""

    __slots__ = ("_bits", "_few", "_length")

    def __init__(self, length: int) -> None:
        self._length = length
        self._bits: dict[str, Bits] = {}
        self._few: dict[str, set[int]] = {}

    def fill(self, sets: Sequence[frozenset[str]]) -> None:
        """Make `sets` the flags of the first rows. There must be none yet."""
        grouped = Grouped(sets)
        members: dict[str, list[npt.NDArray[np.int64]]] = {}
        for names, rows in zip(grouped.distinct, grouped.rows(), strict=True):
            for name in names:
                members.setdefault(name, []).append(rows)
        for name, parts in members.items():
            rows = np.concatenate(parts)
            if len(rows) <= self._most_few:
                self._few[name] = set(rows.tolist())
            else:
                mask = np.zeros(self._length, dtype=np.bool_)
                mask[rows] = True
                self._bits[name] = np.packbits(mask)

    def replace(self, row: int, before: frozenset[str], after: frozenset[str]) -> None:
        """Make `after` the flags of a row that had `before`."""
        for name in before - after:
            self._take(name, row)
        for name in after - before:
            self._give(name, row)

    def mask(self, name: str) -> npt.NDArray[np.bool_]:
        """A fresh mask of the rows that have the flag; all False for a name nobody has."""
        return self.any_of((name,))

    def any_of(self, names: Iterable[str]) -> npt.NDArray[np.bool_]:
        """A fresh mask of the rows that have at least one of the flags."""
        found: Bits | None = None
        few: set[int] = set()
        for name in names:
            bits = self._bits.get(name)
            if bits is None:
                few |= self._few.get(name, frozenset())
            else:
                found = bits if found is None else found | bits
        if found is None:
            mask = np.zeros(self._length, dtype=np.bool_)
        else:
            mask = np.unpackbits(found, count=self._length).view(np.bool_)
        if few:
            mask[list(few)] = True
        return mask

    def grow(self, length: int) -> None:
        """Lengthen every column."""
        self._length = length
        for name, bits in self._bits.items():
            longer = np.zeros((length + 7) // 8, dtype=np.uint8)
            longer[: len(bits)] = bits
            self._bits[name] = longer

    def copy(self) -> "Flags":
        """The same, independent of this one."""
        twin = Flags(self._length)
        twin._bits = {name: bits.copy() for name, bits in self._bits.items()}
        twin._few = {name: rows.copy() for name, rows in self._few.items()}
        return twin

    @property
    def _most_few(self) -> int:
        return self._length // _BITS_OF_ONE

    def _take(self, name: str, row: int) -> None:
        few = self._few.get(name)
        if few is None:
            self._bits[name][row >> 3] &= np.uint8(255 ^ (128 >> (row & 7)))
            return
        few.discard(row)
        if not few:
            del self._few[name]

    def _give(self, name: str, row: int) -> None:
        bits = self._bits.get(name)
        if bits is None:
            few = self._few.setdefault(name, set())
            few.add(row)
            if len(few) <= self._most_few:
                return
            mask = np.zeros(self._length, dtype=np.bool_)
            mask[list(few)] = True
            self._bits[name] = np.packbits(mask)
            del self._few[name]
            return
        bits[row >> 3] |= np.uint8(128 >> (row & 7))
