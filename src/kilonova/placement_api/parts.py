"""What every handler of the placement API is handed: the parts it may use, joined by the assembly."""

from dataclasses import dataclass, field
from typing import Final

import os_resource_classes
import os_traits

from kilonova.operations.ledger_index import LedgerIndex
from kilonova.storage.database import Database

STANDARD_CLASSES: Final = frozenset(os_resource_classes.STANDARDS)
STANDARD_TRAITS: Final = frozenset(os_traits.get_traits())


@dataclass(frozen=True, slots=True)
class PlacementParts:
    """The placement API's parts: the database that decides, the index that answers, and the standard names.

    `most_candidates` is what a query without a limit gets at most: wide trees have more ways than fit into memory.
    `advertised` is the minor version that the version document names as the newest.
    """

    database: Database
    index: LedgerIndex
    classes: frozenset[str] = field(default=STANDARD_CLASSES)
    traits: frozenset[str] = field(default=STANDARD_TRAITS)
    most_candidates: int = 100_000
    advertised: int = 39
