"""Security groups and their rules through HTTP."""

from typing import Any
from uuid import uuid4

import pytest

from .neighbourhood import Neighbourhood


async def test_every_project_has_one_default_group_with_four_rules(near: Neighbourhood) -> None:
    for caller in (near, near.as_("bob"), near):
        (group,) = (await caller.get("/security-groups"))["security_groups"]
        assert (group["name"], group["is_default"]) == ("default", True)
        found = {(rule["direction"], rule["ethertype"]): rule["remote_group_id"] for rule in group["security_group_rules"]}
        inward, outward = dict.fromkeys(("IPv4", "IPv6"), group["id"]), dict.fromkeys(("IPv4", "IPv6"))
        assert found == {
            **{("ingress", kind): remote for kind, remote in inward.items()},
            **{("egress", kind): remote for kind, remote in outward.items()},
        }


async def test_the_default_group_keeps_its_name_and_place(near: Neighbourhood) -> None:
    (group,) = (await near.get("/security-groups"))["security_groups"]
    path = f"/security-groups/{group['id']}"
    assert await near.refused("DELETE", path) == (409, "SecurityGroupCannotRemoveDefault")
    body = {"security_group": {"name": "other"}}
    assert await near.refused("PUT", path, body) == (409, "SecurityGroupCannotUpdateDefault")
    body = {"security_group": {"name": "default"}}
    assert await near.refused("POST", "/security-groups", body) == (409, "SecurityGroupDefaultAlreadyExists")
    changed = await near.ask("PUT", path, {"security_group": {"description": "ours"}})
    assert changed["security_group"]["description"] == "ours"


async def test_a_group_lets_everything_out_until_told_otherwise(near: Neighbourhood) -> None:
    group = await near.make("security_group", name="web", description="d", stateful=False)
    assert [rule["direction"] for rule in group["security_group_rules"]] == ["egress", "egress"]
    assert group["stateful"] is False
    for rule in group["security_group_rules"]:
        await near.ask("DELETE", f"/security-group-rules/{rule['id']}", status=204)
    assert (await near.get(f"/security-groups/{group['id']}"))["security_group"]["security_group_rules"] == []


async def test_a_group_in_use_stays(near: Neighbourhood) -> None:
    group = await near.make("security_group", name="web")
    net = await near.net("10.0.0.0/24")
    port = await near.make("port", network_id=net, security_groups=[group["id"]])
    await near.make("port", network_id=net, description=f"not in {group['id']}")
    path = f"/security-groups/{group['id']}"
    assert await near.refused("DELETE", path) == (409, "SecurityGroupInUse")
    await near.ask("PUT", f"/ports/{port['id']}", {"port": {"security_groups": []}})
    await near.ask("DELETE", path, status=204)
    assert await near.refused("GET", path) == (404, "SecurityGroupNotFound")
    assert (await near.get(f"/security-group-rules?security_group_id={group['id']}"))["security_group_rules"] == []


async def test_a_rule_has_what_clients_read(near: Neighbourhood) -> None:
    group = await near.make("security_group", name="web")
    asked = {"protocol": "TCP", "port_range_min": "80", "port_range_max": 90, "remote_ip_prefix": "10.0.0.5/8"}
    rule = await near.make("security_group_rule", security_group_id=group["id"], direction="ingress", **asked)
    assert (rule["protocol"], rule["port_range_min"], rule["ethertype"]) == ("tcp", 80, "IPv4")
    assert rule["remote_ip_prefix"] == rule["normalized_cidr"] == "10.0.0.0/8"
    assert (await near.get(f"/security-group-rules/{rule['id']}"))["security_group_rule"] == rule
    body = {"security_group_rule": {"security_group_id": group["id"], "direction": "ingress", **asked}}
    assert await near.refused("POST", "/security-group-rules", body) == (409, "SecurityGroupRuleExists")


@pytest.mark.parametrize(
    "body",
    [
        {"protocol": "morse"},
        {"protocol": "300"},
        {"port_range_min": 80, "port_range_max": 90},
        {"protocol": "tcp", "port_range_min": 90, "port_range_max": 80},
        {"protocol": "tcp", "port_range_min": 90},
        {"protocol": "icmp", "port_range_max": 1},
        {"protocol": "icmp", "port_range_min": 300},
        {"remote_ip_prefix": "fd00::/64"},
        {"remote_ip_prefix": "ten"},
        {"remote_ip_prefix": "10.0.0.0/8", "remote_group_id": str(uuid4())},
        {"direction": "sideways"},
    ],
)
async def test_a_wrong_rule_is_refused(near: Neighbourhood, body: dict[str, Any]) -> None:
    (group,) = (await near.get("/security-groups"))["security_groups"]
    asked = {"security_group_id": group["id"], "direction": "ingress", **body}
    status, _ = await near.refused("POST", "/security-group-rules", {"security_group_rule": asked})
    assert status == 400


async def test_anothers_group_can_neither_be_opened_nor_named(near: Neighbourhood) -> None:
    group = await near.make("security_group", name="web")
    bob = near.as_("bob")
    (own,) = (await bob.get("/security-groups"))["security_groups"]
    for groups in ({"security_group_id": group["id"]}, {"security_group_id": own["id"], "remote_group_id": group["id"]}):
        body = {"security_group_rule": {"direction": "ingress", **groups}}
        assert await bob.refused("POST", "/security-group-rules", body) == (404, "SecurityGroupNotFound")
