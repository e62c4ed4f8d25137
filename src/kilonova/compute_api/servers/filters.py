"""Turns the query string of a list into conditions, an order and a page. It knows the parameters, not the SQL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import orjson

from kilonova.compute_api.servers import rules
from kilonova.domain.errors import BadRequest, Forbidden
from kilonova.domain.lifecycle import states_of_status
from kilonova.http.calls import Call
from kilonova.http.paging import page_limit
from kilonova.http.shapes import BOOLEAN, truth
from kilonova.storage.server_filters import Filter, like_patterns
from kilonova.storage.server_lists import SORT_KEYS, ServerQuery

Reader = Callable[[str, str], Filter | None]
"""Takes the parameter's name and value. None where it narrows nothing. Raises errors.BadRequest."""


@dataclass(frozen=True, slots=True)
class Known:
    """One parameter: how it is read, since which version users may send it (None: administrators only)."""

    read: Reader
    users_since: int | None = None


def _exact(condition: str) -> Reader:
    return lambda name, value: Filter(condition, (value,))


def _like(condition: str) -> Reader:
    return lambda name, value: Filter(condition, like_patterns(value))


def _reference(condition: str) -> Reader:
    # Old clients send the address of a flavor or an image; its last part is the id.
    return lambda name, value: Filter(condition, (value.rstrip("/").rpartition("/")[2],))


def read_truth(name: str, value: str) -> bool:
    """A boolean of a query string; raises errors.BadRequest."""
    if value not in BOOLEAN["enum"]:
        raise BadRequest(f"Invalid value for {name}: {value!r} is not a boolean.")
    return truth(value)


def _boolean(condition: str) -> Reader:
    return lambda name, value: Filter(condition, (read_truth(name, value),))


def _number(condition: str) -> Reader:
    def read(name: str, value: str) -> Filter:
        if not value.isascii() or not value.isdigit() or len(value) > 9:
            raise BadRequest(f"Invalid value for {name}: {value!r} is not a whole number.")
        return Filter(condition, (int(value),))

    return read


def read_time(name: str, value: str) -> int:
    """An ISO 8601 time in microseconds, UTC where it names no zone. Raises errors.BadRequest."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise BadRequest(f"Invalid input for query parameters {name}. {value!r} is not a 'date-time'") from error
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(aware.timestamp() * 1_000_000)


def _second(condition: str) -> Reader:
    def read(name: str, value: str) -> Filter:
        moment = read_time(name, value)
        return Filter(condition, (moment, moment + 1_000_000))

    return read


def _locked(name: str, value: str) -> Filter:
    return Filter("locked" if read_truth(name, value) else "unlocked")


def _metadata(name: str, value: str) -> Filter:
    try:
        wanted = orjson.loads(value.replace("'", '"'))
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"Invalid value for {name}: it must be a JSON object.") from error
    if not isinstance(wanted, dict) or not all(isinstance(item, str) for item in wanted.values()):
        raise BadRequest(f"Invalid value for {name}: it must be a JSON object of strings.")
    return Filter("metadata", tuple(part for pair in wanted.items() for part in pair))


def _progress(name: str, value: str) -> Filter | None:
    # Progress is always 0 here.
    return None if value == "0" else Filter("nothing")


def _tags(name: str, value: str) -> Filter | None:
    wanted = sorted({tag for tag in value.split(",") if tag})
    if not wanted:
        return None
    return Filter(name, (wanted, len(wanted))) if name in {"tags", "not-tags"} else Filter(name, (wanted,))


_USERS_SINCE_83: Final = 83
FILTERS: Final[Mapping[str, Known]] = {
    "name": Known(_like("name"), 0),
    "display_name": Known(_like("name")),
    "flavor": Known(_reference("flavor"), 0),
    "image": Known(_reference("image"), 0),
    "ip": Known(_like("address"), 0),
    "ip6": Known(_like("address"), 5),
    "reservation_id": Known(_exact("reservation_id"), 0),
    "tags": Known(_tags, 26),
    "tags-any": Known(_tags, 26),
    "not-tags": Known(_tags, 26),
    "not-tags-any": Known(_tags, 26),
    "locked": Known(_locked, 73),
    "availability_zone": Known(_exact("zone"), _USERS_SINCE_83),
    "config_drive": Known(_boolean("config_drive"), _USERS_SINCE_83),
    "key_name": Known(_exact("key_name"), _USERS_SINCE_83),
    "created_at": Known(_second("created"), _USERS_SINCE_83),
    "launched_at": Known(_second("launched"), _USERS_SINCE_83),
    "terminated_at": Known(_second("terminated"), _USERS_SINCE_83),
    "power_state": Known(_number("power_state"), _USERS_SINCE_83),
    "task_state": Known(_exact("task_state"), _USERS_SINCE_83),
    "vm_state": Known(_exact("vm_state"), _USERS_SINCE_83),
    "progress": Known(_progress, _USERS_SINCE_83),
    "user_id": Known(_exact("user"), _USERS_SINCE_83),
    "hostname": Known(_like("hostname"), 90),
    "description": Known(_like("description")),
    "display_description": Known(_like("description")),
    "host": Known(_exact("host")),
    "node": Known(_exact("host")),
    "uuid": Known(_exact("id")),
    "image_ref": Known(_reference("image")),
    "access_ip_v4": Known(_exact("access_ip_v4")),
    "access_ip_v6": Known(_exact("access_ip_v6")),
    "launch_index": Known(_number("launch_index")),
    "root_device_name": Known(_exact("root_device_name")),
    "metadata": Known(_metadata),
}
"""Parameters that stand for one condition each; those that depend on one another are read in `server_query`."""

_TAG_FILTERS: Final = frozenset(("tags", "tags-any", "not-tags", "not-tags-any"))
_VERSIONS: Final = {**dict.fromkeys(_TAG_FILTERS, 26), "locked": 73}
_ADMIN_SORT_KEYS: Final = frozenset(("host", "node"))
_SORT_ALIASES: Final = {"node": "host", "id": "uuid", "name": "display_name", "description": "display_description",
                        "locked_by": "locked"}  # fmt: skip
_SORT_WITHOUT_EFFECT: Final = frozenset(("auto_disk_config", "kernel_id", "ramdisk_id", "progress", "cell_name", "internal_id"))


def server_query(call: Call, maximum: int, all_tenants_rule: str) -> ServerQuery | None:
    """The list that the query string asks for; None where nothing can match. Raises errors.BadRequest, errors.Forbidden."""
    trusted = call.allows(rules.ALL_FILTERS, {})
    found = [_scope(call, trusted, all_tenants_rule), *_plain(call, trusted), *_changes(call)]
    statuses = call.query.get("status", ())
    states: set[tuple[str, str | None]] = set()
    for word in statuses:
        states.update(states_of_status(word.upper()))
    if statuses and not states:
        # Source: microversion 2.38 (C019).
        if call.version >= 38:
            raise BadRequest(f"Invalid status value: {', '.join(statuses)}")
        return None
    if states:
        found.append(Filter("states", shape=tuple(sorted(states, key=str))))
    found.append(_deleted(call, trusted, states))
    return ServerQuery(
        filters=tuple(entry for entry in found if entry is not None),
        sort=_sort(call, trusted),
        limit=page_limit(call, maximum),
        marker=call.first("marker"),
    )


def _scope(call: Call, trusted: bool, all_tenants_rule: str) -> Filter | None:
    asked = call.first("all_tenants")
    project = call.first("project_id") or call.first("tenant_id")
    if asked is not None and (asked == "" or read_truth("all_tenants", asked)):
        if not call.allows(all_tenants_rule, {}):
            raise Forbidden(f"Policy doesn't allow {all_tenants_rule} to be performed.")
        return Filter("project", (project,)) if project else None
    return Filter("project", (project if project and trusted else call.caller.project_id,))


def _plain(call: Call, trusted: bool) -> list[Filter | None]:
    found = []
    for name, values in call.query.items():
        known = FILTERS.get(name)
        if known is None or call.version < _VERSIONS.get(name, 0):
            continue
        if trusted or (known.users_since is not None and call.version >= known.users_since):
            found.append(known.read(name, values[-1]))
    return found


def _changes(call: Call) -> list[Filter]:
    since, before = call.first("changes-since"), call.first("changes-before") if call.version >= 66 else None
    found = []
    if since is not None:
        found.append(Filter("changed_since", (read_time("changes-since", since),)))
    if before is not None:
        found.append(Filter("changed_before", (read_time("changes-before", before),)))
    if len(found) == 2 and found[0].values[0] > found[1].values[0]:
        raise BadRequest("The value of changes-since must be less than or equal to changes-before.")
    return found


def _deleted(call: Call, trusted: bool, states: set[tuple[str, str | None]]) -> Filter | None:
    """Which of living and deleted servers are listed: the living, unless somebody asks for changes or for deleted ones."""
    vm_states = {vm for vm, _ in states} | ({call.first("vm_state", "")} if trusted else set())
    if "deleted" in vm_states:
        if not trusted:
            raise Forbidden("Only administrators may list deleted instances")
        return Filter("deleted", (True,)) if vm_states <= {"deleted", ""} else None
    asked = call.first("deleted")
    if asked is not None and trusted:
        return Filter("deleted", (asked == "" or read_truth("deleted", asked),))
    return None if "changes-since" in call.query else Filter("deleted", (False,))


def _sort(call: Call, trusted: bool) -> tuple[tuple[str, bool], ...]:
    keys = list(call.query.get("sort_key", ()))
    directions = list(call.query.get("sort_dir", ()))
    if len(directions) > max(len(keys), 1):
        raise BadRequest("Sort direction array must not be longer than the sort key array")
    order: list[tuple[str, bool]] = []
    for place, key in enumerate(keys or ["created_at"]):
        direction = directions[min(place, len(directions) - 1)] if directions else "desc"
        if direction not in {"asc", "desc"}:
            raise BadRequest(f"Unknown sort direction, must be one of: asc, desc; not {direction!r}")
        if key in _ADMIN_SORT_KEYS and not trusted:
            raise Forbidden(f"Only administrators can sort servers by {key}")
        name = _SORT_ALIASES.get(key, key)
        if name in _SORT_WITHOUT_EFFECT:
            continue
        if name not in SORT_KEYS:
            raise BadRequest(f"Invalid input for field/attribute sort_key. {key!r} is no key that servers are sorted by")
        if name not in dict(order):
            order.append((name, direction == "desc"))
    return tuple(order) or (("created_at", True),)
