"""AvailabilityZoneFilter: the host is in the zone that was asked for, or in one of several divided by commas."""

from kilonova.scheduling.arrays import Mask, Rows
from kilonova.scheduling.filters.contract import Filter
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.phrases import Phrase
from kilonova.scheduling.request import Request


def _is_in_zone(request: Request, hosts: Hosts, rows: Rows) -> Mask:
    asked = frozenset(zone.strip() for zone in request.zone.split(","))
    return hosts.zones.test(lambda zone: zone in asked, rows)


AVAILABILITY_ZONE = Filter(
    name="AvailabilityZoneFilter",
    code="zone.other",
    phrase=Phrase("is not in the zone {subject}", "are not in the zone {subject}"),
    passes=_is_in_zone,
    applies=lambda request: bool(request.zone),
    subject=lambda request: request.zone,
)
