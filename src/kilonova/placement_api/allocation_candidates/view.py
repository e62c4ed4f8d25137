"""How candidates are shown: the requests that would claim them, and summaries of the providers that they use."""

from collections.abc import Sequence
from typing import Any, Final

from kilonova.domain.resources import Candidate, Provider
from kilonova.placement.index import Index

_KEYED: Final = 12
_WITH_TRAITS: Final = 17
_ALL_CLASSES: Final = 27
_NESTED: Final = 29
_WITH_MAPPINGS: Final = 34


def shown_candidates(index: Index, candidates: Sequence[Candidate], classes: frozenset[str], version: int) -> dict[str, Any]:
    """The whole answer. `classes` are those that the query names: before 1.27 summaries tell of no others."""
    if version < _NESTED:
        candidates = [candidate for candidate in candidates if _flat(index, candidate)]
    if version < _WITH_MAPPINGS:
        candidates = _distinct(candidates)
    uuids = _Uuids(index)
    requests = [_request(candidate, uuids, version) for candidate in candidates]
    summaries = {
        provider.uuid: _summary(index, provider, classes, version) for provider in _summarised(index, candidates, version)
    }
    return {"allocation_requests": requests, "provider_summaries": summaries}


class _Uuids(dict[int, str]):
    """Uuids by provider number, looked up once."""

    def __init__(self, index: Index) -> None:
        super().__init__()
        self._index = index

    def __missing__(self, number: int) -> str:
        uuid = self[number] = self._index.provider(number).uuid
        return uuid


def _flat(index: Index, candidate: Candidate) -> bool:
    """Whether no two providers of it are of one tree: older clients know of none."""
    roots = [index.provider(number).root_id for number in candidate.allocations]
    return len(roots) == len(set(roots))


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Where nobody is told which group got what, those that claim the same are one (C141)."""
    found: dict[frozenset[Any], Candidate] = {}
    for candidate in candidates:
        claimed = frozenset((number, *sorted(amounts.items())) for number, amounts in candidate.allocations.items())
        found.setdefault(claimed, candidate)
    return list(found.values())


def _request(candidate: Candidate, uuids: _Uuids, version: int) -> dict[str, Any]:
    if version < _KEYED:
        return {
            "allocations": [
                {"resource_provider": {"uuid": uuids[number]}, "resources": amounts}
                for number, amounts in candidate.allocations.items()
            ]
        }
    shown: dict[str, Any] = {
        "allocations": {uuids[number]: {"resources": amounts} for number, amounts in candidate.allocations.items()}
    }
    if version >= _WITH_MAPPINGS:
        shown["mappings"] = {suffix: [uuids[number] for number in found] for suffix, found in candidate.mappings.items()}
    return shown


def _summarised(index: Index, candidates: Sequence[Candidate], version: int) -> list[Provider]:
    """From 1.29 on every provider of a tree that is used, before those that are used."""
    used = dict.fromkeys(number for candidate in candidates for number in candidate.allocations)
    if version < _NESTED:
        return [index.provider(number) for number in used]
    roots = dict.fromkeys(index.provider(number).root_id for number in used)
    # A candidate that allocates nothing (placement 1.1001) still tells of its tree.
    roots.update(dict.fromkeys(candidate.root_id for candidate in candidates if not candidate.allocations))
    return [provider for root in roots for provider in index.tree(root)]


def _standard_first(trait: str) -> tuple[bool, str]:
    return trait.startswith("CUSTOM_"), trait


def _summary(index: Index, provider: Provider, classes: frozenset[str], version: int) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "resources": {
            name: {"capacity": inventory.capacity, "used": inventory.used}
            for name, inventory in provider.inventories.items()
            if version >= _ALL_CLASSES or name in classes
        }
    }
    if version >= _WITH_TRAITS:
        shown["traits"] = sorted(provider.traits, key=_standard_first)
    if version >= _NESTED:
        parent = provider.parent_id
        shown["parent_provider_uuid"] = None if parent is None else index.provider(parent).uuid
        shown["root_provider_uuid"] = index.provider(provider.root_id).uuid
    return shown
