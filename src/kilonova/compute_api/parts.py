"""What every handler of the compute API is handed: the parts it may use, joined by the assembly."""

from dataclasses import dataclass

from kilonova.bus import Bus
from kilonova.companions.image.contract import ImageService
from kilonova.companions.network.contract import NetworkService
from kilonova.operations.accept import Acceptor
from kilonova.operations.reads import HostReads
from kilonova.settings import ApiSettings, ComputeSettings, QuotaSettings, SchedulerSettings
from kilonova.storage.database import Database


@dataclass(frozen=True, slots=True)
class ComputeParts:
    """The compute API's parts. Reads go to `database` through repositories; what changes a server goes to `acceptor`."""

    database: Database
    acceptor: Acceptor
    reads: HostReads
    images: ImageService
    networks: NetworkService
    bus: Bus
    api: ApiSettings
    compute: ComputeSettings
    quota: QuotaSettings
    scheduler: SchedulerSettings
    traits: frozenset[str]
    """Every standard trait; custom ones are in the database."""
