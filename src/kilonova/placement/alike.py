"""Trees side by side: those of one shape with as many guests each, so that a position means the same in all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kilonova.placement.plan import Plan
from kilonova.placement.rows import NOBODY, IntColumn, Mask


@dataclass(frozen=True, slots=True)
class Alike:
    """Trees of one shape, each with the same number of guests: sharing providers of other trees that may fill a slot.

    rows: trees × positions, the tree's own members (the root first, parents before children) and then its guests.
    below: by position of a member, the positions of the members at or below it, as bits.
    """

    rows: IntColumn
    below: tuple[int, ...]

    @property
    def members(self) -> IntColumn:
        """Trees × positions of members."""
        members: IntColumn = self.rows[:, : len(self.below)]
        return members

    @property
    def guests(self) -> IntColumn:
        """Trees × positions of guests."""
        guests: IntColumn = self.rows[:, len(self.below) :]
        return guests


class Gathering:
    """Puts trees side by side for one plan."""

    def __init__(self, plan: Plan) -> None:
        self._reading = plan.reading
        self._is_tied = bool(plan.query.same_subtree)
        self.sharing: IntColumn = np.array(sorted({row for slot in plan.slots for row in slot.shared}), dtype=np.int64)
        """Rows of the sharing providers that may fill a slot."""

    def alike(self, roots: IntColumn) -> Iterator[Alike]:
        """The trees with these root rows, each once."""
        trees = self._reading.index.topology.trees
        shapes = self._reading.shapes(roots)
        for shape in np.unique(shapes).tolist():
            parents = trees.parents[shape]
            below = _below(parents.tolist())
            of_shape = roots[shapes == shape]
            members = self._reading.slices(of_shape, len(parents))
            if len(self.sharing):
                yield from self._with_guests(of_shape, members, below)
            else:
                yield Alike(members, below)

    def relations(self, guests: IntColumn) -> npt.NDArray[np.uint8] | None:
        """By tree, which guests are below which, for trees × guests; None where it does not matter or is clear."""
        if guests.shape[1] < 2 or not self._are_related:
            return None
        numbers = np.searchsorted(self.sharing, guests)
        return self._under[numbers[:, :, None], numbers[:, None, :]].reshape(len(guests), -1).view(np.uint8)

    def below_guests(self, guests: IntColumn) -> list[int]:
        """By guest of one tree, the guests at or below it as bits, counted from the first guest."""
        if len(guests) < 2 or not self._are_related:
            return [1 << number for number in range(len(guests))]
        numbers = np.searchsorted(self.sharing, guests)
        lines = self._under[numbers[:, None], numbers[None, :]].tolist()
        return [sum(1 << number for number, is_below in enumerate(line) if is_below) for line in lines]

    def _with_guests(self, roots: IntColumn, members: IntColumn, below: tuple[int, ...]) -> Iterator[Alike]:
        reached = np.empty((len(roots), len(self.sharing)), dtype=np.bool_)
        for number, row in enumerate(self.sharing.tolist()):
            reached[:, number] = self._reading.anchors(row)[roots] & (self._reading.root[row] != roots)
        counts = reached.sum(axis=1)
        for count in np.unique(counts).tolist():
            chosen = np.flatnonzero(counts == count)
            guests = self.sharing[np.nonzero(reached[chosen])[1]].reshape(len(chosen), count)
            yield Alike(np.concatenate([members[chosen], guests], axis=1), below)

    @cached_property
    def _under(self) -> Mask:
        """Sharing × sharing: whether the second is the first or below it."""
        at = self._reading.at(self.sharing)
        under = np.zeros((len(at), len(at)), dtype=np.bool_)
        above = at
        while (above != NOBODY).any():
            under |= above[None, :] == at[:, None]
            above = np.where(above == NOBODY, NOBODY, self._reading.index.rows.parent[above])
        return under

    @cached_property
    def _are_related(self) -> bool:
        return self._is_tied and int(self._under.sum()) > len(self.sharing)


def _below(parents: Sequence[int]) -> tuple[int, ...]:
    below = [1 << position for position in range(len(parents))]
    # Children come after their parents: from the end on, each has all that is below it when it is added to its parent.
    for position in range(len(parents) - 1, 0, -1):
        below[parents[position]] |= below[position]
    return tuple(below)
