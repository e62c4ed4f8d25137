"""NumInstancesWeigher: more servers are better, so a positive multiplier stacks and a negative one spreads; off at first."""

from kilonova.scheduling.arrays import Ints, Rows
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.request import FreeAmounts, Request
from kilonova.scheduling.weighers.contract import Weigher


def _weigh(request: Request, hosts: Hosts, rows: Rows, free: FreeAmounts) -> Ints:
    return hosts.servers[rows]


NUM_INSTANCES = Weigher("NumInstancesWeigher", lambda settings: settings.num_instances_weight_multiplier, _weigh)
