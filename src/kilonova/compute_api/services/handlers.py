"""/os-services. Two generations: until 2.52 an update names its action in the path, from 2.53 on the service."""

from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.services.reading import all_services
from kilonova.compute_api.services.rows import COMPUTE
from kilonova.compute_api.services.view import SERVICE
from kilonova.domain.clock import now
from kilonova.domain.errors import BadRequest, Conflict, NotFound
from kilonova.http.calls import Answer, Call
from kilonova.http.shapes import truth
from kilonova.storage import aggregates, host_trees, hosts, processes
from kilonova.storage.database import Transaction
from kilonova.storage.hosts import HostRecord

_UUIDS_SINCE: Final = 53
_FORCE_SINCE: Final = 11


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-services"""
    async with parts.database.read() as tx:
        found = await all_services(tx, parts)
    host, binary = call.first("host"), call.first("binary")
    render = SERVICE.at(call.version, call.allows)
    return Answer(
        body={
            "services": [
                render(service)
                for service in found
                if (not host or service.host == host) and (not binary or service.binary == binary)
            ]
        }
    )


def _uuid(call: Call) -> str:
    text = call.path["service_id"]
    try:
        return str(UUID(text))
    except ValueError as error:
        raise BadRequest(f"Invalid uuid {text}") from error


async def update(call: Call, parts: ComputeParts) -> Answer:
    """PUT /os-services/{service_id} from 2.53 on."""
    service_id, asked = _uuid(call), call.body
    if "status" not in asked and "forced_down" not in asked:
        raise BadRequest("No updates were requested. Fields 'status' or 'forced_down' should be specified.")
    if "disabled_reason" in asked and asked.get("status") != "disabled":
        raise BadRequest("Specifying 'disabled_reason' requires that status is 'disabled'.")

    async def change(tx: Transaction) -> None:
        host = await hosts.lock_host(tx, (await _compute_of(tx, service_id)).name)
        if "status" in asked:
            host = await _set_disabled(tx, host, asked["status"] == "disabled", asked.get("disabled_reason"))
        if "forced_down" in asked:
            await _set_forced_down(tx, host, truth(asked["forced_down"]))

    await parts.database.transact(change)
    async with parts.database.read() as tx:
        service = next((row for row in await all_services(tx, parts) if row.id == service_id), None)
    if service is None:
        raise _missing(service_id)
    return Answer(body={"service": SERVICE.at(call.version, call.allows)(service)})


async def _compute_of(tx: Transaction, service_id: str) -> HostRecord:
    host = await hosts.find_by_service(tx, service_id)
    if host is not None:
        return host
    for process in await processes.all_processes(tx):
        if process.id == service_id:
            raise BadRequest(f"Updating a {process.binary} service is not supported. Only {COMPUTE} services can be updated.")
    raise _missing(service_id)


async def _set_disabled(tx: Transaction, host: HostRecord, disabled: bool, reason: str | None) -> HostRecord:
    """Open or close a host for new servers: in its row for people, on its provider for searches."""
    changed = replace(host, disabled=disabled, disabled_reason=reason if disabled else None, updated_at=now())
    await hosts.update_host(tx, changed)
    await host_trees.mark_disabled(tx, host.provider_uuid, disabled)
    return changed


async def _set_forced_down(tx: Transaction, host: HostRecord, forced_down: bool) -> None:
    await hosts.update_host(tx, replace(host, forced_down=forced_down, updated_at=now()))


async def act(call: Call, parts: ComputeParts) -> Answer:
    """PUT /os-services/{enable|disable|disable-log-reason|force-down} until 2.52."""
    verb, asked = call.path["service_id"], call.body
    if verb not in {"enable", "disable", "disable-log-reason", "force-down"}:
        raise NotFound("Unknown action")
    if verb == "force-down":
        return await _force_down(call, parts)
    reason = asked.get("disabled_reason") if verb == "disable-log-reason" else None
    if verb == "disable-log-reason" and reason is None:
        raise BadRequest("Missing disabled reason field")
    disabled = verb != "enable"

    async def change(tx: Transaction) -> None:
        if asked["binary"] == COMPUTE:
            await _set_disabled(tx, await hosts.lock_host(tx, asked["host"]), disabled, reason)
            return
        process = await processes.find_process(tx, asked["binary"], asked["host"])
        if process is None:
            raise NotFound(f"Could not find binary {asked['binary']} on host {asked['host']}.")
        await processes.set_disabled(tx, process.id, disabled, reason)

    await parts.database.transact(change)
    shown: dict[str, Any] = {"host": asked["host"], "binary": asked["binary"], "status": "disabled" if disabled else "enabled"}
    if reason is not None:
        shown["disabled_reason"] = reason
    return Answer(body={"service": shown})


async def _force_down(call: Call, parts: ComputeParts) -> Answer:
    asked = call.body
    if call.version < _FORCE_SINCE:
        raise NotFound("Unknown action")
    if "forced_down" not in asked:
        raise BadRequest("Missing forced_down field")
    forced_down = truth(asked["forced_down"])
    if asked["binary"] != COMPUTE:
        raise NotFound(f"Could not find binary {asked['binary']} that could be forced down on host {asked['host']}.")

    async def change(tx: Transaction) -> None:
        await _set_forced_down(tx, await hosts.lock_host(tx, asked["host"]), forced_down)

    await parts.database.transact(change)
    return Answer(body={"service": {"host": asked["host"], "binary": asked["binary"], "forced_down": forced_down}})


async def delete(call: Call, parts: ComputeParts) -> Answer:
    """DELETE /os-services/{service_id}: the host goes, with its providers and its places in aggregates."""

    async def remove(tx: Transaction) -> None:
        host = await hosts.lock_host(tx, (await _named(tx, call)).name)
        count = (await hosts.count_servers(tx, [host.name])).get(host.name, 0)
        if count:
            raise Conflict(
                f"Unable to delete compute service that is hosting instances ({count}). Migrate or delete the instances first."
            )
        for aggregate in await aggregates.all_aggregates(tx):
            if host.name in aggregate.hosts:
                await aggregates.remove_host(tx, aggregate, host)
        await host_trees.remove_tree(tx, host.provider_uuid)
        await hosts.delete_host(tx, host.name)

    await parts.database.transact(remove)
    return Answer(204)


async def _named(tx: Transaction, call: Call) -> HostRecord:
    text = call.path["service_id"]
    if call.version >= _UUIDS_SINCE:
        return await _compute_of(tx, _uuid(call))
    if not text.isascii() or not text.isdigit():
        raise BadRequest(f"The service's id must be a whole number, not {text!r}.")
    # Longer numbers Python may refuse to read, and no service has one.
    host = await hosts.find_by_number(tx, int(text)) if len(text) <= 18 else None
    if host is None:
        raise _missing(text)
    return host


def _missing(service_id: str) -> NotFound:
    return NotFound(f"Service {service_id} could not be found.")
