"""Many values of which many are the same object: what is derived from each is then derived once."""

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Value = TypeVar("Value")


class Grouped(Generic[Value]):
    """distinct: the objects, in the order in which they come first. number: by position, which of them it is."""

    __slots__ = ("distinct", "number")

    def __init__(self, values: Sequence[Value]) -> None:
        first: dict[int, int] = {}
        # By identity: equal values that are different objects are merely two groups, and comparing them takes long.
        numbers = (first.setdefault(id(value), len(first)) for value in values)
        self.number: npt.NDArray[np.int64] = np.fromiter(numbers, np.int64, len(values))
        self.distinct: list[Value] = list({id(value): value for value in values}.values())

    def rows(self) -> Iterator[npt.NDArray[np.int64]]:
        """For each of the distinct objects, its positions in ascending order."""
        order = np.argsort(self.number, kind="stable")
        ends = np.cumsum(np.bincount(self.number, minlength=len(self.distinct))).tolist()
        start = 0
        for end in ends:
            yield order[start:end]
            start = end
