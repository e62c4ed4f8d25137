"""Rules of security groups."""

from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any, Final

from kilonova.companions.network.faults import InvalidInput, SecurityGroupRuleExists, SecurityGroupRuleNotFound
from kilonova.companions.network.groups import new_rule
from kilonova.companions.network.handlers.security_groups import own_group
from kilonova.companions.network.lists import narrowing
from kilonova.companions.network.ownership import own, owns, require
from kilonova.companions.network.parts import RULE, NetworkParts
from kilonova.domain.clock import now
from kilonova.http.calls import Answer, Call
from kilonova.storage.database import Transaction
from kilonova.storage.networks import Hold, Record
from kilonova.storage.security_groups import GROUPS, RULES

# fmt: off
PROTOCOLS: Final = frozenset({
    "ah", "dccp", "egp", "esp", "gre", "icmp", "icmpv6", "igmp", "ipip", "ipv6-encap",
    "ipv6-frag", "ipv6-icmp", "ipv6-nonxt", "ipv6-opts", "ipv6-route",
    "ospf", "pgm", "rsvp", "sctp", "tcp", "udp", "udplite", "vrrp",
})
# fmt: on
"""Names of IP protocols that the network API takes besides numbers."""

_PORTED: Final = frozenset({"tcp", "udp", "sctp", "dccp", "udplite", "6", "17", "132", "33", "136"})
_MESSAGES: Final = frozenset({"icmp", "icmpv6", "ipv6-icmp", "1", "58"})
_DISTINCT: Final = (
    "direction",
    "ethertype",
    "protocol",
    "port_range_min",
    "port_range_max",
    "remote_ip_prefix",
    "remote_group_id",
)


async def list_rules(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/security-group-rules."""
    match = narrowing(call, ("id", "security_group_id"))
    async with parts.database.read() as transaction:
        found = await RULES.select(transaction, match)
    return RULE.listed(call, [rule for rule in found if owns(call.caller, rule)])


async def show_rule(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/security-group-rules/{id}."""
    async with parts.database.read() as transaction:
        return RULE.shown(call, await _own_rule(transaction, call))


async def _own_rule(transaction: Transaction, call: Call, hold: Hold = "") -> Record:
    rule_id = call.path["id"]
    rule = await RULES.find(transaction, rule_id, hold)
    return own(call, rule, SecurityGroupRuleNotFound(f"Security group rule {rule_id} could not be found."))


async def create_rules(call: Call, parts: NetworkParts) -> Answer:
    """POST /v2.0/security-group-rules."""
    bodies = RULE.bodies(call)

    async def work(transaction: Transaction) -> list[Record]:
        return [await _create(transaction, call, body) for body in bodies]

    return RULE.born(call, await parts.database.transact(work))


async def _create(transaction: Transaction, call: Call, body: Mapping[str, Any]) -> Record:
    # Held, so that the same rule cannot be made twice at once.
    group = await own_group(transaction, call, body["security_group_id"], "change")
    require(call, "create_security_group_rule", group)
    wanted = _checked(body)
    if wanted["remote_group_id"] is not None:
        await own_group(transaction, call, wanted["remote_group_id"], "use")
    for present in await RULES.select(transaction, {"security_group_id": [group.id]}):
        if all(present.fields[name] == wanted[name] for name in _DISTINCT):
            raise SecurityGroupRuleExists(f"Security group {group.id} has this rule already: {present.id}.")
    rule = new_rule(group, **wanted)
    await RULES.insert(transaction, rule)
    await GROUPS.save(transaction, group.changed(now()))
    return rule


def _checked(body: Mapping[str, Any]) -> dict[str, Any]:
    """The rule as it is kept. Raises InvalidInput where its parts do not fit together."""
    prefix = body.get("remote_ip_prefix")
    ethertype = body.get("ethertype") or "IPv4"
    if prefix is not None:
        if body.get("remote_group_id") is not None:
            raise InvalidInput("remote_ip_prefix and remote_group_id: only one of them can be given.")
        prefix = _prefix(prefix, ethertype)
    protocol = _protocol(body.get("protocol"))
    bounds = [None if body.get(name) is None else int(body[name]) for name in ("port_range_min", "port_range_max")]
    _check_ports(protocol, bounds[0], bounds[1])
    return {
        "direction": body["direction"],
        "ethertype": ethertype,
        "protocol": protocol,
        "port_range_min": bounds[0],
        "port_range_max": bounds[1],
        "remote_ip_prefix": prefix,
        "remote_group_id": body.get("remote_group_id"),
        "description": body.get("description") or "",
    }


def _prefix(prefix: str, ethertype: str) -> str:
    try:
        network = ip_network(prefix, strict=False)
    except ValueError as error:
        raise InvalidInput(f"remote_ip_prefix: {error}.") from error
    if ethertype != f"IPv{network.version}":
        raise InvalidInput(f"remote_ip_prefix: {prefix} is no block of ethertype {ethertype}.")
    return str(network)


def _protocol(asked: Any) -> str | None:
    if asked is None or str(asked).lower() == "any":
        return None
    protocol = str(asked).lower()
    known = int(protocol) <= 255 if protocol.isascii() and protocol.isdigit() else protocol in PROTOCOLS
    if not known:
        raise InvalidInput(f"protocol: {asked} is no IP protocol.")
    return protocol


def _check_ports(protocol: str | None, low: int | None, high: int | None) -> None:
    if low is None and high is None:
        return
    if protocol in _MESSAGES:
        # Type and code: a code means nothing without a type.
        if low is None or low > 255 or (high is not None and high > 255):
            raise InvalidInput("port_range_min and port_range_max: a type and a code from 0 to 255.")
        return
    if protocol not in _PORTED:
        raise InvalidInput("port_range_min and port_range_max need a protocol that has ports.")
    if low is None or high is None or not 1 <= low <= high:
        raise InvalidInput("port_range_min and port_range_max: two ports from 1 to 65535, the smaller one first.")


async def delete_rule(call: Call, parts: NetworkParts) -> Answer:
    """DELETE /v2.0/security-group-rules/{id}."""

    async def work(transaction: Transaction) -> None:
        rule = await _own_rule(transaction, call, "remove")
        require(call, "delete_security_group_rule", rule)
        await RULES.delete(transaction, [rule.id])

    await parts.database.transact(work)
    return Answer(204)
