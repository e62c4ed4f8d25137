"""POST /servers/{id}/action and DELETE: what reaches the acceptor, and what is refused before."""

from typing import Any

import pytest

from kilonova.compute_api.routes import ACTIONS
from kilonova.compute_api.servers.actions import NOT_YET

from .cloud import OTHER_PROJECT, Cloud, server


@pytest.mark.parametrize(
    ("body", "kind", "content"),
    [
        ({"os-start": None}, "start", {}),
        ({"os-stop": {}}, "stop", {}),
        ({"reboot": {"type": "SOFT"}}, "reboot", {"hard": False}),
        ({"reboot": {"type": "hard"}}, "reboot", {"hard": True}),
        ({"forceDelete": ""}, "delete", {}),
    ],
)
async def test_an_action_is_handed_to_the_acceptor(cloud: Cloud, body: Any, kind: str, content: Any) -> None:
    made = server(vm_state="stopped")
    await cloud.add(made)
    assert (await cloud.call("POST", f"/servers/{made.id}/action", body)).status_code == 202
    assert cloud.acceptor.acts == [(kind, made.id, content)]


@pytest.mark.parametrize(
    "body", [{}, {"os-start": None, "os-stop": None}, {"dance": None}, {"reboot": {}}, {"reboot": {"type": "X"}}, [1], "x"]
)
async def test_a_body_that_names_no_action_is_refused(cloud: Cloud, body: Any) -> None:
    made = server()
    await cloud.add(made)
    assert (await cloud.call("POST", f"/servers/{made.id}/action", body)).status_code == 400


@pytest.mark.parametrize("name", sorted(NOT_YET))
async def test_an_action_that_is_not_served_is_refused_by_name(cloud: Cloud, name: str) -> None:
    answer = await cloud.call("POST", "/servers/any/action", {name: None})
    assert (answer.status_code, name in answer.json()["badRequest"]["message"]) == (400, True)


def test_no_action_is_both_served_and_not() -> None:
    assert not NOT_YET & {action.name for action in ACTIONS}


async def test_the_wrong_state_is_a_conflict_with_its_reason(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    answer = await cloud.call("POST", f"/servers/{made.id}/action", {"os-start": None})
    assert answer.status_code == 409
    assert "vm_state active" in answer.json()["conflictingRequest"]["message"]


async def test_readers_and_strangers_act_on_nothing(cloud: Cloud) -> None:
    mine, theirs = server(), server(project_id=OTHER_PROJECT)
    await cloud.add(mine, theirs)
    assert (await cloud.call("POST", f"/servers/{mine.id}/action", {"os-stop": None}, token="reader")).status_code == 403
    assert (await cloud.call("POST", f"/servers/{theirs.id}/action", {"os-stop": None})).status_code == 404
    assert (await cloud.call("POST", f"/servers/{mine.id}/action", {"os-resetState": {"state": "error"}})).status_code == 403
    assert cloud.acceptor.acts == []


async def test_a_state_is_reset_by_administrators_but_not_to_active_without_a_host(cloud: Cloud) -> None:
    made = server(task_state="spawning", vm_state="building", host=None)
    await cloud.add(made)
    path = f"/servers/{made.id}/action"
    assert (await cloud.call("POST", path, {"os-resetState": {"state": "active"}}, token="admin")).status_code == 409
    assert (await cloud.call("POST", path, {"os-resetState": {"state": "error"}}, token="admin")).status_code == 202
    shown = (await cloud.get(f"/servers/{made.id}"))["server"]
    assert (shown["status"], shown["OS-EXT-STS:task_state"]) == ("ERROR", None)


async def test_console_output_is_asked_of_the_host(cloud: Cloud) -> None:
    made, homeless = server(), server(host=None)
    await cloud.add(made, homeless)
    asked = {"os-getConsoleOutput": {"length": "5"}}
    assert (await cloud.call("POST", f"/servers/{made.id}/action", asked)).json() == {"output": f"host-1 {made.id} 5"}
    everything = {"os-getConsoleOutput": {"length": -1}}
    assert (await cloud.call("POST", f"/servers/{made.id}/action", everything)).json()["output"].endswith("None")
    assert (await cloud.call("POST", f"/servers/{homeless.id}/action", {"os-getConsoleOutput": {}})).status_code == 409


async def test_addresses_and_groups_are_resources_too(cloud: Cloud) -> None:
    port = {
        "id": "p", "network_id": "n", "network_name": "net", "mac_address": "m", "made": True, "tag": "",
        "fixed_ips": [{"ip_address": "fe80::1", "subnet_id": "s", "version": 6}],
    }  # fmt: skip
    made = server(addresses=(port,))
    await cloud.add(made)
    assert await cloud.get(f"/servers/{made.id}/ips") == {"addresses": {"net": [{"version": 6, "addr": "fe80::1"}]}}
    assert await cloud.get(f"/servers/{made.id}/ips/net") == {"net": [{"version": 6, "addr": "fe80::1"}]}
    assert (await cloud.call("GET", f"/servers/{made.id}/ips/other")).status_code == 404
    groups = (await cloud.get(f"/servers/{made.id}/os-security-groups"))["security_groups"]
    assert [group["name"] for group in groups] == ["default"]
