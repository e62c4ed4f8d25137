"""SameHostFilter and DifferentHostFilter: the hints `same_host` and `different_host` name servers to be near or apart."""

from kilonova.scheduling.arrays import Mask, Rows
from kilonova.scheduling.filters.contract import Filter
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.phrases import Phrase
from kilonova.scheduling.request import Request


def _is_near(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    return hosts.named(request.hinted_hosts("same_host"))[rows]


def _is_apart(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    return ~hosts.named(request.hinted_hosts("different_host"))[rows]


SAME_HOST = Filter(
    name="SameHostFilter",
    code="hint.same_host",
    phrase=Phrase(
        "has none of the servers that the hint same_host names", "have none of the servers that the hint same_host names"
    ),
    passes=_is_near,
    applies=lambda request: bool(request.hinted_servers("same_host")),
)
DIFFERENT_HOST = Filter(
    name="DifferentHostFilter",
    code="hint.different_host",
    phrase=Phrase("has a server that the hint different_host names", "have a server that the hint different_host names"),
    passes=_is_apart,
    applies=lambda request: bool(request.hinted_servers("different_host")),
)
