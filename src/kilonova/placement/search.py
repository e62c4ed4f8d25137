"""The search: which hosts can take a request, and every way in which they can.

Exact by the rules of placement API 1.39; lazy, breadth-first over hosts, never a full product.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from kilonova.domain.resources import Candidate, CandidateQuery, Miss
from kilonova.placement.answers import Answers
from kilonova.placement.batch import Batch, Form
from kilonova.placement.explain import explain_misses, hosts_of
from kilonova.placement.index import Index
from kilonova.placement.plan import Plan, make_plan
from kilonova.placement.problem import ProblemMaker
from kilonova.placement.reading import Reading
from kilonova.placement.rows import IntColumn, Mask
from kilonova.placement.solve import Solutions
from kilonova.placement.usage import Usage


class Matches:
    """The hosts that can take a request, and why the others cannot. Valid until the index or the usage next changes."""

    def __init__(self, plan: Plan, fitting: Mask, misses: tuple[Miss, ...]) -> None:
        self._plan = plan
        self._answers = Answers(plan)
        self.roots: IntColumn = plan.reading.rows.ids[np.flatnonzero(fitting)]
        """Ids of the root providers of fitting hosts."""
        self.misses = misses
        """Each host that fell out, in the miss that names its first reason."""

    def first(self, root_id: int) -> Candidate:
        """One candidate of a fitting root that uses the host itself; raises NotFound for a root that is not there."""
        return self._answers.first(self._plan.reading.index.row(root_id))


def match(index: Index, query: CandidateQuery, usage: Usage | None = None) -> Matches:
    """Find the hosts that can take a request.

    A host is a tree with a provider that is not merely sharing and has a class that the query asks for; it fits when
    there is a candidate with at least one provider of its own tree. `usage` stands in for the index's used amounts.
    Raises BadRequest for a query that asks for nothing.
    """
    plan = make_plan(Reading(index, usage), query)
    hosts = hosts_of(plan)
    promising = plan.roots & hosts
    fitting = promising & ~plan.wide & ~plan.clashing
    undecided = promising & plan.wide
    if undecided.any():
        sure = undecided & _surely_fitting(plan)
        fitting |= sure
        fitting[_solvable(plan, undecided & ~sure)] = True
    return Matches(plan, fitting, explain_misses(plan, hosts, fitting))


def candidates(index: Index, query: CandidateQuery, limit: int | None = None, usage: Usage | None = None) -> Iterator[Candidate]:
    """All candidates, at most `limit`, one of each host before a second of any; none has the same amounts and mappings.

    The iterator reads the index as it goes: exhaust or drop it before the index changes.
    Raises BadRequest (at once) for a query that asks for nothing.
    """
    found = (candidate for candidate in explore(index, query, limit, usage) if candidate is not None)
    return islice(found, limit)


def explore(
    index: Index, query: CandidateQuery, limit: int | None = None, usage: Usage | None = None
) -> Iterator[Candidate | None]:
    """As `candidates`, with a None about every millisecond in which nothing is found, and `limit` only a hint.

    For callers that must not hold the event loop.
    """
    return Answers(make_plan(Reading(index, usage), query)).breadth_first(limit)


def batches(index: Index, query: CandidateQuery, limit: int | None = None, usage: Usage | None = None) -> Iterator[Batch | None]:
    """As `explore`, in batches: one of each host before a second of any. A batch may go over `limit`, the last one will."""
    row_of = index.row
    for found in explore(index, query, limit, usage):
        if found is None:
            yield None
            continue
        places = list(dict.fromkeys((*found.allocations, *(number for some in found.mappings.values() for number in some))))
        form = Form(
            tuple(found.allocations.get(number, {}) for number in places),
            {suffix: tuple(places.index(number) for number in some) for suffix, some in found.mappings.items()},
        )
        rows = np.array([[row_of(number) for number in places]], dtype=np.int64)
        yield Batch(form, np.array([row_of(found.root_id)], dtype=np.int64), rows)


def _solvable(plan: Plan, undecided: Mask) -> list[int]:
    """The root rows among `undecided` for which the solver finds an answer."""
    maker, solutions = ProblemMaker(plan), Solutions()
    rows = np.flatnonzero(undecided).tolist()
    return [row for row in rows if solutions.first(maker.make(row, use_own=True)) is not None]


def _surely_fitting(plan: Plan) -> Mask:
    """Root rows of wide trees that fit because no choice of theirs can clash with another."""
    reading = plan.reading
    if plan.contended or plan.query.same_subtree or plan.isolated:
        return reading.nobody
    unsuffixed_traits = reading.everybody
    for cover in plan.covers:
        unsuffixed_traits = unsuffixed_traits & cover.rows
    sure = reading.nobody
    for slot in plan.slots:
        # With traits to cover, one provider that has them all settles it; other cases are left to the solver.
        if not plan.covers or not slot.suffix:
            sure = sure | reading.own_roots(slot.own & unsuffixed_traits)
    return sure
