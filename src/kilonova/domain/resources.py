"""Resources as values: inventories, providers, what a request asks of them and what a candidate answers.

These are the words that the ledger, the search and the scheduler share. Nothing here knows how they are stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

VCPU: Final = "VCPU"
MEMORY_MB: Final = "MEMORY_MB"
DISK_GB: Final = "DISK_GB"

MOST_CAPACITY: Final = 2**62
"""More than anybody has, and small enough for 64-bit columns: the placement API takes ratios up to 3.4e38."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """One class of one provider: amounts in the class's own unit (MB for MEMORY_MB, GB for DISK_GB)."""

    total: int
    reserved: int = 0
    min_unit: int = 1
    max_unit: int = 2**31 - 1
    step_size: int = 1
    allocation_ratio: float = 1.0
    used: int = 0

    @property
    def capacity(self) -> int:
        """What may be allocated in all: (total - reserved) x ratio, rounded down, within ±MOST_CAPACITY."""
        whole = int((self.total - self.reserved) * self.allocation_ratio)
        return max(-MOST_CAPACITY, min(whole, MOST_CAPACITY))

    @property
    def free(self) -> int:
        """Capacity that nobody holds; negative where a provider is overloaded."""
        return self.capacity - self.used


@dataclass(frozen=True, slots=True)
class Provider:
    """One row of the ledger with all that hangs on it.

    `id` is the ledger's own number (the order in which rows are locked); `root_id` is `id` itself for a root.
    `partition` is the cell whose hosts the provider belongs to, "" for providers of others.
    """

    id: int
    uuid: str
    name: str
    generation: int
    parent_id: int | None
    root_id: int
    partition: str = ""
    inventories: Mapping[str, Inventory] = field(default_factory=dict)
    traits: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RequestGroup:
    """What one group of a candidate query asks; suffix "" is the unsuffixed group.

    `required` is a conjunction of sets of which one trait each must be there (`required=A` is a set of one,
    `required=in:A,B` a set of two); `member_of` the same for aggregates. Source: placement API 1.39.
    """

    suffix: str = ""
    resources: Mapping[str, int] = field(default_factory=dict)
    required: tuple[frozenset[str], ...] = ()
    forbidden: frozenset[str] = frozenset()
    member_of: tuple[frozenset[str], ...] = ()
    forbidden_aggregates: frozenset[str] = frozenset()
    in_tree: str | None = None


@dataclass(frozen=True, slots=True)
class CandidateQuery:
    """A whole candidate query: groups, and what ties them to each other and to the root."""

    groups: tuple[RequestGroup, ...]
    group_policy: str | None = None
    same_subtree: tuple[frozenset[str], ...] = ()
    root_required: frozenset[str] = frozenset()
    root_forbidden: frozenset[str] = frozenset()

    @property
    def unsuffixed(self) -> RequestGroup:
        """The group without a suffix; an empty one where the query has none."""
        return next((group for group in self.groups if not group.suffix), RequestGroup())


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to meet a query: amounts by provider id and class, and which providers serve which group."""

    root_id: int
    allocations: Mapping[int, Mapping[str, int]]
    mappings: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Miss:
    """Why some hosts fell out of a search: a stable code, how many, and the nearest to fitting.

    `asked` and `most_free` are amounts of `subject` where the code speaks of a resource class.
    """

    code: str
    subject: str
    roots: tuple[int, ...]
    asked: int | None = None
    most_free: int | None = None
