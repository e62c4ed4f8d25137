"""Reads which networks a request for servers asks for, and has the network service check them."""

from collections.abc import Sequence
from typing import Any

from kilonova.compute_api.parts import ComputeParts
from kilonova.domain.errors import BadRequest
from kilonova.domain.network import AskedNetwork
from kilonova.http.calls import Call


async def asked_networks(call: Call, parts: ComputeParts, servers: int) -> tuple[AskedNetwork, ...]:
    """The network cards of each of `servers` servers. Raises errors.BadRequest, errors.Conflict, errors.Unavailable."""
    asked = call.body["server"].get("networks")
    if asked == "none":
        return ()
    # Before 2.37 a list without entries was the same as none at all: the cloud chooses.
    if asked is None or asked == "auto" or (not asked and call.version < 37):
        return await parts.networks.automatic(call.caller)
    cards = _cards(asked, servers)
    return await parts.networks.check(call.caller, cards) if cards else ()


def _cards(asked: Sequence[dict[str, Any]], servers: int) -> tuple[AskedNetwork, ...]:
    cards = []
    for entry in asked:
        port, address = entry.get("port") or "", entry.get("fixed_ip") or ""
        network = entry.get("uuid") or ""
        if not port and not network:
            raise BadRequest("Bad networks format: a network or a port is needed (uuid, port)")
        if port and address:
            raise BadRequest(f"Specified Fixed IP '{address}' cannot be used with port '{port}': give one of the two.")
        if servers > 1 and (port or address):
            raise BadRequest("Unable to launch multiple instances with a single port or fixed IP address.")
        # A port decides its network, whatever stands beside it.
        cards.append(AskedNetwork("" if port else network, port, address, entry.get("tag", "")))
    ports = [card.port_id for card in cards if card.port_id]
    if len(set(ports)) < len(ports):
        raise BadRequest("Bad networks format: the same port is asked for more than once.")
    return tuple(cards)
