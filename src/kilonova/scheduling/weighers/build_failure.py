"""BuildFailureWeigher: a host on which builds fail is the last resort, hence the large default multiplier."""

from kilonova.scheduling.arrays import Ints, Rows
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.request import FreeAmounts, Request
from kilonova.scheduling.weighers.contract import Weigher


def _weigh(request: Request, hosts: Hosts, rows: Rows, free: FreeAmounts) -> Ints:
    return -hosts.failed_builds[rows]


BUILD_FAILURE = Weigher("BuildFailureWeigher", lambda settings: settings.build_failure_weight_multiplier, _weigh)
