"""ComputeFilter: the host is alive, and its administrator lets it take servers."""

from kilonova.scheduling.arrays import Mask, Rows
from kilonova.scheduling.filters.contract import Filter
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.phrases import Phrase
from kilonova.scheduling.request import Request


def _is_up(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    return hosts.up[rows]


def _is_enabled(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    return hosts.enabled[rows]


# Disabled first: what an administrator did on purpose explains more than that the host is not heard of.
HOST_ENABLED = Filter("ComputeFilter", "host.disabled", Phrase("is disabled", "are disabled"), _is_enabled)
HOST_UP = Filter("ComputeFilter", "host.down", Phrase("is down", "are down"), _is_up)
