"""What a request says of hosts outright: the only cell, and those that were tried and failed."""

from kilonova.scheduling.arrays import Mask, Rows
from kilonova.scheduling.filters.contract import Filter
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.phrases import Phrase
from kilonova.scheduling.request import Request


def _is_in_only_cell(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    return hosts.cell_column.test(lambda cell: cell == request.only_cell, rows)


def _was_not_tried(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    return ~hosts.named(request.exclude_hosts)[rows]


REQUESTED_CELL = Filter(
    name="RequestedCell",
    code="cell.other",
    phrase=Phrase("is in another cell", "are in another cell"),
    passes=_is_in_only_cell,
    applies=lambda request: bool(request.only_cell),
)
TRIED_HOSTS = Filter(
    name="TriedHosts",
    code="host.tried",
    phrase=Phrase("was tried and failed", "were tried and failed"),
    passes=_was_not_tried,
    applies=lambda request: bool(request.exclude_hosts),
)
