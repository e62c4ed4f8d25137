"""Default policy of the identity API, by the community's rule names. A target's project_id and user_id are what it is about."""

from collections.abc import Mapping
from typing import Final

_SEES_ALL: Final = "role:admin or (role:reader and system_scope:all)"
_ADMIN: Final = "role:admin"

RULES: Final[Mapping[str, str]] = {
    "identity:get_auth_catalog": "",
    "identity:get_auth_projects": "",
    "identity:get_auth_domains": "",
    "identity:get_auth_system": "",
    "identity:validate_token": f"{_SEES_ALL} or role:service or user_id:%(user_id)s",
    "identity:revoke_token": f"{_ADMIN} or user_id:%(user_id)s",
    "identity:list_projects": _SEES_ALL,
    "identity:get_project": f"{_SEES_ALL} or project_id:%(project_id)s",
    "identity:create_project": _ADMIN,
    "identity:update_project": _ADMIN,
    "identity:delete_project": _ADMIN,
    "identity:list_users": _SEES_ALL,
    "identity:get_user": f"{_SEES_ALL} or user_id:%(user_id)s",
    "identity:list_user_projects": f"{_SEES_ALL} or user_id:%(user_id)s",
    "identity:create_user": _ADMIN,
    "identity:update_user": _ADMIN,
    "identity:delete_user": _ADMIN,
    "identity:change_password": "user_id:%(user_id)s",
    "identity:list_roles": _SEES_ALL,
    "identity:get_role": _SEES_ALL,
    "identity:create_role": _ADMIN,
    "identity:update_role": _ADMIN,
    "identity:delete_role": _ADMIN,
    "identity:list_role_assignments": _SEES_ALL,
    "identity:list_grants": _SEES_ALL,
    "identity:check_grant": _SEES_ALL,
    "identity:create_grant": _ADMIN,
    "identity:revoke_grant": _ADMIN,
    "identity:list_domains": _SEES_ALL,
    "identity:get_domain": "",
    "identity:list_services": _SEES_ALL,
    "identity:get_service": _SEES_ALL,
    "identity:list_endpoints": _SEES_ALL,
    "identity:get_endpoint": _SEES_ALL,
    "identity:list_regions": "",
    "identity:get_region": "",
}
