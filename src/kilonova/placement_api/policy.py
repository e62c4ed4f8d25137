"""Default policy of the placement API, by the community's rule names: administrators and services; readers for their usages.

Source: the community's placement, "Placement Policies". A policy.yaml that was made for it means the same here.
"""

from collections.abc import Mapping
from typing import Final

_NOUNS: Final[Mapping[str, str]] = {
    "resource_providers": "list create show update delete",
    "resource_providers:inventories": "list create show update delete",
    "resource_providers:aggregates": "list update",
    "resource_providers:traits": "list update delete",
    "resource_providers:allocations": "list",
    "resource_classes": "list create show update delete",
    "traits": "list show update delete",
    "allocations": "list manage update delete",
    "allocation_candidates": "list",
}
_WHOLE_CLOUD: Final = "not system_scope:all"

RULES: Final[Mapping[str, str]] = {
    "admin_api": "role:admin",
    "service_api": "role:service",
    "admin_or_service_api": "role:admin or role:service",
    "project_reader_api": "role:reader and project_id:%(project_id)s",
    "admin_or_project_reader_or_service_api": "role:admin or rule:project_reader_api or role:service",
    **{f"placement:{noun}:{verb}": "rule:admin_or_service_api" for noun, verbs in _NOUNS.items() for verb in verbs.split()},
    "placement:resource_providers:usages": "rule:admin_or_service_api",
    "placement:usages": "rule:admin_or_project_reader_or_service_api",
    # Inventories and allocations are moved by the service that made them.
    "placement:reshaper:reshape": "rule:service_api",
}


def rules(overrides: Mapping[str, str]) -> Mapping[str, str]:
    """Every rule, `overrides` in place of defaults. Whatever they say, a token for the whole cloud is nobody here.

    Placement knows projects only: the community's service refuses such a token before it asks its rules.
    """
    whole = {**RULES, **overrides}
    return {name: _within_projects(text) if name.startswith("placement:") else text for name, text in whole.items()}


def _within_projects(text: str) -> str:
    return f"({text}) and {_WHOLE_CLOUD}" if text.strip() else _WHOLE_CLOUD
