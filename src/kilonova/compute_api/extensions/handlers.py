"""/extensions: the parts of the API that older clients look for by alias before they use them."""

from collections.abc import Mapping
from typing import Any, Final

from kilonova.compute_api.parts import ComputeParts
from kilonova.domain.errors import NotFound
from kilonova.http.calls import Answer, Call

_NAMES: Final[Mapping[str, str]] = {
    "OS-DCF": "Disk configuration of servers.",
    "OS-EXT-AZ": "Availability zone of servers.",
    "OS-EXT-SRV-ATTR": "Host and hypervisor of servers, for administrators.",
    "OS-EXT-STS": "Vm, task and power state of servers.",
    "OS-FLV-DISABLED": "Whether a flavor is disabled.",
    "OS-FLV-EXT-DATA": "Ephemeral disk of flavors.",
    "OS-SCH-HNT": "Scheduler hints at create.",
    "OS-SRV-USG": "When servers were launched and terminated.",
    "os-aggregates": "Host aggregates.",
    "os-availability-zone": "Availability zones.",
    "os-console-output": "Console output of servers.",
    "os-flavor-access": "Projects that may use a private flavor.",
    "os-flavor-extra-specs": "Extra specs of flavors.",
    "os-flavor-manage": "Creating and deleting flavors.",
    "os-hypervisors": "Hypervisors.",
    "os-instance-actions": "What was done to a server.",
    "os-keypairs": "Keypairs.",
    "os-quota-class-sets": "Default limits.",
    "os-quota-sets": "Limits of projects.",
    "os-server-groups": "Server groups.",
    "os-services": "Services.",
}


def _extension(alias: str) -> dict[str, Any]:
    return {
        "alias": alias,
        "name": alias,
        "description": _NAMES[alias],
        "namespace": "",
        "updated": "2014-12-03T00:00:00Z",
        "links": [],
    }


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /extensions"""
    return Answer(body={"extensions": [_extension(alias) for alias in _NAMES]})


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /extensions/{alias}"""
    alias = call.path["alias"]
    if alias not in _NAMES:
        raise NotFound(f"There is no extension {alias}.")
    return Answer(body={"extension": _extension(alias)})
