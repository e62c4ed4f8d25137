"""What a hypervisor driver promises to the agent on its host.

Every call may be repeated: the same call after a crash finds what the first one did. A driver knows guests by server id; it
knows nothing of operations, journals, the bus or placement.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class GuestPort:
    """One network card: MAC and addresses as the guest shall have them."""

    id: str
    network_id: str
    mac_address: str
    fixed_ips: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Guest:
    """What to build: sizes in MB and GB, image and keys, where its resources are (by provider name, then class)."""

    server: str
    name: str
    vcpus: int
    memory_mb: int
    disk_gb: int
    image_id: str
    hostname: str = ""
    key_data: str = ""
    user_data: str = ""
    config_drive: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[GuestPort, ...] = ()
    allocations: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    admin_password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ProviderReport:
    """One provider of the host's tree: `name` is unique in the cloud, `parent` the name of the one above ("" for the root).

    `inventories` maps a class to total, reserved, min_unit, max_unit, step_size and allocation_ratio.
    """

    name: str
    parent: str = ""
    inventories: Mapping[str, Mapping[str, int | float]] = field(default_factory=dict)
    traits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HostReport:
    """A host as its driver sees it: facts for `os-hypervisors` and the provider tree, root first.

    `hypervisor` has type, version (int), arch, cpu_info (a dict), hostname, host_ip.
    """

    hypervisor: Mapping[str, Any]
    providers: tuple[ProviderReport, ...]


class DriverError(Exception):
    """The hypervisor could not do it; the sentence says why and is fit for the server's owner."""


class Driver(Protocol):
    """One hypervisor. Power states are the words `running`, `shutdown`, `paused`, `crashed`, `suspended`."""

    async def report(self) -> HostReport:
        """The host now; asked at start and then every so often."""
        ...

    async def build(self, guest: Guest) -> None:
        """Make the guest and start it; a guest that is already there as asked is success. Raises DriverError."""
        ...

    async def destroy(self, server: str) -> None:
        """Remove the guest and its local disks; absent is success. Raises DriverError."""
        ...

    async def start(self, server: str) -> None:
        """Switch on; a running guest is success. Raises DriverError."""
        ...

    async def stop(self, server: str) -> None:
        """Switch off; a stopped guest is success. Raises DriverError."""
        ...

    async def reboot(self, server: str, *, hard: bool) -> None:
        """Restart a guest; a hard reboot also starts a stopped one. Raises DriverError."""
        ...

    async def console_output(self, server: str, lines: int | None) -> str:
        """The last `lines` of the serial console, all for None. Raises DriverError for an unknown guest."""
        ...

    async def guests(self) -> Mapping[str, str]:
        """Every guest that is here: server id -> power state."""
        ...
