"""A query cut into slots, and which providers may fill each: the rules of the Placement API for one provider at a time.

A slot is one choice of one provider: a suffixed group is a slot, each class of the unsuffixed group is one. How
choices bear on each other is the solver's business. Source of the rules: placement API 1.39, "Modeling with provider
trees"; a sharing provider serves every tree that has a provider in one of its aggregates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kilonova.domain.resources import RequestGroup
from kilonova.placement.reading import Reading
from kilonova.placement.rows import IntColumn, Mask


@dataclass(frozen=True, slots=True)
class Step:
    """One condition on a provider: where it holds for trees of its own, and for trees it shares with.

    `asked` and `free` (by row) are there when the condition is about an amount.
    """

    code: str
    subject: str
    own: Mask
    shared: Mask
    asked: int | None = None
    free: IntColumn | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """One choice of a provider: `own` may serve trees they are in, the `shared` rows also trees in their aggregates."""

    suffix: str
    resources: Mapping[str, int]
    steps: tuple[Step, ...]
    own: Mask
    shared: tuple[int, ...]


def unsuffixed_slots(reading: Reading, group: RequestGroup) -> list[Slot]:
    """A slot for each class of the unsuffixed group; traits that the group requires are met by all slots together."""
    common = [*_tree_steps(reading, group, spans_anchors=False), *_spanning_aggregate_steps(reading, group)]
    common.extend(_forbidden_trait_steps(reading, group.forbidden))
    return [
        _slot(reading, "", {resource_class: amount}, [*common, *_amount_steps(reading, resource_class, amount)])
        for resource_class, amount in group.resources.items()
    ]


def suffixed_slots(reading: Reading, groups: Iterable[RequestGroup]) -> list[Slot]:
    """A slot for each suffixed group; groups that ask the same share their masks."""
    known: dict[object, Slot] = {}
    slots = []
    for group in groups:
        conditions = (group.required, group.forbidden, group.member_of, group.forbidden_aggregates, group.in_tree)
        key = (tuple(sorted(group.resources.items())), conditions)
        like = known.get(key)
        if like is None:
            like = known[key] = _slot(reading, group.suffix, group.resources, _suffixed_steps(reading, group))
        slots.append(Slot(group.suffix, like.resources, like.steps, like.own, like.shared))
    return slots


def names(group: Iterable[str]) -> str:
    """How a miss names an any-of set."""
    return ",".join(sorted(group))


def _suffixed_steps(reading: Reading, group: RequestGroup) -> list[Step]:
    steps = _tree_steps(reading, group, spans_anchors=True)
    for any_of in group.member_of:
        mask = reading.any_aggregate(any_of)
        steps.append(Step("aggregate", names(any_of), mask, mask))
    if group.forbidden_aggregates:
        mask = ~reading.any_aggregate(group.forbidden_aggregates)
        steps.append(Step("aggregate", names(group.forbidden_aggregates), mask, mask))
    steps.extend(_forbidden_trait_steps(reading, group.forbidden))
    for any_of in group.required:
        mask = reading.any_trait(any_of)
        steps.append(Step("trait.missing", names(any_of), mask, mask))
    for resource_class, amount in group.resources.items():
        steps.extend(_amount_steps(reading, resource_class, amount))
    return steps


def _tree_steps(reading: Reading, group: RequestGroup, *, spans_anchors: bool) -> list[Step]:
    """`in_tree`: a suffixed group may take a sharing provider of that tree for another; the unsuffixed one may not."""
    if group.in_tree is None:
        return []
    tree = reading.tree_of(group.in_tree)
    return [Step("tree", group.in_tree, tree, tree if spans_anchors else reading.nobody)]


def _spanning_aggregate_steps(reading: Reading, group: RequestGroup) -> list[Step]:
    """Aggregates for the unsuffixed group: those of a root span its tree; a sharing provider must be in them itself."""
    steps = []
    if group.member_of:
        # A provider meets all of member_of by itself or through its root, not half by the one and half by the other.
        inside = reading.everybody.copy()
        for any_of in group.member_of:
            inside &= reading.any_aggregate(any_of)
        subject = names(frozenset().union(*group.member_of))
        steps.append(Step("aggregate", subject, inside | reading.at_root(inside), inside))
    if group.forbidden_aggregates:
        outside = ~reading.any_aggregate(group.forbidden_aggregates)
        own = outside & reading.at_root(outside)
        steps.append(Step("aggregate", names(group.forbidden_aggregates), own, outside))
    return steps


def _forbidden_trait_steps(reading: Reading, forbidden: frozenset[str]) -> list[Step]:
    if not forbidden:
        return []
    mask = ~reading.any_trait(forbidden)
    return [Step("trait.forbidden", names(forbidden), mask, mask)]


def _amount_steps(reading: Reading, resource_class: str, amount: int) -> list[Step]:
    has, fits, free = (
        reading.has_class(resource_class),
        reading.unit_fits(resource_class, amount),
        reading.free(resource_class),
    )
    room: Mask = free >= amount
    return [
        Step("resource.absent", resource_class, has, has, amount),
        # Room before units: who asks for more than there is should hear how much there is.
        Step("resource.capacity", resource_class, room, room, amount, free),
        Step("resource.unit", resource_class, fits, fits, amount),
    ]


def _slot(reading: Reading, suffix: str, resources: Mapping[str, int], steps: list[Step]) -> Slot:
    own = reading.everybody.copy()
    for step in steps:
        own &= step.own
    shared: tuple[int, ...] = ()
    if reading.any_sharing:
        sharing = reading.sharing.copy()
        for step in steps:
            sharing &= step.shared
        shared = tuple(np.flatnonzero(sharing).tolist())
    return Slot(suffix, resources, tuple(steps), own, shared)
