"""A server as it stands: what every list and show reads. What was asked for it is its wish."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kilonova.domain.flavor import Flavor
from kilonova.domain.lifecycle import State


@dataclass(frozen=True, slots=True)
class Server:
    """One server. Times in microseconds; `cell` is "cell0" until it is placed; `addresses` are its ports as ServerPort fields.

    `fault` has code, created (microseconds), message and details. `locked_by` is "admin", "owner" or None.
    """

    id: str
    project_id: str
    user_id: str
    name: str
    hostname: str
    description: str | None
    created_at: int
    updated_at: int
    launched_at: int | None
    terminated_at: int | None
    deleted: bool
    vm_state: str
    task_state: str | None
    power_state: int
    cell: str
    host: str | None
    generation: int
    flavor: Flavor
    image_id: str
    key_name: str | None
    availability_zone: str | None
    pinned_zone: str | None
    config_drive: bool
    user_data: str | None
    metadata: Mapping[str, str]
    system_metadata: Mapping[str, str]
    addresses: Sequence[Mapping[str, Any]]
    security_groups: Sequence[str]
    access_ip_v4: str | None
    access_ip_v6: str | None
    fault: Mapping[str, Any] | None
    locked_by: str | None
    locked_reason: str | None
    group_id: str | None
    reservation_id: str
    launch_index: int
    root_device_name: str

    @property
    def state(self) -> State:
        """Where it stands in its lifecycle."""
        return State(self.vm_state, self.task_state, self.power_state)
