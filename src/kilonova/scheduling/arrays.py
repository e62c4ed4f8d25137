"""Names of the numpy arrays that the scheduler passes around, and a column of few values repeated many times."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Rows: TypeAlias = NDArray[np.int64]
"""Row numbers of a `Hosts`."""
Mask: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Column(Generic[Value]):
    """One value a row, kept as a number into the distinct values: a question is put once a value, not once a row."""

    codes: NDArray[np.intp]
    values: tuple[Value, ...]

    @classmethod
    def of(cls, cells: Iterable[Value]) -> "Column[Value]":
        """The column of these cells, in order."""
        numbers: dict[Value, int] = {}
        codes = np.array([numbers.setdefault(cell, len(numbers)) for cell in cells], dtype=np.intp)
        return cls(codes, tuple(numbers))

    def test(self, predicate: Callable[[Value], bool], rows: Rows) -> Mask:
        """For each of the rows whether its value meets the predicate."""
        answers = np.array([predicate(value) for value in self.values], dtype=np.bool_)
        return answers[self.codes[rows]]
