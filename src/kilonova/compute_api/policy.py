"""Default policy of the compute API, by the community's rule names."""

from collections.abc import Mapping
from typing import Final

BASE: Final[Mapping[str, str]] = {
    "context_is_admin": "role:admin",
    "admin_or_owner": "role:admin or project_id:%(project_id)s",
    "admin_api": "role:admin",
    "project_member_or_admin": "role:admin or (role:member and project_id:%(project_id)s)",
    "project_reader_or_admin": "role:admin or ((role:reader or role:member) and project_id:%(project_id)s)",
}

# Servers and what hangs on them.
_MEMBER: Final = "rule:project_member_or_admin"
_READER: Final = "rule:project_reader_or_admin"
_ADMIN: Final = "rule:admin_api"
SERVERS: Final[Mapping[str, str]] = {
    # Ours: whose servers one may know of, who passes a lock, who reads a fault's details. The action path is open to all
    # who are known, because each action has a rule of its own.
    "kilonova:servers:visible": "rule:admin_or_owner",
    "kilonova:servers:action": "@",
    "kilonova:servers:ignore_lock": _ADMIN,
    "kilonova:servers:show:fault_details": _ADMIN,
    "os_compute_api:servers:index": _READER,
    "os_compute_api:servers:detail": _READER,
    "os_compute_api:servers:index:get_all_tenants": _ADMIN,
    "os_compute_api:servers:detail:get_all_tenants": _ADMIN,
    "os_compute_api:servers:allow_all_filters": _ADMIN,
    "os_compute_api:servers:show": _READER,
    "os_compute_api:servers:show:host_status": _ADMIN,
    "os_compute_api:servers:create": _MEMBER,
    "os_compute_api:servers:create:forced_host": _ADMIN,
    "compute:servers:create:requested_destination": _ADMIN,
    "os_compute_api:servers:create:attach_network": _MEMBER,
    "os_compute_api:servers:create:trusted_certs": _MEMBER,
    "os_compute_api:servers:create:zero_disk_flavor": _ADMIN,
    "os_compute_api:servers:update": _MEMBER,
    "os_compute_api:servers:delete": _MEMBER,
    "os_compute_api:servers:start": _MEMBER,
    "os_compute_api:servers:stop": _MEMBER,
    "os_compute_api:servers:reboot": _MEMBER,
    "os_compute_api:os-deferred-delete:force": _MEMBER,
    "os_compute_api:os-lock-server:lock": _MEMBER,
    "os_compute_api:os-lock-server:unlock": _MEMBER,
    "os_compute_api:os-lock-server:unlock:unlock_override": _ADMIN,
    "os_compute_api:os-admin-actions:reset_state": _ADMIN,
    "os_compute_api:os-console-output": _MEMBER,
    "os_compute_api:os-extended-server-attributes": _ADMIN,
    **{f"os_compute_api:server-metadata:{verb}": _READER for verb in ("index", "show")},
    **{f"os_compute_api:server-metadata:{verb}": _MEMBER for verb in ("create", "update_all", "update", "delete")},
    **{f"os_compute_api:os-server-tags:{verb}": _READER for verb in ("index", "show")},
    **{f"os_compute_api:os-server-tags:{verb}": _MEMBER for verb in ("update_all", "update", "delete", "delete_all")},
    **{f"os_compute_api:ips:{verb}": _READER for verb in ("index", "show")},
    "os_compute_api:os-security-groups:list": _READER,
    **{f"os_compute_api:os-instance-actions:{verb}": _READER for verb in ("list", "show")},
    **{f"os_compute_api:os-instance-actions:{verb}": _ADMIN for verb in ("events", "events:details")},
}

# Flavors, keypairs, groups, aggregates, services, hypervisors, zones, limits.
CLOUD: Final[Mapping[str, str]] = {
    "os_compute_api:extensions": "@",
    "os_compute_api:flavors": "@",
    "os_compute_api:os-flavor-manage:create": "rule:admin_api",
    "os_compute_api:os-flavor-manage:update": "rule:admin_api",
    "os_compute_api:os-flavor-manage:delete": "rule:admin_api",
    "os_compute_api:os-flavor-access": "rule:admin_api",
    "os_compute_api:os-flavor-access:add_tenant_access": "rule:admin_api",
    "os_compute_api:os-flavor-access:remove_tenant_access": "rule:admin_api",
    "os_compute_api:os-flavor-extra-specs:index": "rule:project_reader_or_admin",
    "os_compute_api:os-flavor-extra-specs:show": "rule:project_reader_or_admin",
    "os_compute_api:os-flavor-extra-specs:create": "rule:admin_api",
    "os_compute_api:os-flavor-extra-specs:update": "rule:admin_api",
    "os_compute_api:os-flavor-extra-specs:delete": "rule:admin_api",
    "os_compute_api:limits": "@",
    "os_compute_api:limits:other_project": "rule:admin_api",
    "os_compute_api:os-aggregates:index": "rule:admin_api",
    "os_compute_api:os-aggregates:create": "rule:admin_api",
    "os_compute_api:os-aggregates:show": "rule:admin_api",
    "os_compute_api:os-aggregates:update": "rule:admin_api",
    "os_compute_api:os-aggregates:delete": "rule:admin_api",
    # Opens the door to the actions, each of which has its own rule below.
    "kilonova:aggregates:action": "@",
    "os_compute_api:os-aggregates:add_host": "rule:admin_api",
    "os_compute_api:os-aggregates:remove_host": "rule:admin_api",
    "os_compute_api:os-aggregates:set_metadata": "rule:admin_api",
    "os_compute_api:os-availability-zone:list": "@",
    "os_compute_api:os-availability-zone:detail": "rule:admin_api",
    "os_compute_api:os-hypervisors:list": "rule:admin_api",
    "os_compute_api:os-hypervisors:list-detail": "rule:admin_api",
    "os_compute_api:os-hypervisors:show": "rule:admin_api",
    "os_compute_api:os-hypervisors:statistics": "rule:admin_api",
    "os_compute_api:os-hypervisors:search": "rule:admin_api",
    "os_compute_api:os-hypervisors:servers": "rule:admin_api",
    "os_compute_api:os-hypervisors:uptime": "rule:admin_api",
    "os_compute_api:os-keypairs:index": "rule:context_is_admin or user_id:%(user_id)s",
    "os_compute_api:os-keypairs:create": "rule:context_is_admin or user_id:%(user_id)s",
    "os_compute_api:os-keypairs:show": "rule:context_is_admin or user_id:%(user_id)s",
    "os_compute_api:os-keypairs:delete": "rule:context_is_admin or user_id:%(user_id)s",
    "os_compute_api:os-quota-class-sets:show": "rule:admin_api",
    "os_compute_api:os-quota-class-sets:update": "rule:admin_api",
    "os_compute_api:os-quota-sets:defaults": "@",
    "os_compute_api:os-quota-sets:show": "rule:project_reader_or_admin",
    "os_compute_api:os-quota-sets:detail": "rule:project_reader_or_admin",
    "os_compute_api:os-quota-sets:update": "rule:admin_api",
    "os_compute_api:os-quota-sets:delete": "rule:admin_api",
    "os_compute_api:os-server-groups:index": "rule:project_reader_or_admin",
    "os_compute_api:os-server-groups:index:all_projects": "rule:admin_api",
    "os_compute_api:os-server-groups:show": "rule:project_reader_or_admin",
    "os_compute_api:os-server-groups:create": "rule:project_member_or_admin",
    "os_compute_api:os-server-groups:delete": "rule:project_member_or_admin",
    "os_compute_api:os-services:list": "rule:admin_api",
    "os_compute_api:os-services:update": "rule:admin_api",
    "os_compute_api:os-services:delete": "rule:admin_api",
}

RULES: Final[Mapping[str, str]] = {**BASE, **SERVERS, **CLOUD}
