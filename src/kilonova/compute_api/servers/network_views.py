"""A server's addresses and security groups as resources of their own."""

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.servers import rules
from kilonova.compute_api.servers.finding import get_server
from kilonova.compute_api.servers.view import plain_addresses
from kilonova.domain.errors import NotFound
from kilonova.http.calls import Answer, Call


async def addresses(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/{server_id}/ips."""
    async with parts.database.read() as transaction:
        server = await get_server(transaction, call, rules.ADDRESSES + "index")
    return Answer(body={"addresses": plain_addresses(server.addresses)})


async def addresses_of_network(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/{server_id}/ips/{network}: by the network's name."""
    async with parts.database.read() as transaction:
        server = await get_server(transaction, call, rules.ADDRESSES + "show")
    found = plain_addresses(server.addresses)
    name = call.path["network"]
    if name not in found:
        raise NotFound("Instance is not a member of specified network")
    return Answer(body={name: found[name]})


async def security_groups(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/{server_id}/os-security-groups: what the server was given, by name or id as it was asked for."""
    async with parts.database.read() as transaction:
        server = await get_server(transaction, call, rules.SECURITY_GROUPS)
    shown = [
        {"id": name, "name": name, "description": "", "tenant_id": server.project_id, "rules": []}
        for name in server.security_groups
    ]
    return Answer(body={"security_groups": shown})
