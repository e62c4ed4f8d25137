"""Parts of answers as ready bytes, kept beside the index: written when first asked for, and again when their provider changed.

An answer of thousands of providers is then a join of what is there already.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from kilonova.domain.resources import Provider
from kilonova.placement.index import Index
from kilonova.placement.rows import IntColumn

_NEVER: Final = -1
"""A stamp that no row has."""


@dataclass(frozen=True, slots=True)
class Text:
    """How one kind of text is written: so many pieces for each provider.

    What it says may depend on nothing but the provider and the uuids of its relatives: a row is written anew when its
    stamp changes, and at no other time.
    """

    pieces: int
    write: Callable[[Index, Provider], tuple[bytes, ...]]


UUID: Final = Text(1, lambda index, provider: (provider.uuid.encode(),))
"""A provider's uuid, bare."""


class Prepared:
    """The texts of one process, filled as they are asked for.

    They are those of one index, its copies and what replaces it: no two of these have the same stamp in a row for
    different providers or different states of one (see Rows).
    """

    def __init__(self) -> None:
        self._shelves: dict[Text, _Shelf] = {}

    def pieces(self, text: Text, index: Index, rows: IntColumn) -> list[list[bytes]]:
        """By piece, a list of it for each of `rows` (taken rows of the index, which may repeat)."""
        shelf = self._shelves.get(text)
        if shelf is None:
            shelf = self._shelves[text] = _Shelf(text)
        return shelf.pieces(index, rows)


class _Shelf:
    """One text by row."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._stamps: IntColumn = np.empty(0, dtype=np.int64)
        self._columns = [np.empty(0, dtype=np.object_) for _ in range(text.pieces)]

    def pieces(self, index: Index, rows: IntColumn) -> list[list[bytes]]:
        present = index.rows.stamp
        if len(present) > len(self._stamps):
            self._grow(len(present))
        stale = rows[self._stamps[rows] != present[rows]]
        if len(stale):
            self._write(index, stale)
        return [column[rows].tolist() for column in self._columns]

    def _write(self, index: Index, rows: IntColumn) -> None:
        write = self._text.write
        written = [write(index, index.provider(number)) for number in index.rows.ids[rows].tolist()]
        for column, pieces in zip(self._columns, zip(*written, strict=True), strict=True):
            column[rows] = _objects(pieces)
        self._stamps[rows] = index.rows.stamp[rows]

    def _grow(self, length: int) -> None:
        more = length - len(self._stamps)
        self._stamps = np.concatenate([self._stamps, np.full(more, _NEVER, dtype=np.int64)])
        self._columns = [np.concatenate([column, np.empty(more, dtype=np.object_)]) for column in self._columns]


def _objects(pieces: tuple[bytes, ...]) -> npt.NDArray[np.object_]:
    """Bytes as objects: numpy left alone would make them texts of one length."""
    made = np.empty(len(pieces), dtype=np.object_)
    made[:] = pieces
    return made
