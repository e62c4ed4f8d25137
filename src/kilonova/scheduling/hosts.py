"""All hosts of the cloud as columns: what they are, whether they may take servers, which aggregates they are in.

A snapshot: nobody changes it, a newer one replaces it. Capacity is not here; that is the ledger's to know.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Final

import numpy as np

from kilonova.domain.image_properties import canonical_architecture
from kilonova.scheduling.arrays import Column, Ints, Mask, Rows

ZONE_KEY: Final = "availability_zone"
TENANT_KEY: Final = "filter_tenant_id"
"""Prefix of the metadata keys that keep an aggregate for projects. Source: the community's scheduler documentation."""


@dataclass(frozen=True, slots=True)
class AggregateView:
    """A host aggregate as far as scheduling looks at it."""

    name: str
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Platform:
    """What kind of machine a host runs; `version` is the hypervisor's number in places of a thousand (2010003 is 2.10.3)."""

    arch: str
    hypervisor_type: str
    version: int


# No slots: cached_property keeps its answer in the instance.
@dataclass(frozen=True)
class Hosts:
    """One row a host; all columns have the same length.

    `root_ids` are the ledger's numbers of the hosts' root providers, `up` means alive and not forced down, `servers`
    counts the servers on the host, `failed_builds` those builds that failed there since the last that did not.
    """

    names: tuple[str, ...]
    cells: tuple[str, ...]
    root_ids: Ints
    up: Mask
    enabled: Mask
    disabled_reason: tuple[str, ...]
    arch: tuple[str, ...]
    hypervisor_type: tuple[str, ...]
    hypervisor_version: tuple[int, ...]
    aggregates: tuple[frozenset[int], ...]
    servers: Ints
    failed_builds: Ints
    aggregates_by_id: Mapping[int, AggregateView] = field(default_factory=dict)
    default_zone: str = "nova"

    def __len__(self) -> int:
        return len(self.names)

    def rows_of(self, root_ids: Ints) -> Rows:
        """The rows of these roots, in their order; roots that are no host's are left out."""
        if not len(self) or not len(root_ids):
            return np.empty(0, dtype=np.int64)
        order, ids = self._by_root
        places = ids.searchsorted(root_ids)
        places[places == len(ids)] = 0
        known = ids[places] == root_ids
        rows = order[places]
        return rows if np.count_nonzero(known) == len(rows) else rows[known]

    def named(self, names: Collection[str]) -> Mask:
        """For each row of all whether its host's name is among these; unknown names are left out."""
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[[row for name in names if (row := self._row_by_name.get(name)) is not None]] = True
        return mask

    def counts(self, count_by_name: Mapping[str, int]) -> Ints:
        """For each row of all the number that its host's name has there, 0 where it has none."""
        counts = np.zeros(len(self), dtype=np.int64)
        for name, count in count_by_name.items():
            if (row := self._row_by_name.get(name)) is not None:
                counts[row] = count
        return counts

    def zone_of(self, row: int) -> str:
        """The availability zone that an aggregate of the host says, else the default one."""
        zones = self.zones
        return zones.values[int(zones.codes[row])]

    def with_counts(self, servers: Ints, failed_builds: Ints) -> "Hosts":
        """The same hosts with newer counts; what was worked out of the other columns is kept."""
        columns = {column.name: getattr(self, column.name) for column in fields(self)}
        newer = Hosts(**(columns | {"servers": servers, "failed_builds": failed_builds}))
        # Every cached value depends on columns that did not change, so it may be carried over.
        newer.__dict__.update({name: value for name, value in self.__dict__.items() if name not in columns})
        return newer

    @cached_property
    def zones(self) -> Column[str]:
        """The availability zone of each host."""
        return Column.of(self._zone_of_aggregates(ids) for ids in self.aggregates)

    @cached_property
    def cell_column(self) -> Column[str]:
        """The cell of each host."""
        return Column.of(self.cells)

    @cached_property
    def platforms(self) -> Column[Platform]:
        """The kind of machine of each host."""
        kinds = zip(self.arch, self.hypervisor_type, self.hypervisor_version, strict=True)
        return Column.of(Platform(canonical_architecture(arch), kind.lower(), version) for arch, kind, version in kinds)

    @cached_property
    def tenants(self) -> Column[frozenset[str]]:
        """The projects that each host is kept for by its aggregates; an empty set where it is for all."""
        return Column.of(self._tenants_of_aggregates(ids) for ids in self.aggregates)

    @cached_property
    def _by_root(self) -> tuple[Rows, Ints]:
        order = np.argsort(self.root_ids, kind="stable").astype(np.int64)
        return order, self.root_ids[order]

    @cached_property
    def _row_by_name(self) -> Mapping[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    def _zone_of_aggregates(self, ids: frozenset[int]) -> str:
        # The API keeps a host out of two zones; were it in two all the same, the oldest aggregate decides.
        zones = (self._metadata(id).get(ZONE_KEY) for id in sorted(ids))
        return next((zone for zone in zones if zone), self.default_zone)

    def _tenants_of_aggregates(self, ids: frozenset[int]) -> frozenset[str]:
        values = (value for id in ids for key, value in self._metadata(id).items() if key.startswith(TENANT_KEY) and value)
        return frozenset(tenant.strip() for value in values for tenant in value.split(","))

    def _metadata(self, aggregate_id: int) -> Mapping[str, str]:
        aggregate = self.aggregates_by_id.get(aggregate_id)
        return aggregate.metadata if aggregate else {}
