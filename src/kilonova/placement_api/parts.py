"""What every handler of the placement API is handed: the parts it may use, joined by the assembly."""

from dataclasses import dataclass, field
from typing import Final

import os_resource_classes
import os_traits

from kilonova.operations.ledger import Claimer
from kilonova.operations.ledger_index import LedgerIndex
from kilonova.placement_api.prepared import Prepared
from kilonova.storage.database import Database

STANDARD_CLASSES: Final = frozenset(os_resource_classes.STANDARDS)
STANDARD_TRAITS: Final = frozenset(os_traits.get_traits())


@dataclass(frozen=True, slots=True)
class PlacementParts:
    """The placement API's parts: the database that decides, the index that answers, and the standard names.

    `most_candidates` is what a query gets at most, whatever limit it has, and `most_choices` how many providers these may
    name in all (a candidate of 64 groups names 64): wide trees have more ways than fit into memory.
    A search that takes longer than `search_seconds` is refused. `advertised` is the minor version that the version document
    names as the newest. `prepared` has texts by row of the index.
    """

    database: Database
    index: LedgerIndex
    classes: frozenset[str] = field(default=STANDARD_CLASSES)
    traits: frozenset[str] = field(default=STANDARD_TRAITS)
    most_candidates: int = 100_000
    most_choices: int = 1_000_000
    search_seconds: float = 10.0
    advertised: int = 39
    prepared: Prepared = field(default_factory=Prepared)
    claims: Claimer = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "claims", Claimer(self.database))
