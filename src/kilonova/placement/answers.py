"""Answers as candidates: from tree to tree in turn, each made into amounts and mappings, none twice."""

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from kilonova.domain.errors import NotFound
from kilonova.domain.resources import Candidate
from kilonova.placement.plan import Plan
from kilonova.placement.problem import Problem, ProblemMaker
from kilonova.placement.solve import Solutions

TREES_IN_TURN = 1024
"""How many trees are explored side by side at least: enough for variety, few enough for flat memory."""

PIECE = 256
"""How many trees are turned into Python numbers at a time."""


class Answers:
    """The candidates of one plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._solutions = Solutions()
        self._slots = [(slot.suffix, slot.resources) for slot in plan.slots]
        self._ids = plan.reading.rows.ids
        self._seen: set[tuple[int, ...]] = set()
        self._all_on_one: dict[str, int] = {}
        for slot in plan.slots:
            for name, amount in slot.resources.items():
                self._all_on_one[name] = self._all_on_one.get(name, 0) + amount

    def first(self, root_row: int) -> Candidate:
        """One candidate of a tree that uses a provider of its own; raises NotFound when there is none."""
        if not self._plan.wide[root_row] and self._plan.roots[root_row] and not self._plan.clashing[root_row]:
            return self._on_root(int(self._ids[root_row]))
        problem = self._maker.make(root_row, use_own=True)
        answer = self._solutions.first(problem) if self._plan.roots[root_row] else None
        root_id = int(self._ids[root_row])
        if answer is None:
            raise NotFound(f"The provider with the id {root_id} cannot take the request.")
        return self._candidate(root_id, tuple(problem.ids[provider] for provider in answer))

    def breadth_first(self, limit: int | None) -> Iterator[Candidate | None]:
        """A candidate of each tree, then a second of each that has one, and so on; None while it takes long."""
        side_by_side = max(TREES_IN_TURN, limit or 0)
        in_turn: list[Iterator[Candidate | None]] = []
        for row, root_id, wide in self._trees():
            if not wide:
                yield self._on_root(root_id)
                continue
            answers = self._of_tree(row, root_id)
            yield from _one_turn(answers, in_turn)
            if len(in_turn) >= side_by_side:
                yield from _take_turns(in_turn)
                in_turn = []
        yield from _take_turns(in_turn)

    def _trees(self) -> Iterator[tuple[int, int, bool]]:
        """Root row, root id and whether it is wide, of every tree that may answer."""
        plan = self._plan
        rows = np.flatnonzero(plan.roots & (plan.wide | ~plan.clashing))
        # In pieces: a caller with a small limit must not pay for ten thousand hosts.
        for start in range(0, len(rows), PIECE):
            piece = rows[start : start + PIECE]
            yield from zip(piece.tolist(), self._ids[piece].tolist(), plan.wide[piece].tolist(), strict=True)

    @cached_property
    def _maker(self) -> ProblemMaker:
        """Made when the first wide tree is met: a cloud of flat hosts needs none."""
        return ProblemMaker(self._plan)

    def _of_tree(self, root_row: int, root_id: int) -> Iterator[Candidate | None]:
        problem = self._maker.make(root_row)
        for answer in self._solutions.steps(problem):
            if answer is None:
                yield None
                continue
            chosen = tuple(problem.ids[provider] for provider in answer)
            if not (problem.may_repeat and self._met_before(problem, answer, chosen)):
                yield self._candidate(root_id, chosen)

    def _met_before(self, problem: Problem, answer: tuple[int, ...], chosen: tuple[int, ...]) -> bool:
        """Only what consists of sharing providers alone can come from two trees, so nothing else need be remembered."""
        if not answer or not all(problem.sharing >> provider & 1 for provider in answer):
            return False
        if chosen in self._seen:
            return True
        self._seen.add(chosen)
        return False

    def _on_root(self, root_id: int) -> Candidate:
        alone = (root_id,)
        mappings: dict[str, tuple[int, ...]] = {slot.suffix: alone for slot in self._plan.slots}
        if self._plan.fixed is not None:
            mappings[""] = self._plan.fixed
        return Candidate(root_id, {root_id: self._all_on_one} if self._all_on_one else {}, mappings)

    def _candidate(self, root_id: int, chosen: tuple[int, ...]) -> Candidate:
        allocations: dict[int, Mapping[str, int]] = {}
        mappings: dict[str, tuple[int, ...]] = {}
        for (suffix, resources), provider in zip(self._slots, chosen, strict=True):
            if resources:
                held = allocations.get(provider)
                allocations[provider] = resources if held is None else _sum(held, resources)
            if suffix or not mappings:
                mappings[suffix] = (provider,)
            elif provider not in mappings[""]:
                # The slots of the unsuffixed group come first, so whatever is mapped by now is theirs.
                mappings[""] = tuple(sorted((*mappings[""], provider)))
        if self._plan.fixed is not None:
            mappings[""] = self._plan.fixed
        return Candidate(root_id, allocations, mappings)


def _sum(held: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {name: held.get(name, 0) + more.get(name, 0) for name in (*held, *(more.keys() - held.keys()))}


def _one_turn(answers: Iterator[Candidate | None], still_going: list[Iterator[Candidate | None]]) -> Iterator[Candidate | None]:
    for found in answers:
        yield found
        if found is not None:
            still_going.append(answers)
            return


def _take_turns(in_turn: list[Iterator[Candidate | None]]) -> Iterator[Candidate | None]:
    while in_turn:
        still_going: list[Iterator[Candidate | None]] = []
        for answers in in_turn:
            yield from _one_turn(answers, still_going)
        in_turn = still_going
