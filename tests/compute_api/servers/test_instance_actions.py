"""GET /servers/{id}/os-instance-actions: operations and their steps as users read them."""

from typing import Any

import pytest

from .cloud import PROJECT, START, Cloud, server

pytestmark = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)

SECOND = 1_000_000


async def operation(cloud: Cloud, server_id: str, number: int, kind: str, result: str | None, **more: Any) -> None:
    at = START + number * SECOND
    await cloud.sql(
        "INSERT INTO operations (id, kind, version, server_id, project_id, user_id, request_id, cell, exclusive, live, parked, "
        "token, owner, lease_until, input, result, message, started_at, updated_at, finished_at) "
        "VALUES (?, ?, 1, ?, ?, 'user-1', ?, 'cell1', FALSE, ?, FALSE, 1, '', 0, '{}', ?, ?, ?, ?, ?)",
        f"op-{number}", kind, server_id, PROJECT, f"req-{number}", result is None, result, more.get("message"), at, at,
        None if result is None else at,
    )  # fmt: skip


async def step(cloud: Cloud, number: int, key: str, outcome: str | None, position: int = 0, host: str | None = None) -> None:
    finished = None if outcome is None else START + number * SECOND
    await cloud.sql(
        "INSERT INTO operation_steps VALUES (?, ?, ?, '{}', ?, ?, ?, ?)",
        f"op-{number}", key, position, outcome, host, START, finished,
    )  # fmt: skip


async def test_actions_are_listed_newest_first(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    await operation(cloud, made.id, 1, "create", "Success")
    await operation(cloud, made.id, 2, "stop", None)
    found = (await cloud.get(f"/servers/{made.id}/os-instance-actions", version="2.1"))["instanceActions"]
    assert [(entry["action"], entry["request_id"], entry["message"]) for entry in found] == [
        ("stop", "req-2", None),
        ("create", "req-1", None),
    ]
    assert found[1] == {
        "action": "create", "instance_uuid": made.id, "request_id": "req-1", "user_id": "user-1", "project_id": PROJECT,
        "start_time": "2026-09-21T14:13:21.000000", "message": None,
    }  # fmt: skip


async def test_a_failed_create_is_one_action_with_one_failed_event(cloud: Cloud) -> None:
    made = server(vm_state="error", host=None)
    await cloud.add(made)
    await operation(cloud, made.id, 1, "create", "Error", message="No valid host was found.")
    await step(cloud, 1, "claim", '{"buried":true}')
    action = (await cloud.get(f"/servers/{made.id}/os-instance-actions/req-1"))["instanceAction"]
    assert action["message"] == "Error"
    (event,) = action["events"]
    assert (event["event"], event["result"]) == ("conductor_schedule_and_build_instances", "Error")
    assert set(event) == {"event", "start_time", "finish_time", "result", "hostId"}


async def test_events_show_more_by_version_and_to_administrators(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    await operation(cloud, made.id, 1, "create", "Error", message="It failed.")
    await step(cloud, 1, "claim", "{}", 0)
    await step(cloud, 1, "build[2]", '{"error":"No disk."}', 1, "host-1")
    path = f"/servers/{made.id}/os-instance-actions/req-1"
    assert "events" not in (await cloud.get(path, version="2.50"))["instanceAction"]
    assert "events" in (await cloud.get(path, version="2.50", token="admin"))["instanceAction"]
    first, second = (await cloud.get(path, version="2.84", token="admin"))["instanceAction"]["events"]
    assert (first["event"], first["result"], first["details"]) == ("conductor_schedule_and_build_instances", "Success", None)
    assert (second["event"], second["details"], second["host"]) == (
        "compute__do_build_and_run_instance", "No disk.", "host-1",
    )  # fmt: skip
    assert second["traceback"] is None
    assert "hostId" not in (await cloud.get(path, version="2.61"))["instanceAction"]["events"][0]


async def test_a_running_step_has_no_end(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    await operation(cloud, made.id, 1, "stop", None)
    await step(cloud, 1, "odd", None)
    (event,) = (await cloud.get(f"/servers/{made.id}/os-instance-actions/req-1"))["instanceAction"]["events"]
    assert (event["event"], event["finish_time"], event["result"]) == ("stop_odd", None, None)


async def test_actions_of_deleted_servers_are_seen_from_2_21(cloud: Cloud) -> None:
    made = server(deleted=True, vm_state="deleted")
    await cloud.add(made)
    await operation(cloud, made.id, 1, "delete", "Success")
    path = f"/servers/{made.id}/os-instance-actions"
    assert (await cloud.call("GET", path, version="2.20")).status_code == 404
    assert len((await cloud.get(path, version="2.21"))["instanceActions"]) == 1
    assert (await cloud.call("GET", f"{path}/req-9")).status_code == 404


async def test_actions_are_paged_from_2_58(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    for number in range(1, 4):
        await operation(cloud, made.id, number, "stop", "Success")
    path = f"/servers/{made.id}/os-instance-actions"
    page = await cloud.get(f"{path}?limit=2")
    assert [entry["request_id"] for entry in page["instanceActions"]] == ["req-3", "req-2"]
    assert page["links"][0]["href"].endswith("limit=2&marker=req-2")
    rest = await cloud.get(f"{path}?limit=2&marker=req-2")
    assert [entry["request_id"] for entry in rest["instanceActions"]] == ["req-1"]
    assert len((await cloud.get(f"{path}?changes-since=2026-09-21T14:13:23Z"))["instanceActions"]) == 1
    assert len((await cloud.get(f"{path}?changes-before=2026-09-21T14:13:22Z"))["instanceActions"]) == 2
    assert (await cloud.call("GET", f"{path}?changes-before=2026-09-21T14:13:22Z", version="2.65")).status_code == 400
    assert (await cloud.call("GET", f"{path}?marker=req-9")).status_code == 400
    assert len((await cloud.get(f"{path}?limit=1", version="2.57"))["instanceActions"]) == 3
