"""What server groups look like."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kilonova.http.views import Shown, View
from kilonova.storage.groups import ServerGroup


@dataclass(frozen=True, slots=True)
class GroupWithMembers:
    """A group and the ids of its live servers."""

    group: ServerGroup
    members: Sequence[str]


GROUP: Final = View[GroupWithMembers](
    [
        Shown("id", lambda item: item.group.id),
        Shown("name", lambda item: item.group.name),
        Shown("policies", lambda item: [item.group.policy], until=63),
        Shown("policy", lambda item: item.group.policy, since=64),
        Shown("rules", lambda item: item.group.rules, since=64),
        Shown("members", lambda item: item.members),
        Shown("metadata", lambda item: {}, until=63),
        Shown("project_id", lambda item: item.group.project_id, since=13),
        Shown("user_id", lambda item: item.group.user_id, since=13),
    ]
)
