"""The in-memory index of the ledger: every provider as a value, and the same as numpy columns for the search.

It holds what it is told; where that comes from and when it is stale, it does not know.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from kilonova.domain.errors import NotFound
from kilonova.domain.resources import Provider
from kilonova.placement.forest import Forest
from kilonova.placement.rows import NOBODY, IntColumn, Rows
from kilonova.placement.topology import Topology
from kilonova.placement.usage import Usage

NO_NAMES: Final[frozenset[str]] = frozenset()


class Index:
    """Providers by id, uuid and name, their trees; `rows` and `topology` are for the search."""

    def __init__(self, stamps: int = 0) -> None:
        """Rows get stamps above `stamps`: those of a former index must not be met again in this one."""
        self._stamps = stamps
        self._clear(64)

    def __len__(self) -> int:
        return len(self._providers)

    def load(self, providers: Iterable[Provider]) -> None:
        """Replace everything. Raises NotFound when a provider's root is not among them."""
        fresh = list(providers)
        self._stamps = self.rows.stamps
        self._clear(max(64, len(fresh) + len(fresh) // 16))
        ids = [provider.id for provider in fresh]
        self.rows.fill(ids, [provider.inventories for provider in fresh])
        self.rows.traits.fill([provider.traits for provider in fresh])
        self.rows.aggregates.fill([provider.aggregates for provider in fresh])
        # One by one and one after the other: a thread lets no other run while a dictionary is copied or grows.
        for row, provider in enumerate(fresh):
            self._row_of[provider.id] = row
        for provider in fresh:
            self._providers[provider.id] = provider
        for provider in fresh:
            self._by_uuid[provider.uuid] = provider.id
        for provider in fresh:
            self._by_name[provider.name] = provider.id
        self._forest.fill((provider.id, provider.root_id) for provider in fresh)
        _stand(self.rows, self._row_of, fresh)

    def copy(self) -> "Index":
        """The same, independent of this one; the providers are shared."""
        twin = Index()
        twin.rows = self.rows.copy()
        twin._stamps = twin.rows.stamps
        twin._providers = self._providers.copy()
        twin._row_of = self._row_of.copy()
        twin._by_uuid = self._by_uuid.copy()
        twin._by_name = self._by_name.copy()
        twin._forest = self._forest.copy()
        twin.topology = Topology(twin.rows, twin._forest, twin._providers)
        return twin

    def apply(self, changed: Iterable[Provider], removed: Iterable[int]) -> None:
        """Bring in new and changed providers (by id, also into another tree), then drop those removed.

        Raises NotFound when a provider's root is neither known nor among the changed.
        """
        changed = list(changed)
        for provider in changed:
            if provider.id not in self._row_of:
                self._row_of[provider.id] = self.rows.occupy(provider.id)
        for provider in changed:
            self._put(provider)
        # After the changed ones: a removed root's children may have moved in the same batch, and a new provider may
        # have the name of a removed one.
        for provider_id in removed:
            self._drop(provider_id)

    def provider(self, provider_id: int) -> Provider:
        """The provider with this id; raises NotFound."""
        provider = self._providers.get(provider_id)
        if provider is None:
            raise NotFound(f"No resource provider with the id {provider_id}.")
        return provider

    def everybody(self) -> list[Provider]:
        """All providers, in no order."""
        return list(self._providers.values())

    def find(self, uuid: str) -> Provider | None:
        """The provider with this uuid, if there is one."""
        return self._providers.get(self._by_uuid.get(uuid, -1))

    def by_name(self, name: str) -> Provider | None:
        """The provider with this name, if there is one."""
        return self._providers.get(self._by_name.get(name, -1))

    def tree(self, root_id: int) -> list[Provider]:
        """The providers of a root's tree, the root first, every parent before its children; raises NotFound."""
        ordered = [self.provider(root_id)]
        children: dict[int | None, list[Provider]] = {}
        for provider_id in sorted(self._forest.below(root_id)):
            child = self._providers[provider_id]
            children.setdefault(child.parent_id, []).append(child)
        for provider in ordered:
            ordered.extend(children.get(provider.id, ()))
        return ordered

    def usage(self) -> Usage:
        """A scratch copy of the used amounts; see Usage for how long it is valid."""
        return Usage(self.rows, self._row_of)

    def free(self, resource_class: str, root_ids: IntColumn, usage: Usage | None = None) -> IntColumn:
        """Capacity less used of a class, summed over each root's tree; 0 for a tree without the class. The ids must exist."""
        columns = self.rows.classes.get(resource_class)
        if columns is None:
            return np.zeros(len(root_ids), dtype=np.int64)
        used = columns.used if usage is None else usage.used(resource_class)
        return self.topology.sum_by_tree(columns.capacity - used, root_ids)

    def total(self, resource_class: str, root_ids: IntColumn) -> IntColumn:
        """Capacity of a class, summed over each root's tree."""
        columns = self.rows.classes.get(resource_class)
        if columns is None:
            return np.zeros(len(root_ids), dtype=np.int64)
        return self.topology.sum_by_tree(columns.capacity, root_ids)

    def row(self, provider_id: int) -> int:
        """The row of a provider; raises NotFound."""
        row = self._row_of.get(provider_id)
        if row is None:
            raise NotFound(f"No resource provider with the id {provider_id}.")
        return row

    def _clear(self, length: int) -> None:
        self.rows = Rows(length, self._stamps)
        self._providers: dict[int, Provider] = {}
        self._row_of: dict[int, int] = {}
        self._by_uuid: dict[str, int] = {}
        self._by_name: dict[str, int] = {}
        self._forest = Forest()
        self.topology = Topology(self.rows, self._forest, self._providers)

    def _put(self, provider: Provider) -> None:
        row, old = self._row_of[provider.id], self._providers.get(provider.id)
        self.rows.mark(row)
        self.rows.replace_inventories(row, old.inventories if old else {}, provider.inventories)
        if old is None or not _differs_in_amounts_only(old, provider):
            self._place(row, old, provider)
        self._providers[provider.id] = provider

    def _place(self, row: int, old: Provider | None, provider: Provider) -> None:
        """Write all of a provider but its inventories; whatever was derived from the old picture goes."""
        root_row = self._row_of.get(provider.root_id)
        if root_row is None:
            raise _rootless(provider)
        self.topology.changed(old, provider)
        self.rows.traits.replace(row, old.traits if old else NO_NAMES, provider.traits)
        self.rows.aggregates.replace(row, old.aggregates if old else NO_NAMES, provider.aggregates)
        self._forest.move(provider.id, old.root_id if old else None, provider.root_id)
        self.rows.root[row] = root_row
        self.rows.parent[row] = NOBODY if provider.parent_id is None else self._row_of.get(provider.parent_id, NOBODY)
        self.rows.is_root[row] = row == root_row
        self._resize(provider.id, provider.root_id, *([old.root_id] if old else []))
        self._forget_names(old)
        self._by_uuid[provider.uuid] = self._by_name[provider.name] = provider.id

    def _resize(self, *root_ids: int) -> None:
        for root_id in root_ids:
            row = self._row_of.get(root_id)
            if row is not None:
                self.rows.size[row] = 1 + len(self._forest.below(root_id))

    def _forget_names(self, provider: Provider | None) -> None:
        if provider is not None:
            # The uuid or name may be a newer provider's by now.
            if self._by_uuid.get(provider.uuid) == provider.id:
                del self._by_uuid[provider.uuid]
            if self._by_name.get(provider.name) == provider.id:
                del self._by_name[provider.name]

    def _drop(self, provider_id: int) -> None:
        provider = self._providers.pop(provider_id, None)
        if provider is None:
            return
        row = self._row_of.pop(provider_id)
        self.topology.changed(provider, None)
        self.rows.replace_inventories(row, provider.inventories, {})
        self.rows.traits.replace(row, provider.traits, NO_NAMES)
        self.rows.aggregates.replace(row, provider.aggregates, NO_NAMES)
        self._forest.move(provider_id, provider.root_id, None)
        self._resize(provider.root_id)
        self._forget_names(provider)
        self.rows.vacate(row)


def _stand(rows: Rows, row_of: Mapping[int, int], fresh: Sequence[Provider]) -> None:
    """Write where providers stand that were just loaded: a row each, in this order."""
    for row, provider in enumerate(fresh):
        root_row = row_of.get(provider.root_id)
        if root_row is None:
            raise _rootless(provider)
        rows.root[row] = root_row
        if provider.parent_id is not None:
            rows.parent[row] = row_of.get(provider.parent_id, NOBODY)
    count = len(fresh)
    rows.is_root[:count] = rows.root[:count] == np.arange(count)
    rows.size[:count] = np.bincount(rows.root[:count], minlength=count)


def _rootless(provider: Provider) -> NotFound:
    return NotFound(f"Provider {provider.uuid} names a root that is not there (id {provider.root_id}).")


def _differs_in_amounts_only(old: Provider, new: Provider) -> bool:
    return (
        old.root_id == new.root_id
        and old.parent_id == new.parent_id
        and old.name == new.name
        and old.uuid == new.uuid
        and old.traits == new.traits
        and old.aggregates == new.aggregates
    )
