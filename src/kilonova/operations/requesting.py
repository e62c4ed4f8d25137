"""Turns a server's wish into the scheduler's request: the candidate query, its group as it is now, the hints' servers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kilonova.domain.resources import CandidateQuery
from kilonova.domain.wish import Wish
from kilonova.operations.records import Held
from kilonova.scheduling.query import candidate_query
from kilonova.scheduling.request import Group, Request
from kilonova.scheduling.settings import QuerySettings
from kilonova.storage import group_locks, servers
from kilonova.storage.database import Transaction

_SERVER_HINTS = ("same_host", "different_host")


class Wanting(Protocol):
    """Whatever wants a host for a server."""

    @property
    def held(self) -> Held:
        """The operation and its server."""
        ...

    @property
    def wish(self) -> Wish:
        """What the server's user asked for."""
        ...

    @property
    def excluded(self) -> frozenset[str]:
        """Hosts that were tried and failed."""
        ...


@dataclass(frozen=True, slots=True)
class _Context:
    """What the database knows that the wishes of one batch refer to."""

    groups: Mapping[str, group_locks.GroupPolicy]
    members: Mapping[str, Mapping[str, int]]
    hosts_by_server: Mapping[str, str]


async def requests_of(transaction: Transaction, wanting: Sequence[Wanting], settings: QuerySettings) -> list[Request]:
    """A request for each, in order."""
    context = await _context(transaction, wanting)
    return [_request(entry, context, settings) for entry in wanting]


async def _context(transaction: Transaction, wanting: Sequence[Wanting]) -> _Context:
    group_ids = sorted({entry.wish.group_id for entry in wanting if entry.wish.group_id})
    hinted = sorted({server for entry in wanting for server in _hinted(entry.wish)})
    moving = sorted({entry.held.server_id for entry in wanting if entry.excluded})
    places = await servers.whereabouts(transaction, [*hinted, *moving]) if hinted or moving else {}
    hosts_by_server = {server: host for server, (host, deleted) in places.items() if host and not deleted}
    if not group_ids:
        return _Context({}, {}, hosts_by_server)
    groups = await group_locks.policies(transaction, group_ids)
    return _Context(groups, await servers.members_by_host(transaction, group_ids), hosts_by_server)


def _hinted(wish: Wish) -> list[str]:
    found: list[str] = []
    for name in _SERVER_HINTS:
        value = wish.hints.get(name, ())
        found.extend([value] if isinstance(value, str) else list(value))
    return found


def query_of(wish: Wish, settings: QuerySettings) -> CandidateQuery:
    """The candidate query of a wish. Raises errors.BadRequest naming the property that contradicts or has a bad value."""
    return candidate_query(wish.flavor, wish.image, volume_backed=wish.image is None, settings=settings)


def _request(entry: Wanting, context: _Context, settings: QuerySettings) -> Request:
    wish = entry.wish
    policy = context.groups.get(wish.group_id)
    group = None
    if policy is not None:
        members = dict(context.members.get(wish.group_id, {}))
        own = context.hosts_by_server.get(entry.held.server_id)
        if own in members:
            members[own] -= 1
        group = Group(policy.id, policy.policy, policy.rules, {host: count for host, count in members.items() if count > 0})
    return Request(
        flavor=wish.flavor,
        query=query_of(wish, settings),
        project_id=wish.project_id,
        image=wish.image,
        zone=wish.zone,
        group=group,
        hints=wish.hints,
        hosts_by_server=context.hosts_by_server,
        exclude_hosts=entry.excluded,
        only_host=wish.only_host,
    )
