"""What an operation and its steps look like as an instance action and its events, at each version."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from kilonova.compute_api.servers import rules
from kilonova.compute_api.servers.view import host_id
from kilonova.domain.clock import iso_micro
from kilonova.domain.operation import ERROR, SUCCESS
from kilonova.domain.server import Server
from kilonova.http.views import Shown, View
from kilonova.storage.actions import ActionRecord, StepRecord

EVENT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "create.claim": "conductor_schedule_and_build_instances",
        "create.network": "compute_allocate_networks",
        "create.build": "compute__do_build_and_run_instance",
        "delete.destroy": "compute_terminate_instance",
        "start.start": "compute_start_instance",
        "stop.stop": "compute_stop_instance",
        "reboot.reboot": "compute_reboot_instance",
    }
)
"""Steps that are what the community has an event for; others are named by operation and step."""


class SeenStep(NamedTuple):
    """A step with the operation and the server that it belongs to; `last` is the one that a failure is told of."""

    step: StepRecord
    action: ActionRecord
    server: Server
    last: bool

    @property
    def failed(self) -> bool:
        """Whether the step ended badly: its outcome says so, or its operation ended badly in it."""
        outcome = self.step.outcome or {}
        return bool(outcome.get("error")) or (self.last and self.action.failed)


def event_name(kind: str, key: str) -> str:
    """The event of a step; a repeated step ("build[2]") has its first one's name."""
    point = f"{kind}.{key.partition('[')[0]}"
    return EVENT_NAMES.get(point, point.replace(".", "_"))


def _finish(seen: SeenStep) -> int | None:
    # The step that a dead process left open ended, at the latest, with its operation.
    return seen.step.finished_at or seen.action.finished_at


def _result(seen: SeenStep) -> str | None:
    if _finish(seen) is None:
        return None
    return ERROR if seen.failed else SUCCESS


def _details(seen: SeenStep) -> str | None:
    if not seen.failed:
        return None
    return (seen.step.outcome or {}).get("error") or seen.action.message


EVENT: Final[View[SeenStep]] = View(
    [
        Shown("event", lambda seen: event_name(seen.action.kind, seen.step.key)),
        Shown("start_time", lambda seen: iso_micro(seen.step.started_at)),
        Shown("finish_time", lambda seen: iso_micro(_finish(seen))),
        Shown("result", _result),
        Shown("traceback", lambda seen: None, rule=rules.ACTIONS + "events"),
        Shown("host", lambda seen: seen.step.host, since=62, rule=rules.ACTIONS + "events"),
        Shown("hostId", lambda seen: host_id(seen.server.project_id, seen.step.host), since=62),
        Shown("details", _details, since=84, rule=rules.ACTIONS + "events:details"),
    ]
)
ACTION: Final[View[ActionRecord]] = View(
    [
        Shown("action", lambda action: action.kind),
        Shown("instance_uuid", lambda action: action.server_id),
        Shown("request_id", lambda action: action.request_id),
        Shown("user_id", lambda action: action.user_id),
        Shown("project_id", lambda action: action.project_id),
        Shown("start_time", lambda action: iso_micro(action.started_at)),
        Shown("message", lambda action: ERROR if action.failed else None),
        Shown("updated_at", lambda action: iso_micro(action.updated_at), since=58),
    ]
)


def seen_steps(action: ActionRecord, steps: Sequence[StepRecord], server: Server) -> list[SeenStep]:
    """The steps of an action, ready to be shown."""
    return [SeenStep(step, action, server, place == len(steps) - 1) for place, step in enumerate(steps)]


def events_shown(version: int, may_see: bool) -> bool:
    """Whether an action shows its events: to all from 2.51 on, before that to those whom the policy names."""
    return version >= 51 or may_see


def with_events(shown: dict[str, Any], events: list[dict[str, Any]]) -> dict[str, Any]:
    """An action with its events."""
    return {**shown, "events": events}
