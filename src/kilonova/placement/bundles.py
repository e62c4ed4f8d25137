"""Trees that are one problem to the solver: built alike, and nothing that the query asks about tells them apart.

A cloud has thousands of hosts and few kinds of them. Whatever the answers of a tree depend on is gathered for all trees
of a shape at once; trees of which it is the same are a bundle, which is solved once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from kilonova.placement.alike import Alike, Gathering
from kilonova.placement.contests import MANY_SUMS, contests
from kilonova.placement.plan import Plan
from kilonova.placement.problem import Problem, Subtree
from kilonova.placement.rows import IntColumn, Mask

Bytes = npt.NDArray[np.uint8]

_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
"""An odd number with well mixed bits (the golden ratio's)."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Trees with the same problem. Rows are those of the reading.

    roots: the trees' root rows. places: rows one after the other, in which each tree has a slice with its own providers
    and its guests; offsets: by tree, where it begins. Local provider p of tree t is places[offsets[t] + p].
    """

    problem: Problem
    roots: IntColumn
    places: IntColumn
    offsets: IntColumn


@dataclass(frozen=True, slots=True)
class _Looks:
    """All that the answers of some trees depend on.

    sets: trees × (kinds of slots, covers, sharing) × bytes: positions as bits, who may fill it, who has a trait of it,
    who shares. steps: trees × contests × positions, see Contest. relations: see Gathering.
    """

    sets: Bytes
    steps: IntColumn
    relations: Bytes | None


class Bundler:
    """Makes the bundles of one plan.

    `use_own` wants at least one provider of the tree itself in an answer. `softer` leaves in the problems what only
    matters when group_policy is left out of them.
    """

    def __init__(self, plan: Plan, *, use_own: bool = False, softer: bool = False) -> None:
        self._plan = plan
        self._use_own = use_own
        self._gathering = Gathering(plan)
        self._alone = tuple(plan.isolated and bool(slot.suffix) for slot in plan.slots)
        kinds = {id(slot.own): slot for slot in plan.slots}
        numbers = {kind: number for number, kind in enumerate(kinds)}
        self._kinds = tuple(kinds.values())
        self._kind_of = tuple(numbers[id(slot.own)] for slot in plan.slots)
        self._contests = contests(plan, softer=softer)
        self._demands: tuple[tuple[tuple[int, int], ...], ...] = tuple(
            tuple((number, contest.asking[slot]) for number, contest in enumerate(self._contests) if slot in contest.asking)
            for slot in range(len(plan.slots))
        )
        self._wishes = tuple(0 if slot.suffix else (1 << len(plan.covers)) - 1 for slot in plan.slots)

    def bundles(self, roots: IntColumn) -> Iterator[Bundle]:
        """The bundles of the trees with these root rows, one by one: a problem is made when it is asked for."""
        for alike in self._gathering.alike(roots):
            looks = self._looks(alike)
            places, offsets = alike.rows.ravel(), np.arange(len(alike.rows)) * alike.rows.shape[1]
            for trees in _groups(self._joined(looks)):
                problem = self._problem(alike, looks, int(trees[0]))
                yield Bundle(problem, alike.rows[trees, 0], places, offsets[trees])

    def _looks(self, alike: Alike) -> _Looks:
        trees, width = alike.rows.shape
        covers, members = self._plan.covers, len(alike.below)
        # Whole bytes, so that all can be packed in one go.
        sets = np.zeros((trees, len(self._kinds) + len(covers) + 1, -(-width // 8) * 8), dtype=np.bool_)
        for number, slot in enumerate(self._kinds):
            sets[:, number, :members] = slot.own[alike.members]
            if members < width:
                sets[:, number, members:width] = self._shared_masks[number][alike.guests]
        for number, cover in enumerate(covers, len(self._kinds)):
            sets[:, number, :width] = cover.rows[alike.rows]
        if len(self._gathering.sharing):
            sets[:, -1, :width] = self._plan.reading.sharing[alike.rows]
        steps = np.zeros((trees, len(self._contests), width), dtype=np.int64)
        for number, contest in enumerate(self._contests):
            # Where nobody asks for it, it does not matter how much there is.
            asked = sets[:, sorted({self._kind_of[slot] for slot in contest.asking}), :width].any(axis=1)
            steps[:, number] = contest.steps(self._plan.reading.room(contest.resource_class, alike.rows)) * asked
        packed = np.packbits(sets.ravel(), bitorder="little").reshape(*sets.shape[:2], -1)
        return _Looks(packed, steps, self._gathering.relations(alike.guests))

    def _joined(self, looks: _Looks) -> Bytes:
        """The looks of each tree as one line of bytes."""
        trees = len(looks.sets)
        small = all(0 < len(contest.sums) <= MANY_SUMS for contest in self._contests)
        steps = looks.steps.astype(np.uint8) if small else looks.steps.view(np.uint8)
        parts = [looks.sets.reshape(trees, -1), steps.reshape(trees, -1)]
        return np.concatenate(parts if looks.relations is None else [*parts, looks.relations], axis=1)

    @cached_property
    def _shared_masks(self) -> list[Mask]:
        masks = []
        for slot in self._kinds:
            mask = self._plan.reading.nobody.copy()
            mask[list(slot.shared)] = True
            masks.append(mask)
        return masks

    def _problem(self, alike: Alike, looks: _Looks, tree: int) -> Problem:
        sets = [int.from_bytes(line, "little") for line in map(bytes, looks.sets[tree])]
        domains = tuple([sets[kind] for kind in self._kind_of])
        own = (1 << len(alike.below)) - 1
        guests = alike.guests[tree]
        givers, wishes = sets[len(self._kinds) : -1], self._wishes
        if self._use_own and len(guests):
            wishes = tuple([wish | (1 << len(givers)) for wish in wishes])
            givers = [*givers, own]
        subtrees: tuple[Subtree, ...] = ()
        if self._plan.query.same_subtree:
            below_guests = [below << len(alike.below) for below in self._gathering.below_guests(guests)]
            subtrees = self._subtrees(domains, (*alike.below, *below_guests))
        return Problem(
            ids=tuple(range(alike.rows.shape[1])),
            domains=domains,
            own=own,
            sharing=sets[-1],
            demands=self._demands,
            room=tuple([contest.room(looks.steps[tree, number]) for number, contest in enumerate(self._contests)]),
            alone=self._alone,
            givers=tuple(givers),
            wishes=wishes,
            subtrees=subtrees,
        )

    def _subtrees(self, domains: tuple[int, ...], below: tuple[int, ...]) -> tuple[Subtree, ...]:
        subtrees = []
        for slots in self._tied:
            anyone = 0
            for slot in slots:
                anyone |= domains[slot]
            heads = 0
            for head, under in enumerate(below):
                if anyone >> head & 1 and all([domains[slot] & under for slot in slots]):  # noqa: C419 - a list is faster
                    heads |= 1 << head
            subtrees.append(Subtree(slots, heads, below))
        return tuple(subtrees)

    @cached_property
    def _tied(self) -> list[tuple[int, ...]]:
        """The slots of each same-subtree rule that says anything."""
        slots = self._plan.slots
        tied = [
            tuple(number for number, slot in enumerate(slots) if slot.suffix in suffixes)
            for suffixes in self._plan.query.same_subtree
        ]
        return [numbers for numbers in tied if len(numbers) > 1]


def _groups(lines: Bytes) -> list[IntColumn]:
    """The numbers of the lines, those of equal lines together."""
    words = np.zeros((len(lines), -(-lines.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : lines.shape[1]] = lines
    columns = words.view(np.uint64)
    mixed = columns[:, 0].copy()
    for column in columns.T[1:]:
        mixed = (mixed ^ (mixed >> np.uint64(31))) * _MIX + column
    _, first, groups = np.unique(mixed, return_index=True, return_inverse=True)
    if (columns != columns[first[groups]]).any():
        # Lines that differ were mixed into the same number.
        groups = np.unique(columns, axis=0, return_inverse=True)[1].ravel()
    counts = np.bincount(groups)
    if len(counts) == 1:
        return [np.arange(len(lines))]
    return np.split(np.argsort(groups, kind="stable"), np.cumsum(counts)[:-1])
