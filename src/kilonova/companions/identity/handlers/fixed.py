"""What is the same in every cloud and can only be read: the domain, the region, services and their endpoints."""

from kilonova.companions.identity import view
from kilonova.companions.identity.parts import IdentityParts
from kilonova.domain.errors import NotFound
from kilonova.http.calls import Answer, Call


async def domains(call: Call, parts: IdentityParts) -> Answer:
    """The only domain, unless another name is asked for."""
    asked = call.first("name", view.DOMAIN["name"]) or ""
    shown = [view.domain(call)] if asked.lower() == view.DOMAIN["name"].lower() else []
    return view.collection(call, "domains", shown)


async def domain(call: Call, parts: IdentityParts) -> Answer:
    """The only domain."""
    if call.path["domain_id"] != view.DOMAIN["id"]:
        raise NotFound(f"Could not find domain: {call.path['domain_id']}.")
    return Answer(body={"domain": view.domain(call)})


async def regions(call: Call, parts: IdentityParts) -> Answer:
    """The only region."""
    return view.collection(call, "regions", [view.region(call, parts.catalog.region)])


async def region(call: Call, parts: IdentityParts) -> Answer:
    """The only region."""
    if call.path["region_id"] != parts.catalog.region:
        raise NotFound(f"Could not find region: {call.path['region_id']}.")
    return Answer(body={"region": view.region(call, parts.catalog.region)})


async def services(call: Call, parts: IdentityParts) -> Answer:
    """All services, or those of the type or name asked for."""
    kind, name = call.first("type"), call.first("name")
    found = [
        item for item in parts.catalog.services if (kind is None or item.type == kind) and (name is None or item.name == name)
    ]
    return view.collection(call, "services", [view.service(call, item) for item in found])


async def service(call: Call, parts: IdentityParts) -> Answer:
    """One service."""
    found = next((item for item in parts.catalog.services if item.id == call.path["service_id"]), None)
    if found is None:
        raise NotFound(f"Could not find service: {call.path['service_id']}.")
    return Answer(body={"service": view.service(call, found)})


async def endpoints(call: Call, parts: IdentityParts) -> Answer:
    """All endpoints, or those of the interface, service or region asked for."""
    interface, service_id, region_id = call.first("interface"), call.first("service_id"), call.first("region_id")
    found = [
        item
        for item in parts.catalog.endpoints
        if (interface is None or item.interface == interface)
        and (service_id is None or item.service.id == service_id)
        and (region_id is None or item.region == region_id)
    ]
    return view.collection(call, "endpoints", [view.endpoint(call, item) for item in found])


async def endpoint(call: Call, parts: IdentityParts) -> Answer:
    """One endpoint."""
    found = next((item for item in parts.catalog.endpoints if item.id == call.path["endpoint_id"]), None)
    if found is None:
        raise NotFound(f"Could not find endpoint: {call.path['endpoint_id']}.")
    return Answer(body={"endpoint": view.endpoint(call, found)})
