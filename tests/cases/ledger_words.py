"""Short words for what tests do at the placement face."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import httpx

from .doors import Door


def holding(allocations: Mapping[str, Mapping[str, int]], generation: int | None = None) -> dict[str, Any]:
    """The body of what a consumer that is no server is to hold, by uuid of provider."""
    return {
        "allocations": {uuid: {"resources": dict(amounts)} for uuid, amounts in allocations.items()},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": generation,
        "consumer_type": "FOREIGN",
    }


def holding_at(version: str, allocations: Mapping[str, Mapping[str, int]], generation: int | None = None) -> dict[str, Any]:
    """As `holding`, with no more than a version from 1.12 on knows."""
    minor, body = int(version.removeprefix("1.")), holding(allocations, generation)
    unknown = {key for key, since in (("consumer_generation", 28), ("consumer_type", 38)) if minor < since}
    return {key: value for key, value in body.items() if key not in unknown}


async def claim(door: Door, consumer: str, uuid: str, generation: int | None = None, **amounts: int) -> httpx.Response:
    """Ask that a consumer holds so much of one provider, or nothing."""
    return await door.put(f"/allocations/{consumer}", holding({uuid: amounts} if amounts else {}, generation))


async def make_provider(door: Door, name: str = "", parent: str | None = None, **totals: int) -> str:
    """A provider with inventories; its uuid."""
    uuid = str(uuid4())
    await door.write("/resource_providers", {"name": name or uuid, "uuid": uuid, "parent_provider_uuid": parent})
    if totals:
        inventories = {resource: {"total": total} for resource, total in totals.items()}
        body = {"resource_provider_generation": 0, "inventories": inventories}
        await door.write(f"/resource_providers/{uuid}/inventories", body, "PUT")
    return uuid


async def make_class(door: Door, name: str) -> None:
    await door.write(f"/resource_classes/{name}", None, "PUT")


async def set_of_provider(door: Door, uuid: str, what: str, *values: str) -> None:
    """Set the `traits` or `aggregates` of a provider."""
    for value in (value for value in values if value.startswith("CUSTOM_")):
        await door.write(f"/traits/{value}", None, "PUT")
    generation = (await door.read(f"/resource_providers/{uuid}"))["generation"]
    body = {what: list(values), "resource_provider_generation": generation}
    await door.write(f"/resource_providers/{uuid}/{what}", body, "PUT")


async def make_devices(door: Door, hosts: int, width: int) -> dict[str, str]:
    """Hosts with `width` equal children that have one CUSTOM_PF each; the host of each child."""
    await make_class(door, "CUSTOM_PF")
    hosts_of = {}
    for _ in range(hosts):
        root = await make_provider(door, VCPU=8)
        hosts_of.update({await make_provider(door, "", root, CUSTOM_PF=1): root for _ in range(width)})
    return hosts_of


def ask_devices(groups: int, policy: str = "isolate") -> str:
    """A query of so many numbered groups that want one CUSTOM_PF each."""
    return "&".join(f"resources{number}=CUSTOM_PF:1" for number in range(1, groups + 1)) + f"&group_policy={policy}"


async def candidates(door: Door, query: str) -> list[dict[str, dict[str, int]]]:
    """What each candidate would claim: amounts by provider."""
    found = await door.read(f"/allocation_candidates?{query}")
    return [
        {uuid: entry["resources"] for uuid, entry in request["allocations"].items()} for request in found["allocation_requests"]
    ]


def code(answer: httpx.Response) -> str:
    """The code of an error."""
    return str(answer.json()["errors"][0]["code"])
