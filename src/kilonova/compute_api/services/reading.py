"""Reads services for whoever shows them: the list of services and the availability zones."""

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.services.rows import Service, service_of_host, service_of_process
from kilonova.domain.clock import now
from kilonova.storage import aggregates, hosts, processes
from kilonova.storage.database import Transaction


async def all_services(tx: Transaction, parts: ComputeParts) -> list[Service]:
    """Control processes and hosts, each kind by number."""
    zones = aggregates.zones_by_host(await aggregates.all_aggregates(tx))
    moment = now()
    control = [service_of_process(process, parts.api.internal_zone, moment) for process in await processes.all_processes(tx)]
    compute = [service_of_host(host, zones, parts.api.default_zone) for host in await hosts.all_hosts(tx)]
    return [*control, *compute]
