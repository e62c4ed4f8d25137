from typing import Any
from uuid import uuid4

import os_traits

from kilonova.domain.clock import now
from kilonova.storage import hosts, processes
from kilonova.storage.database import Transaction
from kilonova.storage.processes import ProcessRecord

from .site import Cloud


async def _conductor(cloud: Cloud) -> str:
    async def add(tx: Transaction) -> str:
        number = await hosts.next_number(tx)
        process = ProcessRecord(str(uuid4()), number, "nova-conductor", "ctl", False, None, now(), now())
        await processes.insert_process(tx, process)
        return process.id

    return await cloud.database.transact(add)


async def _service(cloud: Cloud, host: str, at: str = "2.104") -> dict[str, Any]:
    services: list[dict[str, Any]] = (await cloud.get(f"/os-services?host={host}", at=at))["services"]
    return services[0]


async def test_hosts_and_processes_are_listed(cloud: Cloud) -> None:
    host, _ = await cloud.host("h1"), await _conductor(cloud)
    services = (await cloud.get("/os-services"))["services"]
    assert {(row["binary"], row["host"], row["zone"], row["state"]) for row in services} == {
        ("nova-compute", "h1", "nova", "up"),
        ("nova-conductor", "ctl", "internal", "up"),
    }
    assert len({row["id"] for row in services}) == 2
    assert "forced_down" not in services[0]
    new = (await cloud.get("/os-services?binary=nova-compute", at="2.53"))["services"]
    assert [(row["id"], row["forced_down"]) for row in new] == [(host.service_id, False)]
    assert (await cloud.call("GET", "/os-services", who="user")).status_code == 403


async def test_a_disabled_host_is_marked_for_searches(cloud: Cloud) -> None:
    host = await cloud.host("h1")
    path = f"/os-services/{host.service_id}"
    before = await cloud.provider(host.provider_uuid)
    answer = await cloud.call("PUT", path, {"status": "disabled", "disabled_reason": "fire"}, at="2.53")
    shown = answer.json()["service"]
    assert (shown["status"], shown["disabled_reason"]) == ("disabled", "fire")
    marked = await cloud.provider(host.provider_uuid)
    assert os_traits.COMPUTE_STATUS_DISABLED in marked.traits
    assert marked.generation > before.generation
    answer = await cloud.call("PUT", path, {"status": "enabled"}, at="2.53")
    assert answer.json()["service"]["disabled_reason"] is None
    assert os_traits.COMPUTE_STATUS_DISABLED not in (await cloud.provider(host.provider_uuid)).traits


async def test_a_host_can_be_forced_down(cloud: Cloud) -> None:
    host = await cloud.host("h1")
    answer = await cloud.call("PUT", f"/os-services/{host.service_id}", {"forced_down": True}, at="2.53")
    assert answer.json()["service"]["forced_down"] is True
    assert (await _service(cloud, "h1"))["state"] == "down"


async def test_an_update_that_cannot_be_is_refused(cloud: Cloud) -> None:
    host, conductor = await cloud.host("h1"), await _conductor(cloud)
    path = f"/os-services/{host.service_id}"
    for body in ({}, {"disabled_reason": "x"}, {"status": "enabled", "disabled_reason": "x"}, {"status": "away"}):
        assert (await cloud.call("PUT", path, body, at="2.53")).status_code == 400
    assert (await cloud.call("PUT", "/os-services/zz", {"status": "enabled"}, at="2.53")).status_code == 400
    assert (await cloud.call("PUT", f"/os-services/{uuid4()}", {"status": "enabled"}, at="2.53")).status_code == 404
    assert (await cloud.call("PUT", f"/os-services/{conductor}", {"status": "disabled"}, at="2.53")).status_code == 400


async def test_older_versions_say_what_to_do_in_the_path(cloud: Cloud) -> None:
    await cloud.host("h1")
    body = {"host": "h1", "binary": "nova-compute"}
    answer = await cloud.call("PUT", "/os-services/disable", body)
    assert answer.json() == {"service": {**body, "status": "disabled"}}
    reason = {**body, "disabled_reason": "fire"}
    answer = await cloud.call("PUT", "/os-services/disable-log-reason", reason)
    assert answer.json() == {"service": {**reason, "status": "disabled"}}
    assert (await _service(cloud, "h1"))["disabled_reason"] == "fire"
    assert (await cloud.call("PUT", "/os-services/enable", body)).json()["service"]["status"] == "enabled"
    force = {**body, "forced_down": True}
    assert (await cloud.call("PUT", "/os-services/force-down", body, at="2.10")).status_code == 404
    assert (await cloud.call("PUT", "/os-services/force-down", force, at="2.11")).json() == {"service": force}
    assert (await cloud.call("PUT", "/os-services/disable-log-reason", body)).status_code == 400
    assert (await cloud.call("PUT", "/os-services/explode", body)).status_code == 404
    assert (await cloud.call("PUT", "/os-services/enable", {**body, "host": "zz"})).status_code == 404


async def test_a_host_with_servers_is_not_deleted(cloud: Cloud) -> None:
    host = await cloud.host("h1")
    await cloud.server("s", "h1")
    assert (await cloud.call("DELETE", f"/os-services/{host.service_id}", at="2.53")).status_code == 409
    assert await cloud.has_provider(host.provider_uuid)


async def test_a_deleted_host_takes_its_provider_and_places_along(cloud: Cloud) -> None:
    host, number = await cloud.host("h1"), await cloud.aggregate("a", "az1")
    await cloud.act(number, "add_host", host="h1")
    assert (await cloud.call("DELETE", f"/os-services/{host.service_id}", at="2.53")).status_code == 204
    assert not await cloud.has_provider(host.provider_uuid)
    assert (await cloud.get("/os-services"))["services"] == []
    assert (await cloud.get(f"/os-aggregates/{number}"))["aggregate"]["hosts"] == []
    assert (await cloud.call("DELETE", f"/os-services/{host.service_id}", at="2.53")).status_code == 404


async def test_older_versions_delete_by_number(cloud: Cloud) -> None:
    host = await cloud.host("h1")
    for bad, status in (("x", 400), (str(host.id + 1), 404), ("9" * 30, 404)):
        assert (await cloud.call("DELETE", f"/os-services/{bad}")).status_code == status
    assert (await cloud.call("DELETE", f"/os-services/{host.id}")).status_code == 204
