"""RAMWeigher: more free memory is better, which spreads servers; a negative multiplier stacks them."""

from kilonova.scheduling.arrays import Floats, Rows
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.request import FreeAmounts, Request
from kilonova.scheduling.weighers.contract import Weigher


def _weigh(request: Request, hosts: Hosts, rows: Rows, free: FreeAmounts) -> Floats:
    return free.free_ram_mb[rows]


RAM = Weigher("RAMWeigher", lambda settings: settings.ram_weight_multiplier, _weigh)
