"""What the service says of itself: versions, extensions, quotas, zones, agents."""

from typing import Any, Final

from kilonova.companions.network.faults import ExtensionNotFound
from kilonova.companions.network.ownership import owns
from kilonova.companions.network.parts import GROUP, NETWORK, PORT, RULE, SUBNET, NetworkParts
from kilonova.domain.errors import Forbidden
from kilonova.http.calls import Answer, Call
from kilonova.storage.networks import Record

_NOUNS: Final = (NETWORK, SUBNET, PORT, GROUP, RULE)
_TAGGED: Final = "tag-ports-during-bulk-creation"

EXTENSIONS: Final = {
    "availability_zone": ("Availability Zone", "Availability zones can be listed; there are none."),
    "agent": ("agent", "Agents can be listed; there are none."),
    "binding": ("Port Binding", "The host of a port."),
    "allowed-address-pairs": ("Allowed Address Pairs", "Further addresses of a port, kept as they are given."),
    "external-net": ("Neutron external network", "Networks that lead outside."),
    "extra_dhcp_opt": ("Neutron Extra DHCP options", "DHCP options of a port, kept as they are given."),
    "net-mtu": ("Network MTU", "The MTU of a network."),
    "net-mtu-writable": ("Network MTU (writable)", "The MTU can be set."),
    "pagination": ("Pagination support", "Lists come in pages."),
    "port-security": ("Port Security", "Ports and networks can do without security groups."),
    "project-id": ("project_id field enabled", "Owners are shown as project_id too."),
    "provider": ("Provider Network", "How a network is carried, kept as it is given."),
    "quotas": ("Quota management support", "Limits can be read; there are none."),
    "security-group": ("security-group", "Security groups and their rules."),
    "stateful-security-group": ("Stateful security group", "Groups can be stateless."),
    "sorting": ("Sorting support", "Lists can be sorted."),
    "standard-attr-description": ("standard-attr-description", "Descriptions."),
    "standard-attr-revisions": ("Resource revision numbers", "Revision numbers."),
    "standard-attr-tag": ("Tag support for resources", "Tags of networks, subnets, ports and security groups."),
    "standard-attr-timestamp": ("Resource timestamps", "Times of creation and change."),
    "subnet-service-types": ("Subnet service types", "Service types of subnets, kept as they are given."),
    _TAGGED: ("Tag Ports During Bulk Creation", "Ports can be created with tags."),
}
"""Alias to name and what it means here. A client that finds an alias uses the feature: nothing stands here that is not served."""


async def list_versions(call: Call, parts: NetworkParts) -> Answer:
    """GET /: the versions of the API."""
    version = {"id": "v2.0", "status": "CURRENT", "links": [{"rel": "self", "href": f"{call.root}/v2.0/"}]}
    return Answer(200, {"versions": [version]})


async def list_resources(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0: the collections of the API."""
    resources = [
        {
            "name": noun.one,
            "collection": noun.many,
            "links": [{"rel": "self", "href": f"{call.root}/v2.0/{noun.path}"}],
        }
        for noun in _NOUNS
    ]
    return Answer(200, {"resources": resources})


def _extension(alias: str) -> dict[str, Any]:
    name, description = EXTENSIONS[alias]
    return {"alias": alias, "name": name, "description": description, "links": [], "updated": "2026-11-30T00:00:00-00:00"}


async def list_extensions(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/extensions."""
    return Answer(200, {"extensions": [_extension(alias) for alias in EXTENSIONS]})


async def show_extension(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/extensions/{alias}."""
    alias = call.path["alias"]
    if alias not in EXTENSIONS:
        raise ExtensionNotFound(f"Extension {alias} is not served.")
    return Answer(200, {"extension": _extension(alias)})


async def show_quota(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/quotas/{project_id} and its /default: nothing is limited."""
    _check_project(call)
    return Answer(200, {"quota": {noun.one: -1 for noun in _NOUNS}})


async def show_quota_details(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/quotas/{project_id}/details.json: limits and what the project has."""
    _check_project(call)
    project_id = call.path["project_id"]
    quota = {}
    async with parts.database.read() as transaction:
        for noun in _NOUNS:
            used = len(await noun.rows.select(transaction, {"project_id": [project_id]}))
            quota[noun.one] = {"limit": -1, "used": used, "reserved": 0}
    return Answer(200, {"quota": quota})


def _check_project(call: Call) -> None:
    project_id = call.path["project_id"]
    if not owns(call.caller, Record("", project_id, "", {}, 0, 0)):
        raise Forbidden(f"The quota of project {project_id} is not the caller's to see.")


async def list_zones(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/availability_zones: networks reach every host, so there are none."""
    return Answer(200, {"availability_zones": []})


async def list_agents(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/agents: there are none."""
    return Answer(200, {"agents": []})
