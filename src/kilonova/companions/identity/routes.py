"""Every URL of the identity API on one page."""

from collections.abc import Sequence

from kilonova.companions.identity import schema
from kilonova.companions.identity.handlers import auth, fixed, grants, projects, roles, users, versions
from kilonova.http.calls import Route

_ON_PROJECT = "/v3/projects/{project_id}/users/{user_id}/roles"
_ON_SYSTEM = "/v3/system/users/{user_id}/roles"

ROUTES: Sequence[Route] = (
    Route("GET", "/", versions.versions, ""),
    Route("GET", "/v3", versions.version, ""),
    # Tokens.
    Route("POST", "/v3/auth/tokens", auth.issue, "", schema.LOGIN),
    Route("GET", "/v3/auth/tokens", auth.show, "identity:validate_token"),
    Route("DELETE", "/v3/auth/tokens", auth.revoke, "identity:revoke_token"),
    Route("GET", "/v3/auth/catalog", auth.catalog, "identity:get_auth_catalog"),
    Route("GET", "/v3/auth/projects", auth.projects, "identity:get_auth_projects"),
    Route("GET", "/v3/auth/domains", auth.domains, "identity:get_auth_domains"),
    Route("GET", "/v3/auth/system", auth.system, "identity:get_auth_system"),
    # Projects.
    Route("GET", "/v3/projects", projects.index, "identity:list_projects", query=schema.LIST),
    Route("POST", "/v3/projects", projects.create, "identity:create_project", schema.NEW_PROJECT),
    Route("GET", "/v3/projects/{project_id}", projects.show, "identity:get_project"),
    Route("PATCH", "/v3/projects/{project_id}", projects.update, "identity:update_project", schema.CHANGED_PROJECT),
    Route("DELETE", "/v3/projects/{project_id}", projects.delete, "identity:delete_project"),
    # Users.
    Route("GET", "/v3/users", users.index, "identity:list_users", query=schema.LIST),
    Route("POST", "/v3/users", users.create, "identity:create_user", schema.NEW_USER),
    Route("GET", "/v3/users/{user_id}", users.show, "identity:get_user"),
    Route("PATCH", "/v3/users/{user_id}", users.update, "identity:update_user", schema.CHANGED_USER),
    Route("DELETE", "/v3/users/{user_id}", users.delete, "identity:delete_user"),
    Route("GET", "/v3/users/{user_id}/projects", users.projects, "identity:list_user_projects", query=schema.LIST),
    Route("POST", "/v3/users/{user_id}/password", users.change_password, "identity:change_password", schema.NEW_PASSWORD),
    # Roles, and who has them.
    Route("GET", "/v3/roles", roles.index, "identity:list_roles", query=schema.LIST),
    Route("POST", "/v3/roles", roles.create, "identity:create_role", schema.ROLE),
    Route("GET", "/v3/roles/{role_id}", roles.show, "identity:get_role"),
    Route("PATCH", "/v3/roles/{role_id}", roles.update, "identity:update_role", schema.ROLE),
    Route("DELETE", "/v3/roles/{role_id}", roles.delete, "identity:delete_role"),
    Route("GET", "/v3/role_assignments", grants.assignments, "identity:list_role_assignments"),
    Route("GET", _ON_PROJECT, grants.index, "identity:list_grants"),
    Route("GET", f"{_ON_PROJECT}/{{role_id}}", grants.check, "identity:check_grant"),
    Route("PUT", f"{_ON_PROJECT}/{{role_id}}", grants.give, "identity:create_grant"),
    Route("DELETE", f"{_ON_PROJECT}/{{role_id}}", grants.take, "identity:revoke_grant"),
    Route("GET", _ON_SYSTEM, grants.index, "identity:list_grants"),
    Route("GET", f"{_ON_SYSTEM}/{{role_id}}", grants.check, "identity:check_grant"),
    Route("PUT", f"{_ON_SYSTEM}/{{role_id}}", grants.give, "identity:create_grant"),
    Route("DELETE", f"{_ON_SYSTEM}/{{role_id}}", grants.take, "identity:revoke_grant"),
    # What is fixed.
    Route("GET", "/v3/domains", fixed.domains, "identity:list_domains"),
    Route("GET", "/v3/domains/{domain_id}", fixed.domain, "identity:get_domain"),
    Route("GET", "/v3/regions", fixed.regions, "identity:list_regions"),
    Route("GET", "/v3/regions/{region_id}", fixed.region, "identity:get_region"),
    Route("GET", "/v3/services", fixed.services, "identity:list_services"),
    Route("GET", "/v3/services/{service_id}", fixed.service, "identity:get_service"),
    Route("GET", "/v3/endpoints", fixed.endpoints, "identity:list_endpoints"),
    Route("GET", "/v3/endpoints/{endpoint_id}", fixed.endpoint, "identity:get_endpoint"),
)
