"""DiskWeigher: more free disk is better, which spreads servers; a negative multiplier stacks them."""

from kilonova.scheduling.arrays import Floats, Rows
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.request import FreeAmounts, Request
from kilonova.scheduling.weighers.contract import Weigher


def _weigh(request: Request, hosts: Hosts, rows: Rows, free: FreeAmounts) -> Floats:
    return free.free_disk_gb[rows]


DISK = Weigher("DiskWeigher", lambda settings: settings.disk_weight_multiplier, _weigh)
