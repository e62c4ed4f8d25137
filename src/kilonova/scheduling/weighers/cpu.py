"""CPUWeigher: more free virtual processors are better, which spreads servers; a negative multiplier stacks them."""

from kilonova.scheduling.arrays import Floats, Rows
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.request import FreeAmounts, Request
from kilonova.scheduling.weighers.contract import Weigher


def _weigh(request: Request, hosts: Hosts, rows: Rows, free: FreeAmounts) -> Floats:
    return free.free_vcpus[rows]


CPU = Weigher("CPUWeigher", lambda settings: settings.cpu_weight_multiplier, _weigh)
