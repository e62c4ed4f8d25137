"""Lists and shows what was done to a server."""

from typing import Any, Final

from kilonova.compute_api.instance_actions.view import ACTION, EVENT, events_shown, seen_steps, with_events
from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.servers import rules
from kilonova.compute_api.servers.filters import read_time
from kilonova.compute_api.servers.finding import get_server
from kilonova.domain.errors import BadRequest, NotFound
from kilonova.http.calls import Answer, Call
from kilonova.http.paging import next_link, page_limit
from kilonova.http.shapes import queries, text
from kilonova.storage import actions
from kilonova.storage.actions import ActionQuery

_DELETED_SINCE: Final = 21
_PAGED_SINCE: Final = 58
_BEFORE_SINCE: Final = 66
PAGED: Final = queries(
    {
        "limit": text(1, 20, "^[0-9]+$"),
        "marker": text(1, 255),
        "changes-since": {"type": "string"},
        "changes-before": {"type": "string"},
    },
    since={"changes-before": _BEFORE_SINCE},
)


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/{server_id}/os-instance-actions, newest first."""
    async with parts.database.read() as transaction:
        server = await get_server(transaction, call, rules.ACTIONS + "list", deleted=call.version >= _DELETED_SINCE)
        query = _query(call, server.id, parts.api.max_limit)
        found = await actions.list_actions(transaction, query)
    render = ACTION.at(call.version, call.allows)
    body: dict[str, Any] = {"instanceActions": [render(action) for action in found]}
    if found and call.version >= _PAGED_SINCE:
        following = next_link(call, found, query.limit, found[-1].request_id)
        if following:
            body["links"] = following
    return Answer(body=body)


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/{server_id}/os-instance-actions/{request_id}: one action, with its events."""
    async with parts.database.read() as transaction:
        server = await get_server(transaction, call, rules.ACTIONS + "show", deleted=call.version >= _DELETED_SINCE)
        action = await actions.find_action(transaction, server.id, call.path["request_id"])
        if action is None:
            raise NotFound(f"Action {call.path['request_id']} not found")
        steps = await actions.steps_of(transaction, action.id)
    shown = ACTION.at(call.version, call.allows)(action)
    if events_shown(call.version, call.allows(rules.ACTIONS + "events", {})):
        render = EVENT.at(call.version, call.allows)
        shown = with_events(shown, [render(seen) for seen in seen_steps(action, steps, server)])
    return Answer(body={"instanceAction": shown})


def _query(call: Call, server_id: str, maximum: int) -> ActionQuery:
    if call.version < _PAGED_SINCE:
        return ActionQuery(server_id, limit=maximum)
    since, before = call.first("changes-since"), call.first("changes-before")
    made = ActionQuery(
        server_id,
        None if since is None else read_time("changes-since", since),
        None if before is None else read_time("changes-before", before),
        page_limit(call, maximum),
        call.first("marker"),
    )
    if made.changed_since is not None and made.changed_before is not None and made.changed_since > made.changed_before:
        raise BadRequest("The value of changes-since must be less than or equal to changes-before.")
    return made
