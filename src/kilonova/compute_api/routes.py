"""Every URL of the compute API on one page. A row says which versions it serves, who may, and what it takes."""

from collections.abc import Sequence

from kilonova.compute_api.aggregates import handlers as aggregates
from kilonova.compute_api.aggregates import schema as aggregate_shapes
from kilonova.compute_api.extensions import handlers as extensions
from kilonova.compute_api.flavors import access_handlers as flavor_access
from kilonova.compute_api.flavors import handlers as flavors
from kilonova.compute_api.flavors import schema as flavor_shapes
from kilonova.compute_api.flavors import specs_handlers as flavor_specs
from kilonova.compute_api.hypervisors import handlers as hypervisors
from kilonova.compute_api.hypervisors import schema as hypervisor_shapes
from kilonova.compute_api.instance_actions import handlers as instance_actions
from kilonova.compute_api.instance_actions.handlers import PAGED as PAGED_ACTIONS
from kilonova.compute_api.keypairs import handlers as keypairs
from kilonova.compute_api.keypairs import schema as keypair_shapes
from kilonova.compute_api.limits import handlers as limits
from kilonova.compute_api.limits import quota_handlers as quotas
from kilonova.compute_api.limits import schema as limit_shapes
from kilonova.compute_api.server_groups import handlers as groups
from kilonova.compute_api.server_groups import schema as group_shapes
from kilonova.compute_api.servers import actions, metadata, network_views, rules, tags
from kilonova.compute_api.servers import handlers as servers
from kilonova.compute_api.servers import schema as server_schema
from kilonova.compute_api.servers.create import create
from kilonova.compute_api.services import handlers as services
from kilonova.compute_api.services import schema as service_shapes
from kilonova.compute_api.zones import handlers as zones
from kilonova.http.calls import Action, Route

# The key in the body of POST /servers/{id}/action.
ACTIONS: Sequence[Action] = (
    Action("os-start", actions.start, rules.START, server_schema.bare("os-start")),
    Action("os-stop", actions.stop, rules.STOP, server_schema.bare("os-stop")),
    Action("reboot", actions.reboot, rules.REBOOT, server_schema.REBOOT),
    Action("forceDelete", actions.force_delete, rules.FORCE_DELETE, server_schema.bare("forceDelete")),
    Action("lock", actions.lock, rules.LOCK, server_schema.LOCK),
    Action("unlock", actions.unlock, rules.UNLOCK, server_schema.bare("unlock")),
    Action("os-resetState", actions.reset_state, rules.RESET_STATE, server_schema.RESET_STATE),
    Action("os-getConsoleOutput", actions.console_output, rules.CONSOLE_OUTPUT, server_schema.CONSOLE_OUTPUT),
)

# Servers and what hangs on them.
_SERVER = "/servers/{server_id}"
SERVERS: Sequence[Route] = (
    Route("GET", "/servers", servers.index, "os_compute_api:servers:index", query=server_schema.LOOSE_LIST, until=74),
    Route("GET", "/servers", servers.index, "os_compute_api:servers:index", query=server_schema.STRICT_LIST, since=75),
    Route("GET", "/servers/detail", servers.detail, "os_compute_api:servers:detail", query=server_schema.LOOSE_LIST, until=74),
    Route("GET", "/servers/detail", servers.detail, "os_compute_api:servers:detail", query=server_schema.STRICT_LIST, since=75),
    Route("POST", "/servers", create, "os_compute_api:servers:create", server_schema.CREATE),
    Route("GET", _SERVER, servers.show, rules.SHOW),
    Route("PUT", _SERVER, servers.update, rules.UPDATE, server_schema.UPDATE),
    Route("DELETE", _SERVER, servers.delete, rules.DELETE),
    Route("POST", _SERVER + "/action", actions.dispatch(ACTIONS), "kilonova:servers:action"),
    Route("GET", _SERVER + "/metadata", metadata.index, rules.METADATA + "index"),
    Route("POST", _SERVER + "/metadata", metadata.create, rules.METADATA + "create", server_schema.METADATA_BODY),
    Route("PUT", _SERVER + "/metadata", metadata.replace, rules.METADATA + "update_all", server_schema.METADATA_BODY),
    Route("GET", _SERVER + "/metadata/{key}", metadata.show, rules.METADATA + "show"),
    Route("PUT", _SERVER + "/metadata/{key}", metadata.update, rules.METADATA + "update", server_schema.META_ITEM),
    Route("DELETE", _SERVER + "/metadata/{key}", metadata.delete, rules.METADATA + "delete"),
    Route("GET", _SERVER + "/tags", tags.index, rules.TAGS + "index", since=26),
    Route("PUT", _SERVER + "/tags", tags.replace, rules.TAGS + "update_all", server_schema.TAGS_BODY, since=26),
    Route("DELETE", _SERVER + "/tags", tags.delete_all, rules.TAGS + "delete_all", since=26),
    Route("GET", _SERVER + "/tags/{tag}", tags.show, rules.TAGS + "show", since=26),
    Route("PUT", _SERVER + "/tags/{tag}", tags.update, rules.TAGS + "update", since=26),
    Route("DELETE", _SERVER + "/tags/{tag}", tags.delete, rules.TAGS + "delete", since=26),
    Route("GET", _SERVER + "/ips", network_views.addresses, rules.ADDRESSES + "index"),
    Route("GET", _SERVER + "/ips/{network}", network_views.addresses_of_network, rules.ADDRESSES + "show"),
    Route("GET", _SERVER + "/os-security-groups", network_views.security_groups, rules.SECURITY_GROUPS),
    Route("GET", _SERVER + "/os-instance-actions", instance_actions.index, rules.ACTIONS + "list", until=57),
    Route("GET", _SERVER + "/os-instance-actions", instance_actions.index, rules.ACTIONS + "list", query=PAGED_ACTIONS, since=58),
    Route("GET", _SERVER + "/os-instance-actions/{request_id}", instance_actions.show, rules.ACTIONS + "show"),
)

# Flavors, keypairs, groups, aggregates, services, hypervisors, zones, limits.
CLOUD: Sequence[Route] = (
    Route("GET", "/extensions", extensions.index, "os_compute_api:extensions"),
    Route("GET", "/extensions/{alias}", extensions.show, "os_compute_api:extensions"),
    Route("GET", "/flavors", flavors.index, "os_compute_api:flavors", query=flavor_shapes.LIST),
    Route("POST", "/flavors", flavors.create, "os_compute_api:os-flavor-manage:create", flavor_shapes.CREATE),
    Route("GET", "/flavors/detail", flavors.detail, "os_compute_api:flavors", query=flavor_shapes.LIST),
    Route("GET", "/flavors/{flavor_id}", flavors.show, "os_compute_api:flavors"),
    Route(
        "PUT", "/flavors/{flavor_id}", flavors.update, "os_compute_api:os-flavor-manage:update", flavor_shapes.UPDATE, since=55
    ),
    Route("DELETE", "/flavors/{flavor_id}", flavors.delete, "os_compute_api:os-flavor-manage:delete"),
    Route("POST", "/flavors/{flavor_id}/action", flavor_access.action, "os_compute_api:flavors", flavor_shapes.ACTION),
    Route("GET", "/flavors/{flavor_id}/os-flavor-access", flavor_access.index, "os_compute_api:os-flavor-access"),
    Route("GET", "/flavors/{flavor_id}/os-extra_specs", flavor_specs.index, "os_compute_api:os-flavor-extra-specs:index"),
    Route(
        "POST",
        "/flavors/{flavor_id}/os-extra_specs",
        flavor_specs.create,
        "os_compute_api:os-flavor-extra-specs:create",
        flavor_shapes.SPECS,
    ),
    Route("GET", "/flavors/{flavor_id}/os-extra_specs/{key}", flavor_specs.show, "os_compute_api:os-flavor-extra-specs:show"),
    Route(
        "PUT",
        "/flavors/{flavor_id}/os-extra_specs/{key}",
        flavor_specs.update,
        "os_compute_api:os-flavor-extra-specs:update",
        flavor_shapes.ONE_SPEC,
    ),
    Route(
        "DELETE",
        "/flavors/{flavor_id}/os-extra_specs/{key}",
        flavor_specs.delete,
        "os_compute_api:os-flavor-extra-specs:delete",
    ),
    Route("GET", "/limits", limits.show, "os_compute_api:limits", query=limit_shapes.LIMITS),
    Route("GET", "/os-aggregates", aggregates.index, "os_compute_api:os-aggregates:index"),
    Route("POST", "/os-aggregates", aggregates.create, "os_compute_api:os-aggregates:create", aggregate_shapes.CREATE),
    Route("GET", "/os-aggregates/{aggregate_id}", aggregates.show, "os_compute_api:os-aggregates:show"),
    Route(
        "PUT",
        "/os-aggregates/{aggregate_id}",
        aggregates.update,
        "os_compute_api:os-aggregates:update",
        aggregate_shapes.UPDATE,
    ),
    Route("DELETE", "/os-aggregates/{aggregate_id}", aggregates.delete, "os_compute_api:os-aggregates:delete"),
    # Each action asks a rule of its own; this one only lets the caller in.
    Route(
        "POST",
        "/os-aggregates/{aggregate_id}/action",
        aggregates.action,
        "kilonova:aggregates:action",
        aggregate_shapes.ACTION,
    ),
    Route("GET", "/os-availability-zone", zones.index, "os_compute_api:os-availability-zone:list"),
    Route("GET", "/os-availability-zone/detail", zones.detail, "os_compute_api:os-availability-zone:detail"),
    Route("GET", "/os-hypervisors", hypervisors.index, "os_compute_api:os-hypervisors:list", query=hypervisor_shapes.LIST),
    Route(
        "GET",
        "/os-hypervisors/detail",
        hypervisors.detail,
        "os_compute_api:os-hypervisors:list-detail",
        query=hypervisor_shapes.LIST,
    ),
    Route("GET", "/os-hypervisors/statistics", hypervisors.sums, "os_compute_api:os-hypervisors:statistics", until=87),
    Route(
        "GET",
        "/os-hypervisors/{hypervisor_id}",
        hypervisors.show,
        "os_compute_api:os-hypervisors:show",
        query=hypervisor_shapes.SHOW,
    ),
    Route(
        "GET",
        "/os-hypervisors/{hypervisor_id}/search",
        hypervisors.search,
        "os_compute_api:os-hypervisors:search",
        until=52,
    ),
    Route(
        "GET",
        "/os-hypervisors/{hypervisor_id}/servers",
        hypervisors.servers,
        "os_compute_api:os-hypervisors:servers",
        until=52,
    ),
    Route(
        "GET",
        "/os-hypervisors/{hypervisor_id}/uptime",
        hypervisors.uptime,
        "os_compute_api:os-hypervisors:uptime",
        until=87,
    ),
    Route("GET", "/os-keypairs", keypairs.index, "os_compute_api:os-keypairs:index", query=keypair_shapes.LIST),
    Route("POST", "/os-keypairs", keypairs.create, "os_compute_api:os-keypairs:create", keypair_shapes.CREATE),
    Route("GET", "/os-keypairs/{name}", keypairs.show, "os_compute_api:os-keypairs:show", query=keypair_shapes.ONE),
    Route("DELETE", "/os-keypairs/{name}", keypairs.delete, "os_compute_api:os-keypairs:delete", query=keypair_shapes.ONE),
    Route("GET", "/os-quota-class-sets/{class_name}", quotas.show_class, "os_compute_api:os-quota-class-sets:show"),
    Route(
        "PUT",
        "/os-quota-class-sets/{class_name}",
        quotas.update_class,
        "os_compute_api:os-quota-class-sets:update",
        limit_shapes.UPDATE_CLASS,
    ),
    Route("GET", "/os-quota-sets/{project_id}", quotas.show, "os_compute_api:os-quota-sets:show", query=limit_shapes.QUERY),
    Route(
        "PUT",
        "/os-quota-sets/{project_id}",
        quotas.update,
        "os_compute_api:os-quota-sets:update",
        limit_shapes.UPDATE,
        limit_shapes.QUERY,
    ),
    Route(
        "DELETE",
        "/os-quota-sets/{project_id}",
        quotas.delete,
        "os_compute_api:os-quota-sets:delete",
        query=limit_shapes.QUERY,
    ),
    Route("GET", "/os-quota-sets/{project_id}/defaults", quotas.defaults, "os_compute_api:os-quota-sets:defaults"),
    Route(
        "GET",
        "/os-quota-sets/{project_id}/detail",
        quotas.detail,
        "os_compute_api:os-quota-sets:detail",
        query=limit_shapes.QUERY,
    ),
    Route("GET", "/os-server-groups", groups.index, "os_compute_api:os-server-groups:index", query=group_shapes.LIST),
    Route("POST", "/os-server-groups", groups.create, "os_compute_api:os-server-groups:create", group_shapes.CREATE),
    Route("GET", "/os-server-groups/{group_id}", groups.show, "os_compute_api:os-server-groups:show"),
    Route("DELETE", "/os-server-groups/{group_id}", groups.delete, "os_compute_api:os-server-groups:delete"),
    Route("GET", "/os-services", services.index, "os_compute_api:os-services:list", query=service_shapes.LIST),
    Route("PUT", "/os-services/{service_id}", services.act, "os_compute_api:os-services:update", service_shapes.ACT, until=52),
    Route(
        "PUT",
        "/os-services/{service_id}",
        services.update,
        "os_compute_api:os-services:update",
        service_shapes.UPDATE,
        since=53,
    ),
    Route("DELETE", "/os-services/{service_id}", services.delete, "os_compute_api:os-services:delete"),
)

ROUTES: Sequence[Route] = (*SERVERS, *CLOUD)
