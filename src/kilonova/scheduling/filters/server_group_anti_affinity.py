"""ServerGroupAntiAffinityFilter: a host holds at most `max_server_per_host` members of an anti-affinity group."""

from kilonova.scheduling.arrays import Mask, Rows
from kilonova.scheduling.filters.contract import Filter
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.phrases import Phrase
from kilonova.scheduling.request import Request


def _applies(request: Request) -> bool:
    return request.group is not None and request.group.policy == "anti-affinity"


def _has_room_for_member(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    members = request.group.members_by_host if request.group else {}
    limit = request.group.max_server_per_host if request.group else 0
    return ~hosts.named([host for host, count in members.items() if count >= limit])[rows]


def _limit(request: Request) -> str:
    limit = request.group.max_server_per_host if request.group else 0
    return "a server" if limit == 1 else f"{limit} servers"


SERVER_GROUP_ANTI_AFFINITY = Filter(
    name="ServerGroupAntiAffinityFilter",
    code="group.anti_affinity",
    phrase=Phrase("already has {subject} of the anti-affinity group", "already have {subject} of the anti-affinity group"),
    passes=_has_room_for_member,
    applies=_applies,
    subject=_limit,
)
