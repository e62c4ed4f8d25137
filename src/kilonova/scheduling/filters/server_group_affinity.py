"""ServerGroupAffinityFilter: a server of an affinity group goes where the group's members are."""

from kilonova.scheduling.arrays import Mask, Rows
from kilonova.scheduling.filters.contract import Filter
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.phrases import Phrase
from kilonova.scheduling.request import Group, Request


def _applies(request: Request) -> bool:
    # The first member may go anywhere.
    return request.group is not None and request.group.policy == "affinity" and bool(_holding(request.group))


def _holds_members(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    return hosts.named(_holding(request.group) if request.group else ())[rows]


def _holding(group: Group) -> tuple[str, ...]:
    return tuple(host for host, members in group.members_by_host.items() if members > 0)


SERVER_GROUP_AFFINITY = Filter(
    name="ServerGroupAffinityFilter",
    code="group.affinity",
    phrase=Phrase("has no server of the affinity group", "have no server of the affinity group"),
    passes=_holds_members,
    applies=_applies,
)
