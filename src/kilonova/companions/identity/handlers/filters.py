"""The filters that lists of projects and users have."""

from collections.abc import Sequence
from typing import TypeVar

from kilonova.http.calls import Call
from kilonova.storage.identity_records import Project, User

Listed = TypeVar("Listed", Project, User)


def kept(call: Call, items: Sequence[Listed]) -> Sequence[Listed]:
    """Those that fit `name`, `domain_id` and `enabled` of the query; a parameter that is absent lets all pass."""
    name, domain = call.first("name"), call.first("domain_id")
    enabled = call.first("enabled")
    wanted = enabled is None or enabled.lower() not in {"false", "0", "no"}
    return [
        item
        for item in items
        if (name is None or item.name == name)
        and (domain is None or item.domain_id == domain)
        and (enabled is None or item.enabled is wanted)
    ]
