"""Looks up what a request for servers names: flavor, image, keypair, group, zone, host, traits. It writes nothing."""

from dataclasses import dataclass
from typing import Final

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.servers import rules
from kilonova.compute_api.servers.unserved import refuse_unserved
from kilonova.domain.errors import BadRequest, Forbidden, NotFound
from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.domain.image_properties import TRAIT_PREFIX
from kilonova.http.calls import Call
from kilonova.scheduling.query import QueryParts, candidate_query
from kilonova.storage import aggregates, flavors, groups, hosts, keypairs, trait_names
from kilonova.storage.aggregates import zones_by_host
from kilonova.storage.database import Transaction

_GB: Final = 1024**3
_EXTRA_SPEC_TRAIT: Final = "trait"


@dataclass(frozen=True, slots=True)
class Found:
    """What a request names, found. `key_data` is the public key; `only_host` "" for any."""

    flavor: Flavor
    image: Image
    key_data: str
    zone: str
    only_host: str
    group_id: str
    security_groups: tuple[str, ...]


async def look_up(call: Call, parts: ComputeParts) -> Found:
    """Find all of it. Raises errors.BadRequest naming what is missing or does not fit, errors.Forbidden, errors.Unavailable."""
    asked = call.body["server"]
    image = await _image(call, parts, asked["imageRef"])
    named = [entry["name"] for entry in asked.get("security_groups", ()) if "name" in entry]
    groups = await parts.networks.name_groups(call.caller, named)
    async with parts.database.read() as transaction:
        flavor = await _flavor(transaction, call, str(asked["flavorRef"]))
        _check_sizes(call, flavor, image)
        await _check_traits(transaction, parts, flavor, image)
        zone, forced = await _zone(transaction, parts, asked.get("availability_zone", ""))
        return Found(
            flavor=flavor,
            image=image,
            key_data=await _key(transaction, call, asked.get("key_name", "")),
            zone=zone,
            only_host=forced or await _host(transaction, asked.get("host", ""), asked.get("hypervisor_hostname", "")),
            group_id=await _group(transaction, call, str(hints_of(call).get("group", ""))),
            security_groups=groups,
        )


def hints_of(call: Call) -> dict[str, object]:
    """The scheduler hints of a request, under whichever of their two names."""
    hints: dict[str, object] = call.body.get("os:scheduler_hints") or call.body.get("OS-SCH-HNT:scheduler_hints") or {}
    return hints


async def _image(call: Call, parts: ComputeParts, reference: str) -> Image:
    # Old clients send the image's address; its last part is the id.
    image_id = reference.rstrip("/").rpartition("/")[2]
    try:
        image = await parts.images.get(call.caller, image_id)
    except NotFound as error:
        raise BadRequest(f"Invalid imageRef provided: image {image_id} could not be found.") from error
    if image.status != "active":
        raise BadRequest(f"Image {image_id} is not active.")
    return image


async def _flavor(transaction: Transaction, call: Call, reference: str) -> Flavor:
    flavorid = reference.rstrip("/").rpartition("/")[2]
    flavor = await flavors.find_flavor(transaction, flavorid)
    seen = flavor is not None and (call.caller.is_admin or await flavors.visible_to(transaction, flavor, call.caller.project_id))
    if flavor is None or not seen:
        raise BadRequest(f"Invalid flavorRef provided: flavor {flavorid} could not be found.")
    return flavor


def _check_sizes(call: Call, flavor: Flavor, image: Image) -> None:
    if image.min_ram_mb > flavor.memory_mb:
        raise BadRequest("Flavor's memory is too small for requested image.")
    if flavor.root_gb == 0:
        # A root disk of 0 is as large as the image, which is the cloud's loss and not the flavor's.
        if not call.allows(rules.ZERO_DISK, {}):
            raise Forbidden("Only volume-backed servers are allowed for flavors with zero disk.")
        return
    if (image.size_bytes or 0) > flavor.root_gb * _GB or image.min_disk_gb > flavor.root_gb:
        raise BadRequest(
            f"Flavor's disk is too small for requested image. Flavor disk is {flavor.root_gb} GB, the image has "
            f"{image.size_bytes or 0} bytes and asks for {image.min_disk_gb} GB."
        )


async def _check_traits(transaction: Transaction, parts: ComputeParts, flavor: Flavor, image: Image) -> None:
    """Refuses what no host could ever answer: a trait that does not exist, or one both required and forbidden."""
    refuse_unserved(flavor, image)
    named = {key.partition(":")[2] for key in flavor.extra_specs if key.startswith(_EXTRA_SPEC_TRAIT)}
    named |= {key.removeprefix(TRAIT_PREFIX) for key in image.properties if key.startswith(TRAIT_PREFIX)}
    custom = await trait_names.custom_traits(transaction, sorted(named - parts.traits))
    known = parts.traits | custom if custom else parts.traits
    candidate_query(flavor, image, parts=QueryParts(known_traits=known))


async def _zone(transaction: Transaction, parts: ComputeParts, asked: str) -> tuple[str, str]:
    """The zone and the host that `zone`, `zone:host` or `zone::node` name; a node is a host here."""
    if not asked:
        return "", ""
    zone, _, place = asked.partition(":")
    host = place.rpartition(":")[2] if place.startswith(":") else place.partition(":")[0]
    if host:
        host = await _host(transaction, host, "")
    # A host that is named beside the default zone is enough: its own zone is then what counts.
    if zone == parts.api.default_zone:
        return ("" if host else zone), host
    if zone and zone not in zones_by_host(await aggregates.all_aggregates(transaction)).values():
        raise BadRequest("The requested availability zone is not available")
    return zone, host


async def _host(transaction: Transaction, host: str, node: str) -> str:
    """The host that is named by itself or by its hypervisor."""
    for name in (host, node):
        if name and await hosts.find_host(transaction, name) is None:
            raise BadRequest(f"Compute host {name} could not be found.")
    if host and node and host != node:
        raise BadRequest(f"Compute host {host} has no hypervisor {node}.")
    return host or node


async def _key(transaction: Transaction, call: Call, name: str) -> str:
    if not name:
        return ""
    keypair = await keypairs.find_keypair(transaction, call.caller.user_id, name)
    if keypair is None:
        raise BadRequest("Invalid key_name provided.")
    return keypair.public_key


async def _group(transaction: Transaction, call: Call, group_id: str) -> str:
    if not group_id:
        return ""
    group = await groups.find_group(transaction, group_id)
    if group is None or (group.project_id != call.caller.project_id and not call.caller.is_admin):
        raise BadRequest(f"Instance group {group_id} could not be found.")
    return group.id
