"""Answers as batches of candidates: bundle by bundle in rounds, a candidate of every tree before a second of any."""

import time
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from kilonova.domain.resources import Candidate
from kilonova.placement.batch import Batch, Form
from kilonova.placement.bundles import Bundler
from kilonova.placement.courses import MOST_TOGETHER, Collected, Course
from kilonova.placement.forms import Answer, Forms
from kilonova.placement.plan import Plan
from kilonova.placement.rows import IntColumn

TURN: Final = 0.002
"""Seconds of search after which what was found so far is handed out, or a None."""


class Rounds:
    """The candidates of one query, at most `limit`. Plans of different parts of the cloud come in one after the other."""

    def __init__(self, limit: int | None) -> None:
        self._left = limit
        self._collected = Collected()
        self._courses: list[Course] = []
        self._seen: set[bytes] = set()
        self._pause = time.perf_counter() + TURN

    @property
    def ended(self) -> bool:
        """Whether the limit is reached."""
        return self._left is not None and self._left <= 0

    def first(self, plan: Plan) -> Iterator[Batch | None]:
        """A candidate of each tree of the plan that has one."""
        forms = Forms(plan)
        yield from self._narrow(plan, forms.on_one())
        wide = np.flatnonzero(plan.roots & plan.wide)
        if len(wide) and not self.ended:
            courses = (Course(bundle, forms, plan) for bundle in Bundler(plan).bundles(wide))
            yield from self._round(courses)
        if self._collected.count or time.perf_counter() > self._pause:
            yield from self._hand_back()

    def others(self) -> Iterator[Batch | None]:
        """A second candidate of each tree that has one, a third, and so on."""
        while self._courses and not self.ended:
            courses, self._courses = self._courses, []
            yield from self._round(courses, one_each=len(courses) > 1)
        yield from self._pour()

    def _narrow(self, plan: Plan, form: Form) -> Iterator[Batch]:
        rows = plan.reading.at(np.flatnonzero(plan.roots & ~plan.wide & ~plan.clashing))
        rows = rows[: self._take(len(rows))]
        for start in range(0, len(rows), MOST_TOGETHER):
            piece = rows[start : start + MOST_TOGETHER]
            yield Batch(form, piece, piece[:, None])

    def _round(self, courses: Iterable[Course], *, one_each: bool = True) -> Iterator[Batch | None]:
        for course in courses:
            for answer in course.answers:
                if answer is not None:
                    self._add(course, answer)
                if answer is None or self._collected.count >= MOST_TOGETHER or time.perf_counter() > self._pause:
                    yield from self._hand_back()
                if self.ended:
                    return
                if answer is not None and one_each:
                    self._courses.append(course)
                    break

    def _hand_back(self) -> Iterator[Batch | None]:
        if not self._collected.count:
            yield None
        yield from self._pour()

    def _pour(self) -> Iterator[Batch]:
        collected, self._collected = self._collected, Collected()
        yield from collected.batches()
        self._pause = time.perf_counter() + TURN

    def _add(self, course: Course, answer: Answer) -> None:
        offsets = course.bundle.offsets
        if course.may_repeat(answer):
            offsets = offsets[self._new_ones(course.rows(np.array(answer), offsets))]
        count = self._take(len(offsets))
        if count:
            self._collected.add(course, answer, offsets[:count])

    def _take(self, number: int) -> int:
        """How many of so many candidates the limit lets pass."""
        if self._left is None:
            return number
        taken = min(number, max(0, self._left))
        self._left -= taken
        return taken

    def _new_ones(self, chosen: IntColumn) -> list[int]:
        """Which lines of providers were not met before."""
        fresh = []
        for number, look in enumerate(chosen.view(f"V{8 * chosen.shape[1]}").ravel().tolist()):
            if look not in self._seen:
                self._seen.add(look)
                fresh.append(number)
        return fresh


def first_of_tree(plan: Plan, root_row: int) -> Candidate | None:
    """One candidate of a tree that uses a provider of its own; None when there is none. The reading must be a whole one."""
    if not plan.roots[root_row]:
        return None
    roots, ids = np.array([root_row], dtype=np.int64), plan.reading.ids
    if not plan.wide[root_row]:
        found = Batch(Forms(plan).on_one(), roots, roots[:, None])
        return None if plan.clashing[root_row] else next(found.candidates(ids))
    (bundle,) = Bundler(plan, use_own=True).bundles(roots)
    course, collected = Course(bundle, Forms(plan), plan), Collected()
    for answer in course.answers:
        if answer is not None:
            collected.add(course, answer, bundle.offsets)
            return next(next(collected.batches()).candidates(ids))
    return None
