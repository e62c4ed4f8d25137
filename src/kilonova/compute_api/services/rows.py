"""One row of the list of services, whether a host or a control process stands behind it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kilonova.storage.hosts import HostRecord
from kilonova.storage.processes import ProcessRecord

COMPUTE: Final = "nova-compute"
"""The binary that the community's clients look for on hosts."""

_SILENCE: Final = 60_000_000
"""Microseconds without a sign of life after which a control process counts as down."""


@dataclass(frozen=True, slots=True)
class Service:
    """`number` and `id` are its names before and from 2.53; times in microseconds."""

    id: str
    number: int
    binary: str
    host: str
    zone: str
    disabled: bool
    disabled_reason: str | None
    up: bool
    forced_down: bool
    seen_at: int


def service_of_host(host: HostRecord, zones: Mapping[str, str], default_zone: str) -> Service:
    """The compute service of a host; `zones` are the zones by host."""
    return Service(
        id=host.service_id,
        number=host.id,
        binary=COMPUTE,
        host=host.name,
        zone=zones.get(host.name, default_zone),
        disabled=host.disabled,
        disabled_reason=host.disabled_reason,
        up=host.up,
        forced_down=host.forced_down,
        seen_at=host.seen_at,
    )


def service_of_process(process: ProcessRecord, internal_zone: str, moment: int) -> Service:
    """A control process as a service at `moment`."""
    return Service(
        id=process.id,
        number=process.number,
        binary=process.binary,
        host=process.host,
        zone=internal_zone,
        disabled=process.disabled,
        disabled_reason=process.disabled_reason,
        up=moment - process.seen_at < _SILENCE,
        forced_down=False,
        seen_at=process.seen_at,
    )
