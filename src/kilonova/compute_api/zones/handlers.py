"""/os-availability-zone."""

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.services.reading import all_services
from kilonova.compute_api.services.rows import Service
from kilonova.compute_api.zones.view import zone
from kilonova.http.calls import Answer, Call


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-availability-zone: what users may name when they create servers."""
    zones = await _zones(parts)
    zones.pop(parts.api.internal_zone, None)
    return Answer(body={"availabilityZoneInfo": [zone(name, zones[name], with_hosts=False) for name in sorted(zones)]})


async def detail(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-availability-zone/detail: with hosts, and with the zone of control processes."""
    zones = await _zones(parts)
    return Answer(body={"availabilityZoneInfo": [zone(name, zones[name], with_hosts=True) for name in sorted(zones)]})


async def _zones(parts: ComputeParts) -> dict[str, list[Service]]:
    async with parts.database.read() as tx:
        services = await all_services(tx, parts)
    found: dict[str, list[Service]] = {}
    for service in services:
        found.setdefault(service.zone, []).append(service)
    return found
