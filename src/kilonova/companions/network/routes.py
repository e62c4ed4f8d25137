"""Every URL of the network API on one page. A row says who may, and what it takes."""

from collections.abc import Mapping, Sequence
from typing import Final

from kilonova.companions.network import schema
from kilonova.companions.network.handlers import (
    networks,
    ports,
    security_group_rules,
    security_groups,
    service,
    subnets,
    tags,
)
from kilonova.companions.network.parts import GROUP, NETWORK, PORT, RULE, SUBNET, Noun
from kilonova.http.calls import Handler, Route
from kilonova.http.shapes import Schema


def _crud(
    noun: Noun, handlers: Sequence[Handler], change: Mapping[str, Schema], birth: Mapping[str, Schema], needs: Sequence[str]
) -> Sequence[Route]:
    """Rows of a noun for list, show, create, delete and, where there is a fifth handler, update."""
    many, single, rule = f"/v2.0/{noun.path}", f"/v2.0/{noun.path}/{{id}}", noun.one
    listing = schema.listing([entry.name for entry in noun.fields])
    rows = [
        Route("GET", many, handlers[0], f"get_{rule}", query=listing),
        Route("GET", single, handlers[1], f"get_{rule}"),
        Route("POST", many, handlers[2], f"create_{rule}", body=schema.birth(rule, {**change, **birth}, needs)),
        Route("DELETE", single, handlers[3], f"delete_{rule}"),
    ]
    if len(handlers) > 4:
        rows.append(Route("PUT", single, handlers[4], f"update_{rule}", body=schema.change(rule, change)))
    return rows


NETWORKS: Final = _crud(
    NETWORK,
    (
        networks.list_networks,
        networks.show_network,
        networks.create_networks,
        networks.delete_network,
        networks.update_network,
    ),
    schema.NETWORK,
    schema.NETWORK_BIRTH,
    (),
)
SUBNETS: Final = _crud(
    SUBNET,
    (subnets.list_subnets, subnets.show_subnet, subnets.create_subnets, subnets.delete_subnet, subnets.update_subnet),
    schema.SUBNET,
    schema.SUBNET_BIRTH,
    ("network_id", "ip_version", "cidr"),
)
PORTS: Final = _crud(
    PORT,
    (ports.list_ports, ports.show_port, ports.create_ports, ports.delete_port, ports.update_port),
    schema.PORT,
    schema.PORT_BIRTH,
    ("network_id",),
)
GROUPS: Final = _crud(
    GROUP,
    (
        security_groups.list_groups,
        security_groups.show_group,
        security_groups.create_groups,
        security_groups.remove_group,
        security_groups.update_group,
    ),
    schema.GROUP,
    schema.GROUP_BIRTH,
    (),
)
RULES: Final = _crud(
    RULE,
    (
        security_group_rules.list_rules,
        security_group_rules.show_rule,
        security_group_rules.create_rules,
        security_group_rules.delete_rule,
    ),
    schema.RULE,
    {},
    ("security_group_id", "direction"),
)


def _tags(noun: Noun) -> Sequence[Route]:
    many, single = f"/v2.0/{noun.path}/{{id}}/tags", f"/v2.0/{noun.path}/{{id}}/tags/{{tag}}"
    return (
        Route("GET", many, tags.list_tags, f"get_{noun.one}"),
        Route("PUT", many, tags.replace_tags, f"update_{noun.one}", body=schema.TAG_LIST),
        Route("DELETE", many, tags.remove_tags, f"update_{noun.one}"),
        Route("GET", single, tags.show_tag, f"get_{noun.one}"),
        Route("PUT", single, tags.add_tag, f"update_{noun.one}"),
        Route("DELETE", single, tags.remove_tag, f"update_{noun.one}"),
    )


SERVICE: Final = (
    Route("GET", "/", service.list_versions, ""),
    Route("GET", "/v2.0", service.list_resources, ""),
    Route("GET", "/v2.0/extensions", service.list_extensions, "get_extension"),
    Route("GET", "/v2.0/extensions/{alias}", service.show_extension, "get_extension"),
    Route("GET", "/v2.0/quotas/{project_id}", service.show_quota, "get_quota"),
    Route("GET", "/v2.0/quotas/{project_id}/default", service.show_quota, "get_quota"),
    Route("GET", "/v2.0/quotas/{project_id}/default.json", service.show_quota, "get_quota"),
    Route("GET", "/v2.0/quotas/{project_id}/details", service.show_quota_details, "get_quota"),
    Route("GET", "/v2.0/quotas/{project_id}/details.json", service.show_quota_details, "get_quota"),
    Route("GET", "/v2.0/availability_zones", service.list_zones, "get_availability_zone"),
    Route("GET", "/v2.0/agents", service.list_agents, "get_agent"),
)

ROUTES: Final[Sequence[Route]] = (
    *SERVICE,
    *NETWORKS,
    *SUBNETS,
    *PORTS,
    *GROUPS,
    *RULES,
    *(row for noun in (NETWORK, SUBNET, PORT, GROUP) for row in _tags(noun)),
)
