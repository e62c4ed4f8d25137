"""Depth-first search over one tree's problem, one answer at a time.

Equal providers are pooled: a state from which there is no answer is remembered by what it is, not by which of the
equal providers led to it, so the search does not die of permutations. Enumeration stays exact: only states without
any answer are ever skipped.
"""

from collections.abc import Iterator
from itertools import islice

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

GIVE_UP_AFTER = 50
"""Turns (of PATIENCE tries each) after which a question for one answer is given up: 50 to 250 ms."""


class Solver:
    """All answers of one problem, lazily; an answer is the local number of a provider for each slot."""

    def __init__(self, problem: Problem) -> None:
        self._state = State(problem)
        self._dead: set[object] = set()

    def first(self) -> tuple[int, ...] | None:
        """One answer; None when there is none, or none was found in GIVE_UP_AFTER turns: the caller holds the event loop."""
        steps = islice(self.steps(), GIVE_UP_AFTER)
        return next((answer for answer in steps if answer is not None), None)

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
            if mask and depth + 1 == last:
                # Nothing comes after that would have to know of the choice.
                pending[depth] = tries = stalled = 0
                answers += 1
                yield from state.answers(mask)
                mask = 0
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
            if self._hopeless(depth + 1, stalled):
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
