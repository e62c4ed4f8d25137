"""The rules that keep availability zones whole: a host is in one zone, and servers do not change theirs under way."""

from collections.abc import Collection, Mapping, Sequence

from kilonova.storage.aggregates import Aggregate


def clash(aggregate: Aggregate, zone: str | None, hosts: Collection[str], every: Sequence[Aggregate]) -> str:
    """Why `aggregate` with these hosts cannot be (in) `zone`: another aggregate has one of them elsewhere; "" if it can."""
    if not zone:
        return ""
    for other in every:
        shared = sorted(set(hosts) & set(other.hosts))
        if other.id != aggregate.id and other.zone and other.zone != zone and shared:
            return f"Cannot use zone {zone} for aggregate {aggregate.id}: host {shared[0]} is in zone {other.zone} already."
    return ""


def stranded(before: Mapping[str, str], after: Mapping[str, str], busy: Mapping[str, int]) -> str:
    """Why zones by host may not become `after`: a host with servers would change its zone; "" if none would.

    `busy` counts the live servers by host. Leaving or entering the default zone is a change too.
    """
    for host, count in sorted(busy.items()):
        if count and before.get(host) != after.get(host):
            return f"Host {host} has {count} servers, which cannot be moved to another availability zone by this."
    return ""
