"""Bundles on their way through their answers, and answers made into batches: each goes to all trees of its bundle at once."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from kilonova.placement.batch import Batch, Form
from kilonova.placement.bundles import Bundle
from kilonova.placement.forms import Answer, Forms
from kilonova.placement.plan import Plan
from kilonova.placement.rows import IntColumn
from kilonova.placement.solve import Solver

MOST_TOGETHER: Final = 1024
"""Candidates in a batch at most: whoever writes them down does so in one go."""

_ROOT: Final = np.zeros(1, dtype=np.int64)
"""A tree begins with its root."""


class Course:
    """A bundle with the answers that are still to come; None among them while the search for the next takes long."""

    __slots__ = ("_at", "_fixed", "_repeats", "answers", "bundle", "forms")

    def __init__(self, bundle: Bundle, forms: Forms, plan: Plan) -> None:
        self.bundle = bundle
        self.forms = forms
        self._at = plan.reading.at
        self._repeats = bundle.problem.may_repeat
        self._fixed: Answer = ()
        if plan.fixed is not None:
            # There is but one tree then.
            members = bundle.places[bundle.offsets[0] :].tolist()
            self._fixed = tuple([members.index(row) for row in plan.fixed])
        self.answers = self._all()

    def rows(self, positions: IntColumn, offsets: IntColumn) -> IntColumn:
        """The rows of the index in these positions of the trees that begin at the offsets."""
        return self._at(self.bundle.places[offsets[:, None] + positions])

    def may_repeat(self, answer: Answer) -> bool:
        """Whether other trees may give the same candidate: only what consists of sharing providers alone can."""
        sharing = self.bundle.problem.sharing
        return self._repeats and all(sharing >> provider & 1 for provider in answer)

    def _all(self) -> Iterator[Answer | None]:
        for answer in Solver(self.bundle.problem).steps():
            yield answer if answer is None or not self._fixed else answer + self._fixed


class Collected:
    """Answers that wait to be made into batches: those of one form and of trees built alike go together."""

    def __init__(self) -> None:
        self.count = 0
        """How many candidates they are."""
        self._waiting: dict[tuple[int, int], _Waiting] = {}

    def add(self, course: Course, answer: Answer, offsets: IntColumn) -> None:
        """Take in an answer of a course for its trees that begin at the offsets."""
        form, places = course.forms.of(answer)
        key = (id(form), id(course.bundle.places))
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting(form, course)
        waiting.places.append(places)
        waiting.offsets.append(offsets)
        self.count += len(offsets)

    def batches(self) -> Iterator[Batch]:
        """All that was taken in."""
        for waiting in self._waiting.values():
            whole = waiting.batch()
            for start in range(0, len(whole), MOST_TOGETHER):
                piece = slice(start, start + MOST_TOGETHER)
                yield Batch(whole.form, whole.roots[piece], whole.providers[piece])


class _Waiting:
    """Answers of one form. places: by answer, the positions of its places; offsets: by answer, its trees."""

    __slots__ = ("course", "form", "offsets", "places")

    def __init__(self, form: Form, course: Course) -> None:
        self.form = form
        self.course = course
        self.places: list[Sequence[int]] = []
        self.offsets: list[IntColumn] = []

    def batch(self) -> Batch:
        positions = np.array(self.places, dtype=np.int64).reshape(len(self.places), -1)
        if len(self.places) > 1:
            positions = np.repeat(positions, list(map(len, self.offsets)), axis=0)
        offsets = np.concatenate(self.offsets)
        return Batch(self.form, self.course.rows(_ROOT, offsets)[:, 0], self.course.rows(positions, offsets))
