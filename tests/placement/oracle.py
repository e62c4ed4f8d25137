"""The candidates of a query by brute force: every choice of a provider for every slot, written as the rules read."""

from dataclasses import dataclass
from itertools import product

from kilonova.domain.resources import Candidate, CandidateQuery, Provider, RequestGroup
from kilonova.placement.topology import SHARES

Key = tuple[object, ...]


@dataclass
class Anchored:
    """A candidate under one root, and whether the root's tree provides any of it."""

    root_id: int
    key: Key
    uses_own: bool


class Oracle:
    def __init__(self, providers: list[Provider]) -> None:
        self.providers = {provider.id: provider for provider in providers}

    def candidates(self, query: CandidateQuery) -> list[Anchored]:
        return [
            found
            for root in self.providers.values()
            if root.id == root.root_id and self._root_passes(root, query)
            for found in self._under(root, query)
        ]

    def hosts(self, query: CandidateQuery) -> set[int]:
        asked = {name for group in query.groups for name in group.resources}
        return {
            provider.root_id
            for provider in self.providers.values()
            if SHARES not in provider.traits and (not asked or asked & set(provider.inventories))
        }

    def _root_passes(self, root: Provider, query: CandidateQuery) -> bool:
        return query.root_required <= root.traits and not query.root_forbidden & root.traits

    def _under(self, root: Provider, query: CandidateQuery) -> list[Anchored]:
        slots = [(group, name) for group in query.groups if not group.suffix for name in group.resources]
        slots += [(group, "") for group in query.groups if group.suffix]
        fillers = [
            [p for p in self.providers.values() if self._reaches(p, root) and self._may(p, root, group, name)]
            for group, name in slots
        ]
        found = []
        for chosen in product(*fillers):
            if self._together(slots, chosen, query):
                own = any(provider.root_id == root.id for provider in chosen)
                found.append(Anchored(root.id, self._key(slots, chosen), own))
        return found

    def _reaches(self, provider: Provider, root: Provider) -> bool:
        if provider.root_id == root.id:
            return True
        members = (p for p in self.providers.values() if p.root_id == root.id)
        return SHARES in provider.traits and any(provider.aggregates & member.aggregates for member in members)

    def _may(self, provider: Provider, root: Provider, group: RequestGroup, name: str) -> bool:
        resources = {name: group.resources[name]} if name else group.resources
        if any(not self._fits(provider, name, amount) for name, amount in resources.items()):
            return False
        if group.forbidden & provider.traits:
            return False
        if group.in_tree:
            tree = next((p.root_id for p in self.providers.values() if p.uuid == group.in_tree), None)
            if provider.root_id != tree or (not group.suffix and root.id != tree):
                return False
        inside = all(any_of & provider.aggregates for any_of in group.member_of)
        outside = not group.forbidden_aggregates & provider.aggregates
        if group.suffix:
            return inside and outside and all(any_of & provider.traits for any_of in group.required)
        if provider.root_id == root.id:
            inside = inside or all(any_of & root.aggregates for any_of in group.member_of)
        return inside and outside and not group.forbidden_aggregates & root.aggregates

    def _fits(self, provider: Provider, name: str, amount: int) -> bool:
        inventory = provider.inventories.get(name)
        return (
            inventory is not None
            and inventory.min_unit <= amount <= inventory.max_unit
            and amount % inventory.step_size == 0
            and amount <= inventory.free
        )

    def _together(self, slots: list[tuple[RequestGroup, str]], chosen: tuple[Provider, ...], query: CandidateQuery) -> bool:
        unsuffixed = [p for (group, _), p in zip(slots, chosen, strict=True) if not group.suffix]
        traits = frozenset().union(*(p.traits for p in unsuffixed))
        if not all(any_of & traits for any_of in query.unsuffixed.required):
            return False
        granular = [p.id for (group, _), p in zip(slots, chosen, strict=True) if group.suffix]
        if query.group_policy == "isolate" and len(set(granular)) < len(granular):
            return False
        for suffixes in query.same_subtree:
            meant = [p for (group, _), p in zip(slots, chosen, strict=True) if group.suffix in suffixes]
            if not any(all(head.id in self._ancestors(p) for p in meant) for head in meant):
                return False
        for (provider_id, name), amount in self._amounts(slots, chosen).items():
            inventory = self.providers[provider_id].inventories[name]
            if amount > min(inventory.free, inventory.max_unit):
                return False
        return True

    def _ancestors(self, provider: Provider) -> set[int]:
        above = {provider.id}
        while provider.parent_id is not None:
            provider = self.providers[provider.parent_id]
            above.add(provider.id)
        return above

    def _amounts(self, slots: list[tuple[RequestGroup, str]], chosen: tuple[Provider, ...]) -> dict[tuple[int, str], int]:
        amounts: dict[tuple[int, str], int] = {}
        for (group, only), provider in zip(slots, chosen, strict=True):
            for name in [only] if only else group.resources:
                key = (provider.id, name)
                amounts[key] = amounts.get(key, 0) + group.resources[name]
        return amounts

    def _key(self, slots: list[tuple[RequestGroup, str]], chosen: tuple[Provider, ...]) -> Key:
        mappings: dict[str, set[int]] = {}
        for (group, _), provider in zip(slots, chosen, strict=True):
            mappings.setdefault(group.suffix, set()).add(provider.id)
        return (
            tuple(sorted(self._amounts(slots, chosen).items())),
            tuple(sorted((suffix, tuple(sorted(ids))) for suffix, ids in mappings.items())),
        )


def key_of(candidate: Candidate) -> Key:
    """What makes a candidate another one: its amounts and its mappings."""
    amounts = {(p, name): n for p, names in candidate.allocations.items() for name, n in names.items()}
    return (
        tuple(sorted(amounts.items())),
        tuple(sorted((suffix, tuple(sorted(ids))) for suffix, ids in candidate.mappings.items())),
    )
