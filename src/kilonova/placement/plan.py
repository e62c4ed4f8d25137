"""A query read against the index: its slots, the trees that may answer, and what ties slots to each other.

All of it is whole-column work. What is left for the solver are the trees marked `wide`.
"""

from collections import Counter
from dataclasses import dataclass
from functools import reduce

import numpy as np

from kilonova.domain.errors import BadRequest
from kilonova.domain.resources import CandidateQuery, RequestGroup
from kilonova.placement.reading import Reading
from kilonova.placement.rows import Mask
from kilonova.placement.slots import Slot, Step, names, suffixed_slots, unsuffixed_slots


@dataclass(frozen=True, slots=True)
class Cover:
    """A set of traits of which the providers of the unsuffixed group must together have one, and who has it."""

    subject: str
    rows: Mask


@dataclass(frozen=True, slots=True)
class Plan:
    """What a search works from.

    `roots` marks the root rows that pass everything that can be told slot by slot; `wide` those of them that may
    choose between providers, where choices can still clash. For the others (one provider, nothing shared) `roots`
    minus `clashing` is the answer; `overfull` marks rows that cannot hold the sum of all slots. `contended` are the
    classes that more than one slot asks for. `fixed` are the rows of the providers mapped to an unsuffixed group without
    resources (placement 1.1001).
    """

    reading: Reading
    query: CandidateQuery
    slots: tuple[Slot, ...]
    root_steps: tuple[Step, ...]
    covers: tuple[Cover, ...]
    contended: tuple[str, ...]
    roots: Mask
    wide: Mask
    overfull: Mask
    fixed: tuple[int, ...] | None

    @property
    def isolated(self) -> bool:
        """Whether there are suffixed groups that must keep off each other's providers."""
        return self.query.group_policy == "isolate" and sum(1 for slot in self.slots if slot.suffix) > 1

    @property
    def clashing(self) -> Mask:
        """Rows that cannot hold all slots by themselves although each fits alone."""
        return self.reading.everybody if self.isolated else self.overfull


def make_plan(reading: Reading, query: CandidateQuery) -> Plan:
    """Read a query against the index.

    Raises BadRequest for a query that asks for nothing, or whose unsuffixed group has conditions but neither
    resources nor `in_tree`.
    """
    check(query)
    group = query.unsuffixed
    slots = (
        *unsuffixed_slots(reading, group),
        *suffixed_slots(reading, (group for group in query.groups if group.suffix)),
    )
    asks_tree = group.in_tree is not None and not group.resources
    root_steps = (*_root_steps(reading, query), *(_whole_tree_steps(reading, group) if asks_tree else ()))
    covers = () if asks_tree else tuple(Cover(names(traits), reading.any_trait(traits)) for traits in group.required)
    roots = _promising_roots(reading, slots, root_steps, covers)
    contended = _contended(slots)
    return Plan(
        reading,
        query,
        slots,
        root_steps,
        covers,
        contended,
        roots,
        roots & _wide(reading, slots),
        _overfull(reading, slots, contended),
        _answering(reading, group) if asks_tree else None,
    )


def check(query: CandidateQuery) -> None:
    """Raises BadRequest as make_plan does."""
    group = query.unsuffixed
    if not group.resources and group.in_tree is None:
        if group.required or group.forbidden or group.member_of or group.forbidden_aggregates:
            raise BadRequest("The unsuffixed group has conditions but neither resources nor in_tree.")
        if not any(group.suffix for group in query.groups):
            raise BadRequest("The query asks for no resources.")


def covering_roots(reading: Reading, slots: tuple[Slot, ...], cover: Cover) -> Mask:
    """Root rows where some provider that may fill an unsuffixed slot has a trait of the set."""
    roots = reading.nobody
    for slot in slots:
        if not slot.suffix:
            roots = roots | reading.roots(slot.own & cover.rows, [row for row in slot.shared if cover.rows[row]])
    return roots


def _root_steps(reading: Reading, query: CandidateQuery) -> list[Step]:
    steps = []
    for trait in sorted(query.root_required):
        mask = reading.any_trait((trait,))
        steps.append(Step("trait.missing", trait, mask, mask))
    for trait in sorted(query.root_forbidden):
        mask = ~reading.any_trait((trait,))
        steps.append(Step("trait.forbidden", trait, mask, mask))
    group = query.unsuffixed
    if group.forbidden_aggregates:
        # A root's aggregates span its tree, also for what others share with it.
        mask = ~reading.any_aggregate(group.forbidden_aggregates)
        steps.append(Step("aggregate", names(group.forbidden_aggregates), mask, mask))
    return steps


def _whole_tree_steps(reading: Reading, group: RequestGroup) -> list[Step]:
    """An unsuffixed group without resources asks about the whole tree of `in_tree` (behaviour.md, placement 1.1001)."""
    tree = reading.tree_of(group.in_tree or "")
    steps = [Step("tree", group.in_tree or "", tree, tree)]
    for any_of in group.member_of:
        mask = reading.any_aggregate(any_of)
        steps.append(Step("aggregate", names(any_of), mask, mask))
    if group.forbidden:
        mask = ~reading.own_roots(reading.any_trait(group.forbidden))
        steps.append(Step("trait.forbidden", names(group.forbidden), mask, mask))
    for any_of in group.required:
        mask = reading.own_roots(reading.any_trait(any_of))
        steps.append(Step("trait.missing", names(any_of), mask, mask))
    return steps


def _answering(reading: Reading, group: RequestGroup) -> tuple[int, ...]:
    tree = reading.tree_of(group.in_tree or "")
    having = tree & reading.any_trait(frozenset().union(*group.required))
    rows = np.flatnonzero(having if having.any() else tree & reading.is_root)
    return tuple(rows[np.argsort(reading.ids[rows])].tolist())


def _promising_roots(reading: Reading, slots: tuple[Slot, ...], root_steps: tuple[Step, ...], covers: tuple[Cover, ...]) -> Mask:
    roots = reading.is_root.copy()
    for step in root_steps:
        roots &= step.own
    for slot in {id(slot.own): slot for slot in slots}.values():
        roots &= reading.roots(slot.own, slot.shared)
    for cover in covers:
        roots &= covering_roots(reading, slots, cover)
    return roots


def _contended(slots: tuple[Slot, ...]) -> tuple[str, ...]:
    asked = Counter(resource_class for slot in slots for resource_class in slot.resources)
    return tuple(resource_class for resource_class, times in asked.items() if times > 1)


def _wide(reading: Reading, slots: tuple[Slot, ...]) -> Mask:
    wide: Mask = reading.size > 1
    shared = {row for slot in slots for row in slot.shared}
    return wide | reading.roots(reading.nobody, sorted(shared)) if shared else wide


def _overfull(reading: Reading, slots: tuple[Slot, ...], contended: tuple[str, ...]) -> Mask:
    totals = ((name, sum(slot.resources.get(name, 0) for slot in slots)) for name in contended)
    return reduce(np.logical_or, (reading.room(name) < total for name, total in totals), reading.nobody)
