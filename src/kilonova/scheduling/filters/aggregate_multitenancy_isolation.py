"""AggregateMultiTenancyIsolation: a host whose aggregates name projects (`filter_tenant_id…`) is for those alone."""

from kilonova.scheduling.arrays import Mask, Rows
from kilonova.scheduling.filters.contract import Filter
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.phrases import Phrase
from kilonova.scheduling.request import Request


def _is_open_to_project(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    return hosts.tenants.test(lambda tenants: not tenants or request.project_id in tenants, rows)


AGGREGATE_MULTITENANCY_ISOLATION = Filter(
    name="AggregateMultiTenancyIsolation",
    code="project.isolated",
    # Which projects is nobody's business but theirs.
    phrase=Phrase("is kept for other projects", "are kept for other projects"),
    passes=_is_open_to_project,
)
