"""What availability zones look like."""

from collections.abc import Sequence
from typing import Any

from kilonova.compute_api.services.rows import Service
from kilonova.domain.clock import iso_micro


def zone(name: str, services: Sequence[Service], with_hosts: bool) -> dict[str, Any]:
    """A zone, available while one of its services is enabled. Hosts are for administrators and for available zones only."""
    available = any(not service.disabled for service in services)
    hosts: dict[str, dict[str, Any]] = {}
    if with_hosts and available:
        for service in services:
            hosts.setdefault(service.host, {})[service.binary] = {
                "available": service.up,
                "active": not service.disabled,
                "updated_at": iso_micro(service.seen_at),
            }
    return {"zoneName": name, "zoneState": {"available": available}, "hosts": hosts or None}
