"""Whether what a consumer holds already is still an answer to a query (placement 1.1002).

Its amounts are dealt to the groups of the query. Room plays no part: what is held is held. Source: behaviour.md section 6.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kilonova.domain.errors import NotFound
from kilonova.domain.ledger import Amounts
from kilonova.domain.resources import Candidate, CandidateQuery, Provider, RequestGroup
from kilonova.placement.index import Index
from kilonova.placement.problem import Problem, Subtree
from kilonova.placement.solve import Solver
from kilonova.placement.topology import SHARES


def unchanged(index: Index, query: CandidateQuery, held: Amounts) -> Candidate | None:
    """The allocation `held` as a candidate of the query, with the mappings that make it one; None where it is none.

    It is one when all of its amounts, and nothing else, can be dealt to the groups so that classes, traits, aggregates,
    `in_tree`, `group_policy`, `same_subtree` and the root's traits hold. Capacity, reserved, ratios, unit sizes and what
    is used are not looked at. Providers of other trees than the anchor's count as sharing with it, because they are held.
    """
    return next((found for found in deals(index, query, held) if found is not None), None)


def deals(index: Index, query: CandidateQuery, held: Amounts) -> Iterator[Candidate | None]:
    """As `unchanged`: that candidate or nothing, and a None about every millisecond while it is looked for.

    For callers that must not hold the event loop. The index must not change before the end.
    """
    if not held or _sums(group.resources for group in query.groups) != _sums(held.values()):
        return
    holders = _providers(index, held)
    if holders is None:
        return
    for root_id in _anchors(index, holders):
        dealing = _Dealing(index, query, held, holders, index.provider(root_id))
        if dealing.root_passes:
            for answer in Solver(dealing.problem).steps():
                if answer is not None:
                    yield dealing.candidate(answer)
                    return
                yield None
        # What is shared may reach thousands of trees.
        yield None


@dataclass(frozen=True, slots=True)
class _Slot:
    """One choice of a provider: a suffixed group, or one class of the unsuffixed one."""

    group: RequestGroup
    resources: Mapping[str, int]


class _Dealing:
    """The attempt to deal with one root as the anchor. Providers are numbered: the tree's own, then those held elsewhere."""

    def __init__(self, index: Index, query: CandidateQuery, held: Amounts, holders: Sequence[Provider], root: Provider) -> None:
        self._index = index
        self._query = query
        self._held = held
        self._root = root
        self._tree = index.tree(root.id)
        self._providers = [*self._tree, *(provider for provider in holders if provider.root_id != root.id)]
        self._slots = [_Slot(query.unsuffixed, {name: amount}) for name, amount in query.unsuffixed.resources.items()]
        self._slots += [_Slot(group, group.resources) for group in query.groups if group.suffix]

    @property
    def root_passes(self) -> bool:
        """Whether what is asked of the root and of the whole tree holds."""
        query, group, root = self._query, self._query.unsuffixed, self._root
        if not query.root_required <= root.traits or query.root_forbidden & root.traits:
            return False
        if group.forbidden_aggregates & root.aggregates:
            return False
        return not self._asks_tree or self._tree_passes

    def candidate(self, answer: Sequence[int]) -> Candidate:
        """An answer of the solver as a candidate."""
        mappings: dict[str, tuple[int, ...]] = {}
        for slot, chosen in zip(self._slots, answer, strict=True):
            known = mappings.get(slot.group.suffix, ())
            mappings[slot.group.suffix] = tuple(sorted({*known, self._providers[chosen].id}))
        if self._asks_tree:
            named = frozenset().union(*self._query.unsuffixed.required)
            having = sorted(provider.id for provider in self._tree if provider.traits & named)
            mappings = {"": tuple(having) or (self._root.id,), **mappings}
        return Candidate(self._root.id, self._held, mappings)

    @cached_property
    def problem(self) -> Problem:
        """All classes are contended, and there is room for what is held."""
        classes = {name: number for number, name in enumerate(_sums(self._held.values()))}
        own = (1 << len(self._tree)) - 1
        everything = (1 << len(self._providers)) - 1
        domains = tuple(self._bits(slot) for slot in self._slots)
        covers = () if self._asks_tree else self._query.unsuffixed.required
        suffixed = sum(1 for slot in self._slots if slot.group.suffix)
        isolated = self._query.group_policy == "isolate" and suffixed > 1
        return Problem(
            ids=tuple(provider.id for provider in self._providers),
            domains=domains,
            own=own,
            sharing=everything ^ own,
            demands=tuple(tuple((classes[name], amount) for name, amount in slot.resources.items()) for slot in self._slots),
            room=tuple(tuple(self._held.get(provider.id, {}).get(name, 0) for provider in self._providers) for name in classes),
            alone=tuple(isolated and bool(slot.group.suffix) for slot in self._slots),
            givers=tuple(_positions([bool(provider.traits & any_of) for provider in self._providers]) for any_of in covers),
            wishes=tuple(0 if slot.group.suffix else (1 << len(covers)) - 1 for slot in self._slots),
            subtrees=self._subtrees(domains),
        )

    @property
    def _asks_tree(self) -> bool:
        group = self._query.unsuffixed
        return group.in_tree is not None and not group.resources

    @property
    def _tree_passes(self) -> bool:
        """An unsuffixed group without resources asks about the tree of its `in_tree` (placement 1.1001)."""
        group, root = self._query.unsuffixed, self._root
        traits = frozenset().union(*(provider.traits for provider in self._tree))
        return (
            self._root_of(group.in_tree) == root.id
            and all(any_of & traits for any_of in group.required)
            and not group.forbidden & traits
            and all(any_of & root.aggregates for any_of in group.member_of)
        )

    def _root_of(self, uuid: str | None) -> int | None:
        provider = None if uuid is None else self._index.find(uuid)
        return None if provider is None else provider.root_id

    def _bits(self, slot: _Slot) -> int:
        return _positions([self._holds(provider, slot) and self._may(provider, slot.group) for provider in self._providers])

    def _holds(self, provider: Provider, slot: _Slot) -> bool:
        held = self._held.get(provider.id, {})
        return all(held.get(name, 0) >= amount for name, amount in slot.resources.items())

    def _may(self, provider: Provider, group: RequestGroup) -> bool:
        """Whether a provider meets the group's conditions, as far as each must meet them by itself."""
        own = provider.root_id == self._root.id
        if group.forbidden & provider.traits or group.forbidden_aggregates & provider.aggregates:
            return False
        if group.in_tree is not None and provider.root_id != self._root_of(group.in_tree):
            return False
        member = _in_each(provider, group)
        if group.suffix:
            return member and all(any_of & provider.traits for any_of in group.required)
        # The aggregates of a root span its tree, and `in_tree` keeps sharing providers out.
        return (own or group.in_tree is None) and (member or (own and _in_each(self._root, group)))

    def _subtrees(self, domains: Sequence[int]) -> tuple[Subtree, ...]:
        below = self._below()
        subtrees = []
        for suffixes in self._query.same_subtree:
            slots = tuple(number for number, slot in enumerate(self._slots) if slot.group.suffix in suffixes)
            if len(slots) > 1:
                heads = [
                    any(domains[slot] >> head & 1 for slot in slots) and all(domains[slot] & under for slot in slots)
                    for head, under in enumerate(below)
                ]
                subtrees.append(Subtree(slots, _positions(heads), below))
        return tuple(subtrees)

    def _below(self) -> tuple[int, ...]:
        """By local number, the providers at or below that one."""
        position = {provider.id: number for number, provider in enumerate(self._providers)}
        below = [0] * len(self._providers)
        for number, provider in enumerate(self._providers):
            above: Provider | None = provider
            while above is not None:
                if above.id in position:
                    below[position[above.id]] |= 1 << number
                above = None if above.parent_id is None else self._index.provider(above.parent_id)
        return tuple(below)


def _sums(many: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Amounts by class, added up."""
    sums: dict[str, int] = {}
    for amounts in many:
        for name, amount in amounts.items():
            sums[name] = sums.get(name, 0) + amount
    return sums


def _providers(index: Index, held: Amounts) -> list[Provider] | None:
    """Who is held, or None when one of them is gone, and with it what was held."""
    try:
        return [index.provider(number) for number in held]
    except NotFound:
        return None


def _anchors(index: Index, holders: Sequence[Provider]) -> Iterator[int]:
    """The roots that may be the anchor: of the trees that do not merely share, where there are such.

    Where all that is held is shared, these are the sharing providers' own trees and every tree that all of them reach.
    """
    using = [provider for provider in holders if SHARES not in provider.traits]
    near = dict.fromkeys(provider.root_id for provider in using or holders)
    yield from near
    if not using:
        rows = index.rows
        reached = rows.is_root.copy()
        for row in map(index.row, (provider.id for provider in holders)):
            reached &= index.topology.anchors(row) | (rows.root == rows.root[row])
        yield from (root_id for root_id in rows.ids[np.flatnonzero(reached)].tolist() if root_id not in near)


def _in_each(provider: Provider, group: RequestGroup) -> bool:
    return all(any_of & provider.aggregates for any_of in group.member_of)


def _positions(flags: Sequence[bool]) -> int:
    return sum(1 << number for number, flag in enumerate(flags) if flag)
