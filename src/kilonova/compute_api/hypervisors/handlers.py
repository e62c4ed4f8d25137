"""/os-hypervisors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from kilonova.compute_api.hypervisors.view import FULL, SHORT, UPTIME, Hypervisor, hostname, statistics, with_servers
from kilonova.compute_api.parts import ComputeParts
from kilonova.domain.errors import BadRequest, NotFound
from kilonova.http.calls import Answer, Call
from kilonova.http.paging import next_link, page_limit
from kilonova.http.shapes import truth, whole_number
from kilonova.http.views import View
from kilonova.storage import host_trees, hosts
from kilonova.storage.database import Transaction
from kilonova.storage.hosts import HostRecord

_PAGES_SINCE: Final = 33
_UUIDS_SINCE: Final = 53
_EMPTY_LIST_SINCE: Final = 75


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-hypervisors"""
    return await _page(call, parts, SHORT)


async def detail(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-hypervisors/detail"""
    return await _page(call, parts, FULL)


async def _page(call: Call, parts: ComputeParts, view: View[Hypervisor]) -> Answer:
    pattern = call.first("hypervisor_hostname_pattern") if call.version >= _UUIDS_SINCE else None
    paged = call.version >= _PAGES_SINCE
    if pattern and ("limit" in call.query or "marker" in call.query):
        raise BadRequest("Paging over hypervisors with the hypervisor_hostname_pattern query parameter is not supported.")
    async with parts.database.read() as tx:
        found: Sequence[HostRecord] = await hosts.all_hosts(tx)
        if pattern:
            found = _matching(found, pattern)
        limit = page_limit(call, parts.api.max_limit) if paged and not pattern else len(found)
        found = _after(found, call)[:limit] if paged else found
        items = await _loaded(tx, found, _wants_servers(call))
    body: dict[str, Any] = {"hypervisors": [_render(call, view, item) for item in items]}
    links = next_link(call, found, limit, _name(found[-1], call)) if found and paged and not pattern else []
    if links:
        body["hypervisors_links"] = links
    return Answer(body=body)


def _matching(found: Sequence[HostRecord], pattern: str) -> list[HostRecord]:
    matching = [host for host in found if pattern in hostname(host)]
    if not matching:
        raise NotFound(f"No hypervisor matching '{pattern}' could be found.")
    return matching


def _name(host: HostRecord, call: Call) -> str:
    return host.provider_uuid if call.version >= _UUIDS_SINCE else str(host.id)


def _after(found: Sequence[HostRecord], call: Call) -> Sequence[HostRecord]:
    marker = call.first("marker")
    if marker is None:
        return found
    place = next((place for place, host in enumerate(found, 1) if _name(host, call) == marker), None)
    if place is None:
        raise BadRequest(f"marker [{marker}] not found")
    return found[place:]


def _wants_servers(call: Call) -> bool:
    return call.version >= _UUIDS_SINCE and truth(call.first("with_servers", "false"))


async def _loaded(tx: Transaction, found: Sequence[HostRecord], servers: bool) -> list[Hypervisor]:
    amounts = await host_trees.amounts_of(tx, [host.provider_uuid for host in found])
    names = [host.name for host in found]
    counts = await hosts.count_servers(tx, names)
    held = await hosts.servers_on(tx, names) if servers else {}
    return [
        Hypervisor(
            host,
            amounts.get(host.provider_uuid, {}),
            counts.get(host.name, 0),
            held.get(host.name, []) if servers else None,
        )
        for host in found
    ]


def _render(call: Call, view: View[Hypervisor], item: Hypervisor) -> dict[str, Any]:
    return with_servers(view.at(call.version, call.allows)(item), item, call.version >= _EMPTY_LIST_SINCE)


async def _found(tx: Transaction, call: Call) -> HostRecord:
    """The host of the path. Raises errors.BadRequest for what is no uuid from 2.53 on, errors.NotFound."""
    text = call.path["hypervisor_id"]
    host = None
    if call.version >= _UUIDS_SINCE:
        try:
            host = await hosts.find_by_provider(tx, str(UUID(text)))
        except ValueError as error:
            raise BadRequest(f"Invalid uuid {text}") from error
    elif (number := whole_number(text)) is not None:
        host = await hosts.find_by_number(tx, number)
    if host is None:
        raise NotFound(f"Hypervisor with ID '{text}' could not be found.")
    return host


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-hypervisors/{hypervisor_id}"""
    async with parts.database.read() as tx:
        items = await _loaded(tx, [await _found(tx, call)], _wants_servers(call))
    return Answer(body={"hypervisor": _render(call, FULL, items[0])})


async def uptime(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-hypervisors/{hypervisor_id}/uptime until 2.87"""
    async with parts.database.read() as tx:
        host = await _found(tx, call)
    if not host.hypervisor.get("uptime"):
        raise BadRequest(f"The hypervisor {hostname(host)} does not say how long it has been running.")
    return Answer(body={"hypervisor": _render(call, UPTIME, Hypervisor(host))})


async def sums(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-hypervisors/statistics until 2.87"""
    async with parts.database.read() as tx:
        items = await _loaded(tx, await hosts.all_hosts(tx), servers=False)
    return Answer(body={"hypervisor_statistics": statistics(items)})


async def search(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-hypervisors/{pattern}/search until 2.52"""
    async with parts.database.read() as tx:
        found = _matching(await hosts.all_hosts(tx), call.path["hypervisor_id"])
    return Answer(body={"hypervisors": [_render(call, SHORT, Hypervisor(host)) for host in found]})


async def servers(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-hypervisors/{pattern}/servers until 2.52"""
    async with parts.database.read() as tx:
        found = _matching(await hosts.all_hosts(tx), call.path["hypervisor_id"])
        held = await hosts.servers_on(tx, [host.name for host in found])
    items = [replace(Hypervisor(host), servers=held.get(host.name, [])) for host in found]
    return Answer(body={"hypervisors": [_render(call, SHORT, item) for item in items]})
