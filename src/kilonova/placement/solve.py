"""Depth-first search over one tree's problem, one answer at a time.

Equal providers are pooled: a state from which there is no answer is remembered by what it is, not by which of the
equal providers led to it, so the search does not die of permutations. Enumeration stays exact: only states without
any answer are ever skipped.
"""

from collections.abc import Iterator

from kilonova.placement.problem import Problem
from kilonova.placement.state import State

PATIENCE = 500
"""Tries between two answers after which the search says "still at it" (one to five milliseconds)."""

CAREFUL_AFTER = 32
"""Dead ends in a row after which every new state is first checked by matching."""

TRIES_A_MATCHING = 50
"""What a matching costs, in tries."""

SMALL = 4
"""Levels up to which trying is cheaper than proving by a matching that it is in vain."""

DEAD_STATES_KEPT = 50_000


class Solver:
    """All answers of one problem, lazily; an answer is the local number of a provider for each slot."""

    def __init__(self, problem: Problem) -> None:
        self._state = State(problem)
        self._dead: set[object] = set()

    def first(self) -> tuple[int, ...] | None:
        """One answer, or None when there is none."""
        return next((answer for answer in self.steps() if answer is not None), None)

    def steps(self) -> Iterator[tuple[int, ...] | None]:
        """Every answer once; None now and then while none is found, so that the caller can do something else."""
        state = self._state
        depth, last = 0, len(state.levels)
        if not last:
            yield ()
            return
        if last > SMALL and not state.matchable(0):
            return
        pending = [0] * last
        entered = [0] * last
        pending[0] = state.options(0)
        answers = tries = stalled = 0
        while depth >= 0:
            mask = pending[depth]
            if not mask:
                if entered[depth] == answers:
                    stalled += 1
                    self._bury(depth)
                depth -= 1
                if depth >= 0:
                    state.undo(depth)
                continue
            tries += 1 if stalled < CAREFUL_AFTER else TRIES_A_MATCHING
            if tries >= PATIENCE:
                tries = 0
                yield None
            lowest = mask & -mask
            pending[depth] = mask ^ lowest
            state.choose(depth, lowest.bit_length() - 1)
            if depth + 1 == last:
                answers, tries, stalled = answers + 1, 0, 0
                yield state.answer()
                state.undo(depth)
            elif self._hopeless(depth + 1, stalled):
                state.undo(depth)
            else:
                depth += 1
                pending[depth] = state.options(depth)
                entered[depth] = answers

    def _bury(self, depth: int) -> None:
        if len(self._dead) >= DEAD_STATES_KEPT:
            self._dead.clear()
        self._dead.add(self._state.key(depth))

    def _hopeless(self, depth: int, stalled: int) -> bool:
        """Whether nothing can come of the state in which level `depth` is next."""
        if self._dead and self._state.key(depth) in self._dead:
            return True
        if stalled >= CAREFUL_AFTER and not self._state.matchable(depth):
            self._bury(depth)
            return True
        return False


class Solutions:
    """Answers to the problems of one plan: trees of equal shape (a cloud has thousands) are solved once."""

    def __init__(self) -> None:
        self._first: dict[object, tuple[int, ...] | None] = {}

    def first(self, problem: Problem) -> tuple[int, ...] | None:
        """One answer, or None when there is none."""
        return next((answer for answer in self.steps(problem) if answer is not None), None)

    def steps(self, problem: Problem) -> Iterator[tuple[int, ...] | None]:
        """As Solver.steps; the first answer costs nothing when a tree of the same shape was asked before."""
        shape = problem.shape
        if shape not in self._first:
            found = False
            for answer in Solver(problem).steps():
                if answer is not None and not found:
                    found = True
                    self._first[shape] = answer
                yield answer
            if not found:
                self._first[shape] = None
            return
        first = self._first[shape]
        if first is not None:
            yield first
            # The solver is deterministic, so its first answer is the one just given.
            answers = Solver(problem).steps()
            next(answer for answer in answers if answer is not None)
            yield from answers
