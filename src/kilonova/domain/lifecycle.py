"""A server's states and the events that move it: one table, and the only place that sets a state.

A state is (vm_state, task_state). The documentation's diagram is drawn from EVENTS.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from kilonova.domain.errors import Conflict

CELL0: Final = "cell0"

# Power states as the compute API numbers them.
NO_STATE, RUNNING, PAUSED, SHUTDOWN, CRASHED, SUSPENDED = 0, 1, 3, 4, 6, 7


@dataclass(frozen=True, slots=True)
class State:
    """Where a server stands. `vm` is what it is, `task` what is being done to it (None for nothing)."""

    vm: str
    task: str | None = None
    power: int = NO_STATE


@dataclass(frozen=True, slots=True)
class Event:
    """One event: the vm_states it may meet (None: any), whether a task may be running, and the state after it.

    None for `vm` or `power` leaves that part as it is.
    """

    verb: str
    meets: frozenset[str] | None
    while_tasked: bool
    vm: str | None
    task: str | None
    power: int | None = None


def _of(*states: str) -> frozenset[str]:
    return frozenset(states)


EVENTS: Final = MappingProxyType(
    {
        # The request is taken; these are asked for by users and may be refused.
        "create": Event("create", _of(), False, "building", "scheduling"),
        "delete": Event("delete", None, True, None, "deleting"),
        "start": Event("start", _of("stopped"), False, None, "powering-on"),
        "stop": Event("stop", _of("active", "error"), False, None, "powering-off"),
        "reboot": Event("reboot", _of("active"), False, None, "rebooting"),
        "reboot-hard": Event("reboot", _of("active", "stopped", "paused", "suspended", "error"), False, None, "rebooting_hard"),
        # What operations report. Their token says that they may: a state that an administrator reset must not hold them up.
        "placed": Event("place", None, True, "building", "spawning"),
        "built": Event("build", None, True, "active", None, RUNNING),
        "buried": Event("bury", None, True, "error", None, NO_STATE),
        "started": Event("start", None, True, "active", None, RUNNING),
        "stopped": Event("stop", None, True, "stopped", None, SHUTDOWN),
        "rebooted": Event("reboot", None, True, "active", None, RUNNING),
        "unchanged": Event("leave", None, True, None, None),
        "deleted": Event("delete", None, True, "deleted", None, NO_STATE),
        # What administrators set.
        "reset-error": Event("reset", None, True, "error", None),
        "reset-active": Event("reset", None, True, "active", None),
    }
)


def after(event: str, state: State, server_id: str = "") -> State:
    """The state after `event`. Raises errors.Conflict with the community's words where the event may not meet `state`."""
    rule = EVENTS[event]
    if rule.meets is not None and event != "create" and state.vm not in rule.meets:
        raise Conflict(f"Cannot '{rule.verb}' instance {server_id} while it is in vm_state {state.vm}")
    if not rule.while_tasked and state.task is not None:
        raise Conflict(f"Cannot '{rule.verb}' instance {server_id} while it is in task_state {state.task}")
    return State(
        vm=state.vm if rule.vm is None else rule.vm,
        task=rule.task,
        power=state.power if rule.power is None else rule.power,
    )


_STATUSES: Final = MappingProxyType(
    {
        "active": (
            "ACTIVE",
            {
                "rebooting": "REBOOT",
                "rebooting_hard": "HARD_REBOOT",
                "updating_password": "PASSWORD",
                "rebuilding": "REBUILD",
                "resize_prep": "RESIZE",
                "resize_migrating": "RESIZE",
                "resize_migrated": "RESIZE",
                "resize_finish": "RESIZE",
                "migrating": "MIGRATING",
            },
        ),
        "building": ("BUILD", {}),
        "stopped": (
            "SHUTOFF",
            {
                "resize_prep": "RESIZE",
                "resize_migrating": "RESIZE",
                "resize_migrated": "RESIZE",
                "resize_finish": "RESIZE",
                "rebuilding": "REBUILD",
                "rebooting_hard": "HARD_REBOOT",
            },
        ),
        "resized": ("VERIFY_RESIZE", {"resize_reverting": "REVERT_RESIZE"}),
        "paused": ("PAUSED", {"migrating": "MIGRATING"}),
        "suspended": ("SUSPENDED", {}),
        "rescued": ("RESCUE", {}),
        "error": ("ERROR", {"rebuilding": "REBUILD", "rebooting_hard": "HARD_REBOOT"}),
        "deleted": ("DELETED", {}),
        "soft-delete": ("SOFT_DELETED", {}),
        "shelved": ("SHELVED", {}),
        "shelved_offloaded": ("SHELVED_OFFLOADED", {}),
    }
)


def status(vm: str, task: str | None) -> str:
    """The status that users see. Source: compute API guide, "Server statuses"."""
    default, by_task = _STATUSES[vm]
    return by_task.get(task, default) if task else default


def states_of_status(wanted: str) -> tuple[tuple[str, str | None], ...]:
    """The (vm_state, task_state) pairs that read as status `wanted` (upper case); task None means any task not named elsewhere.

    Empty for a word that is no status.
    """
    found: list[tuple[str, str | None]] = []
    for vm, (default, by_task) in _STATUSES.items():
        if default == wanted:
            found.append((vm, None))
        found.extend((vm, task) for task, name in by_task.items() if name == wanted)
    return tuple(found)


def tasks_with_status(vm: str) -> frozenset[str]:
    """The task_states of `vm` that read as another status than its usual one."""
    return frozenset(_STATUSES[vm][1])
