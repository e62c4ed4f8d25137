"""All filters in one list, in the order in which hosts go through them: cheap first, and the plainest reason first."""

from collections.abc import Collection
from functools import lru_cache
from typing import Final

from kilonova.scheduling.filters.aggregate_multitenancy_isolation import AGGREGATE_MULTITENANCY_ISOLATION
from kilonova.scheduling.filters.availability_zone import AVAILABILITY_ZONE
from kilonova.scheduling.filters.compute import HOST_ENABLED, HOST_UP
from kilonova.scheduling.filters.contract import Filter
from kilonova.scheduling.filters.image_properties import IMAGE_PROPERTIES
from kilonova.scheduling.filters.requested import REQUESTED_CELL, TRIED_HOSTS
from kilonova.scheduling.filters.server_group_affinity import SERVER_GROUP_AFFINITY
from kilonova.scheduling.filters.server_group_anti_affinity import SERVER_GROUP_ANTI_AFFINITY
from kilonova.scheduling.filters.server_hints import DIFFERENT_HOST, SAME_HOST

IMPLICIT: Final = (
    REQUESTED_CELL,  # a move that may not leave its cell: most hosts fall here
    TRIED_HOSTS,  # a host that just failed is out whatever else holds
)
"""Part of the request itself: no setting turns them off, no force overrides them. The one host asked for is not a filter:
where there is one, nothing else is looked at."""

CHOSEN: Final = (
    HOST_ENABLED,  # one look-up in a column, for every request
    HOST_UP,  # the same
    AVAILABILITY_ZONE,  # asked by most requests, few distinct zones
    AGGREGATE_MULTITENANCY_ISOLATION,  # few distinct sets of projects
    SERVER_GROUP_AFFINITY,  # leaves few hosts, by name
    SERVER_GROUP_ANTI_AFFINITY,  # takes few hosts, by name
    SAME_HOST,  # the same for hints
    DIFFERENT_HOST,
    IMAGE_PROPERTIES,  # reads the image's properties and compares versions: the dearest
)
"""Those that `enabled_filters` chooses from, by the community's names."""


@lru_cache(maxsize=16)
def chosen_filters(names: tuple[str, ...]) -> tuple[Filter, ...]:
    """The filters of these names in the order of the list; raises ValueError for a name that no filter has."""
    _refuse_unknown(names, {filter.name for filter in CHOSEN})
    return IMPLICIT + tuple(filter for filter in CHOSEN if filter.name in names)


def _refuse_unknown(names: Collection[str], known: Collection[str]) -> None:
    """Raises ValueError listing those of the names that are not known."""
    if unknown := sorted(set(names) - set(known)):
        raise ValueError(f"There is no filter named {', '.join(unknown)}; there are {', '.join(sorted(known))}.")
