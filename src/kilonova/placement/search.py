"""The search: which hosts can take a request, and every way in which they can.

The way of a query: a window of the index is read (windows.py, reading.py); the plan says, condition by condition, which
providers may fill which slot and which trees may answer (slots.py, plan.py); trees with a choice become bundles of equal
ones (bundles.py); each bundle is solved once (solve.py); its answers, applied to all its trees, are batches (answers.py).

Exact by the rules of placement API 1.39; lazy, breadth-first over hosts, never a full product.
"""

from collections.abc import Iterator

import numpy as np

from kilonova.domain.errors import NotFound
from kilonova.domain.resources import Candidate, CandidateQuery, Miss
from kilonova.placement.answers import Rounds, first_of_tree
from kilonova.placement.batch import Batch
from kilonova.placement.bundles import Bundler
from kilonova.placement.explain import explain_misses, hosts_of
from kilonova.placement.index import Index
from kilonova.placement.plan import Plan, check, make_plan
from kilonova.placement.reading import Reading
from kilonova.placement.rows import IntColumn, Mask
from kilonova.placement.solve import Solver
from kilonova.placement.usage import Usage
from kilonova.placement.windows import windows


class Matches:
    """The hosts that can take a request, and why the others cannot. Valid until the index or the usage next changes."""

    def __init__(self, plan: Plan, fitting: Mask, misses: tuple[Miss, ...]) -> None:
        self._plan = plan
        self.roots: IntColumn = plan.reading.ids[np.flatnonzero(fitting)]
        """Ids of the root providers of fitting hosts."""
        self.misses = misses
        """Each host that fell out, in the miss that names its first reason."""

    def first(self, root_id: int) -> Candidate:
        """One candidate of a fitting root that uses the host itself; raises NotFound for a root that is not there."""
        found = first_of_tree(self._plan, self._plan.reading.index.row(root_id))
        if found is None:
            raise NotFound(f"The provider with the id {root_id} cannot take the request.")
        return found


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
        fitting |= _solvable(plan, undecided & ~sure)
    return Matches(plan, fitting, explain_misses(plan, hosts, fitting))


def candidates(index: Index, query: CandidateQuery, limit: int | None = None, usage: Usage | None = None) -> Iterator[Candidate]:
    """All candidates, or `limit`, with one of each host before a second of any; none has the same amounts and mappings.

    The iterator reads the index as it goes: exhaust or drop it before the index changes.
    Raises BadRequest (at once) for a query that asks for nothing.
    """
    return (candidate for candidate in explore(index, query, limit, usage) if candidate is not None)


def explore(
    index: Index, query: CandidateQuery, limit: int | None = None, usage: Usage | None = None
) -> Iterator[Candidate | None]:
    """As `candidates`, with a None about every two milliseconds in which nothing is found.

    For callers that must not hold the event loop.
    """
    return _one_by_one(index.rows.ids, batches(index, query, limit, usage))


def batches(index: Index, query: CandidateQuery, limit: int | None = None, usage: Usage | None = None) -> Iterator[Batch | None]:
    """As `explore`, in batches, which together hold at most `limit` candidates.

    Cut at a limit, they have one of each host before a second of any. Raises BadRequest as `candidates` does.
    """
    check(query)
    return _in_rounds(index, query, limit, usage)


def _in_rounds(index: Index, query: CandidateQuery, limit: int | None, usage: Usage | None) -> Iterator[Batch | None]:
    rounds = Rounds(limit)
    for window in windows(index, query, limit):
        if rounds.ended:
            return
        yield from rounds.first(make_plan(Reading(index, usage, window), query))
        if limit is None:
            # All will be taken, in whichever order: nothing need be remembered of a window that is done with.
            yield from rounds.others()
    yield from rounds.others()


def _one_by_one(ids: IntColumn, found: Iterator[Batch | None]) -> Iterator[Candidate | None]:
    for batch in found:
        if batch is None:
            yield None
        else:
            yield from batch.candidates(ids)


def _solvable(plan: Plan, undecided: Mask) -> Mask:
    """The root rows among `undecided` for which the solver finds an answer."""
    found = plan.reading.nobody.copy()
    for bundle in Bundler(plan, use_own=True).bundles(np.flatnonzero(undecided)):
        if Solver(bundle.problem).first() is not None:
            found[bundle.roots] = True
    return found


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
