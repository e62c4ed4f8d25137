"""Why hosts fell out of a search: each under its first reason, cheap and general reasons first."""

import numpy as np

from kilonova.domain.resources import Miss
from kilonova.placement.bundles import Bundler
from kilonova.placement.plan import Plan, covering_roots
from kilonova.placement.problem import Problem
from kilonova.placement.rows import Mask
from kilonova.placement.slots import Slot
from kilonova.placement.solve import Solver

MILDER = (
    (("group_policy", "isolate"), Problem.without_isolation),
    (("same_subtree", ""), Problem.without_subtrees),
)
"""Rules that tie slots together, and how to ask the same without them."""


def hosts_of(plan: Plan) -> Mask:
    """Root rows of hosts: trees in which a provider that does not merely share has a class that is asked for."""
    reading = plan.reading
    asked = {resource_class for slot in plan.slots for resource_class in slot.resources}
    having = reading.nobody if asked else reading.everybody
    for resource_class in asked:
        having = having | reading.has_class(resource_class)
    if reading.any_sharing:
        having = having & ~reading.sharing
    return reading.own_roots(having) & reading.is_root


def explain_misses(plan: Plan, hosts: Mask, fitting: Mask) -> tuple[Miss, ...]:
    """One miss for each reason; every host that does not fit is in exactly one of them."""
    if not (hosts & ~fitting).any():
        return ()
    funnel = _Funnel(plan, hosts & ~fitting)
    for step in plan.root_steps:
        funnel.keep(step.own, step.code, step.subject)
    for cover in plan.covers:
        sharing = np.flatnonzero(plan.reading.sharing & cover.rows).tolist()
        funnel.keep(plan.reading.roots(cover.rows, sharing), "trait.missing", cover.subject)
    for slot in {id(slot.own): slot for slot in plan.slots}.values():
        funnel.keep_slot(slot)
    for cover in plan.covers:
        funnel.keep(covering_roots(plan.reading, plan.slots, cover), "trait.elsewhere", cover.subject)
    funnel.split_by_rule()
    return tuple(funnel.misses)


class _Funnel:
    """The hosts not yet explained, and the misses that explain the others."""

    def __init__(self, plan: Plan, left: Mask) -> None:
        self._plan = plan
        self._left = left
        self.misses: list[Miss] = []

    def keep(self, roots: Mask, code: str, subject: str) -> None:
        """Explain the hosts outside `roots` by a reason."""
        self._record(self._left & ~roots, code, subject)

    def keep_slot(self, slot: Slot) -> None:
        """Explain the hosts without a provider for the slot by the first condition that leaves them none."""
        reading = self._plan.reading
        own = reading.everybody
        shared = reading.sharing
        for step in slot.steps:
            before = own
            own = own & step.own
            rows: list[int] = []
            if reading.any_sharing:
                shared = shared & step.shared
                rows = np.flatnonzero(shared).tolist()
            fell = self._left & ~reading.roots(own, rows)
            if fell.any():
                most_free = None
                if step.free is not None:
                    of_fallen = before & fell[reading.root]
                    most_free = int(step.free[of_fallen].max()) if of_fallen.any() else None
                self._record(fell, step.code, step.subject, step.asked, most_free)

    def split_by_rule(self) -> None:
        """Explain the rest: each slot can be served, all of them together cannot."""
        plan = self._plan
        narrow = self._left & ~plan.wide
        self._record(narrow & plan.overfull, "combination", "")
        self._record(narrow & ~plan.overfull, "group_policy", "isolate")
        fallen: dict[tuple[str, str], Mask] = {}
        for bundle in Bundler(plan, use_own=True, softer=True).bundles(np.flatnonzero(self._left)):
            rule = _broken_rule(bundle.problem)
            fallen.setdefault(rule, plan.reading.nobody.copy())[bundle.roots] = True
        for (code, subject), fell in fallen.items():
            self._record(fell, code, subject)

    def _record(self, fell: Mask, code: str, subject: str, asked: int | None = None, most_free: int | None = None) -> None:
        rows = np.flatnonzero(fell)
        if len(rows):
            ids = self._plan.reading.ids[rows].tolist()
            self.misses.append(Miss(code, subject, tuple(ids), asked, most_free))
            self._left = self._left & ~fell


def _broken_rule(problem: Problem) -> tuple[str, str]:
    """The first rule whose absence would let the tree answer."""
    for reason, soften in MILDER:
        milder = soften(problem)
        if milder is not None and Solver(milder).first() is not None:
            return reason
    return "combination", ""
