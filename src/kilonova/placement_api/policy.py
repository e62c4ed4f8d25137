"""Default policy of the placement API, by the community's rule names: administrators and services; readers for their usages."""

from collections.abc import Mapping
from typing import Final

_NOUNS: Final[Mapping[str, str]] = {
    "resource_providers": "list create show update delete",
    "resource_providers:inventories": "list create show update delete",
    "resource_providers:aggregates": "list update",
    "resource_providers:traits": "list update delete",
    "resource_providers:usages": "show",
    "resource_providers:allocations": "list",
    "resource_classes": "list create show update delete",
    "traits": "list show update delete",
    "allocations": "list manage update delete",
    "allocation_candidates": "list",
    "reshaper": "reshape",
}

RULES: Final[Mapping[str, str]] = {
    # Placement knows projects only: a token for the whole system is nobody here.
    "admin_or_service": "(role:admin or role:service) and not system_scope:all",
    **{f"placement:{noun}:{verb}": "rule:admin_or_service" for noun, verbs in _NOUNS.items() for verb in verbs.split()},
    "placement:usages": "rule:admin_or_service or (role:reader and project_id:%(project_id)s)",
}
