"""Finds the server that a path names, for whoever may see it, and gathers what its view shows of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kilonova.compute_api.servers import rules
from kilonova.compute_api.servers.view import Page, Seen, page_of
from kilonova.domain.errors import Conflict, Forbidden, NotFound
from kilonova.domain.server import Server
from kilonova.http.calls import Call
from kilonova.operations.acting import Asked
from kilonova.storage import groups, server_lists, servers
from kilonova.storage.database import Transaction
from kilonova.storage.server_lists import HostSeen, ListedRows, ListedServer, Sight

_TAGS_SINCE: Final = 26
_WISH_SHOWN_SINCE: Final = 63


def sight_of(call: Call) -> Sight:
    """What this version shows this caller besides a server's usual fields."""
    return Sight(call.allows(rules.SERVER_ATTRIBUTES, {}), call.version >= _WISH_SHOWN_SINCE)


def asked_by(call: Call) -> Asked:
    """Who asks for an operation."""
    return Asked(call.request_id, call.caller.user_id, call.caller.project_id)


def _check(call: Call, server: Server | ListedServer, rule: str) -> None:
    target = {"project_id": server.project_id, "user_id": server.user_id}
    # Somebody else's server is as good as none; only who may see it is told what is forbidden.
    if not call.allows(rules.VISIBLE, target):
        raise _unknown(call)
    if not call.allows(rule, target):
        raise Forbidden(f"Policy doesn't allow {rule} to be performed.")


def _unknown(call: Call) -> NotFound:
    return NotFound(f"Instance {call.path['server_id']} could not be found.")


async def get_server(transaction: Transaction, call: Call, rule: str, *, deleted: bool = False) -> Server:
    """The server of the path. Raises errors.NotFound where the caller may not know of it, errors.Forbidden by `rule`."""
    server = await servers.find(transaction, call.path["server_id"])
    if server is None or (server.deleted and not deleted):
        raise _unknown(call)
    _check(call, server, rule)
    return server


async def get_unlocked(transaction: Transaction, call: Call, rule: str) -> Server:
    """As get_server, for changes that a lock keeps off. Raises errors.Conflict for a locked server."""
    server = await get_server(transaction, call, rule)
    if server.locked_by is not None and not call.allows(rules.IGNORE_LOCK, {"project_id": server.project_id}):
        raise Conflict(f"Instance {server.id} is locked")
    return server


async def seen_server(transaction: Transaction, call: Call, rule: str) -> Seen:
    """The server of the path with all that its view shows. Raises as get_server."""
    server = await server_lists.find(transaction, call.path["server_id"], sight_of(call))
    if server is None:
        raise _unknown(call)
    _check(call, server, rule)
    page = page_of(call)
    page.hosts = await hosts_shown(transaction, call, [server.host] if server.host else [])
    if server.group_id and await groups.find_group(transaction, server.group_id) is not None:
        page.groups = frozenset((server.group_id,))
    tags = await servers.tags_of(transaction, [server.id]) if call.version >= _TAGS_SINCE else {}
    return Seen(server, page, tags.get(server.id, ()))


async def seen_list(transaction: Transaction, call: Call, listed: ListedRows, page: Page) -> Iterator[Seen]:
    """The servers of a list with all that their view shows, made one at a time."""
    page.hosts = await hosts_shown(transaction, call, listed.hosts())
    tags: Mapping[str, Any] = {}
    if call.version >= _TAGS_SINCE:
        tags = await servers.tags_of(transaction, listed.ids())
    return (Seen(server, page, tags.get(server.id, ())) for server in listed)


async def hosts_shown(transaction: Transaction, call: Call, names: Sequence[str]) -> Mapping[str, HostSeen]:
    """What servers show of these hosts, where the caller may see it."""
    if not (call.allows(rules.SERVER_ATTRIBUTES, {}) or call.allows(rules.SHOW_HOST_STATUS, {})):
        return {}
    return await server_lists.hosts_seen(transaction, names)
