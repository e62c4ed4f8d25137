"""The service catalog: which services there are and where. It is fixed, so identifiers are made from what they name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5


@dataclass(frozen=True, slots=True)
class Service:
    """A service of the cloud; `path` follows the cloud's public address."""

    type: str
    name: str
    path: str

    @property
    def id(self) -> str:
        """The same in every cloud and process."""
        return uuid5(NAMESPACE_URL, f"kilonova:service:{self.type}").hex


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a service answers for one interface."""

    service: Service
    interface: str
    region: str
    url: str

    @property
    def id(self) -> str:
        """The same in every process, and another for each interface and region."""
        return uuid5(NAMESPACE_URL, f"kilonova:endpoint:{self.service.type}:{self.interface}:{self.region}").hex


SERVICES: Final = (
    Service("identity", "keystone", "/identity"),
    Service("compute", "nova", "/compute/v2.1"),
    Service("placement", "placement", "/placement"),
    Service("image", "glance", "/image"),
    Service("network", "neutron", "/network"),
)
INTERFACES: Final = ("public", "internal", "admin")


class Catalog:
    """All services at one public address ("http://host:port", no slash at its end), in the cloud's only region."""

    def __init__(self, public_url: str, region: str) -> None:
        self.region = region
        self.services: Sequence[Service] = SERVICES
        self.endpoints: Sequence[Endpoint] = [
            Endpoint(service, interface, region, f"{public_url}{service.path}")
            for service in SERVICES
            for interface in INTERFACES
        ]
        self.document: Sequence[dict[str, Any]] = [self._entry(service) for service in SERVICES]
        """The catalog as tokens carry it."""

    def _entry(self, service: Service) -> dict[str, Any]:
        endpoints = [
            {
                "id": endpoint.id,
                "interface": endpoint.interface,
                "region": endpoint.region,
                "region_id": endpoint.region,
                "url": endpoint.url,
            }
            for endpoint in self.endpoints
            if endpoint.service is service
        ]
        return {"id": service.id, "type": service.type, "name": service.name, "endpoints": endpoints}
