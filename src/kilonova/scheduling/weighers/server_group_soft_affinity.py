"""ServerGroupSoftAffinityWeigher: under soft-affinity a host with more members of the group is better."""

from kilonova.scheduling.arrays import Ints, Rows
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.request import FreeAmounts, Request
from kilonova.scheduling.weighers.contract import Weigher


def _applies(request: Request) -> bool:
    return request.group is not None and request.group.policy == "soft-affinity"


def _weigh(request: Request, hosts: Hosts, rows: Rows, free: FreeAmounts) -> Ints:
    return hosts.counts(request.group.members_by_host if request.group else {})[rows]


SERVER_GROUP_SOFT_AFFINITY = Weigher(
    "ServerGroupSoftAffinityWeigher", lambda settings: settings.soft_affinity_weight_multiplier, _weigh, _applies
)
