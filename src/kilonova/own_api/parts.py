"""What the handlers of our own resources are handed."""

from dataclasses import dataclass

from kilonova.bus import Bus
from kilonova.bus.chaos import ChaosRules
from kilonova.operations.reads import HostReads
from kilonova.storage.database import Database


@dataclass(frozen=True, slots=True)
class OwnParts:
    """The parts of our own resources."""

    database: Database
    reads: HostReads
    bus: Bus
    chaos: ChaosRules
