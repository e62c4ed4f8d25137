"""Takes a request for servers: everything it names is looked up and checked before anything is written."""

import secrets
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.servers import rules
from kilonova.compute_api.servers.asked_networks import asked_networks
from kilonova.compute_api.servers.finding import asked_by
from kilonova.compute_api.servers.lookups import Found, look_up
from kilonova.compute_api.servers.metadata import refuse_too_many
from kilonova.compute_api.servers.view import bare_root, server_links
from kilonova.compute_api.servers.wishes import Count, numbered, wish_of
from kilonova.domain.errors import BadRequest, Forbidden, OverQuota
from kilonova.domain.wish import Wish
from kilonova.http.calls import Answer, Call
from kilonova.http.shapes import truth
from kilonova.storage.quotas import limits_of, usage_of

_PASSWORD: Final = string.ascii_letters + string.digits
_PASSWORD_LENGTH: Final = 12
_MOST_AT_ONCE: Final = 10_000
_RESERVATION: Final = string.ascii_lowercase + string.digits


async def create(call: Call, parts: ComputeParts) -> Answer:
    """POST /servers. The servers are accepted all together; the answer is the first one's."""
    asked = call.body["server"]
    count = _count(asked)
    _refuse_unserved(asked)
    _ask_policy(call, asked)
    refuse_too_many(len(asked.get("metadata", {})), parts)
    found = await look_up(call, parts)
    networks = await asked_networks(call, parts, count.most)
    reservation = "r-" + "".join(secrets.choice(_RESERVATION) for _ in range(8))
    wish = replace(wish_of(call, found, networks, parts.compute), reservation_id=reservation)
    password = asked.get("adminPass") or "".join(secrets.choice(_PASSWORD) for _ in range(_PASSWORD_LENGTH))
    ids = await _accept(call, parts, wish, _Order(count, password))
    if truth(asked.get("return_reservation_id", False)):
        return Answer(202, {"reservation_id": reservation})
    return _answer(call, ids[0], found, password)


def _count(asked: Mapping[str, Any]) -> Count:
    least = int(asked.get("min_count", 1))
    most = int(asked.get("max_count", least))
    if least > most:
        raise BadRequest("min_count must be <= max_count")
    return Count(least, most)


def _refuse_unserved(asked: Mapping[str, Any]) -> None:
    if asked.get("personality"):
        raise BadRequest("personality files are not yet supported")
    if asked.get("block_device_mapping"):
        raise BadRequest("Invalid block_device_mapping: volumes are not yet served")
    for device in asked.get("block_device_mapping_v2", ()):
        image = device.get("uuid") or device.get("image_id")
        if device.get("source_type") != "image" or device.get("destination_type", "local") not in {"local", None}:
            raise BadRequest("Invalid block_device_mapping_v2: volumes are not yet served")
        if image != asked.get("imageRef") or device.get("boot_index") not in {0, "0"}:
            raise BadRequest("Invalid block_device_mapping_v2: a local image must be the server's own, with boot_index 0")
    if len(asked.get("block_device_mapping_v2", ())) > 1:
        raise BadRequest("Invalid block_device_mapping_v2: the image of the server stands there more than once")
    if not asked.get("imageRef"):
        raise BadRequest("Invalid imageRef provided: booting from a volume is not yet served")


def _ask_policy(call: Call, asked: Mapping[str, Any]) -> None:
    wanted = {
        rules.ATTACH_NETWORK: isinstance(asked.get("networks"), list) and bool(asked["networks"]),
        rules.TRUSTED_CERTIFICATES: bool(asked.get("trusted_image_certificates")),
        rules.FORCED_HOST: ":" in asked.get("availability_zone", ""),
        rules.REQUESTED_HOST: "host" in asked or "hypervisor_hostname" in asked,
    }
    for rule, needed in wanted.items():
        if needed and not call.allows(rule, {}):
            raise Forbidden(f"Policy doesn't allow {rule} to be performed.")


@dataclass(frozen=True, slots=True)
class _Order:
    """How many servers, and the password that all of them get."""

    count: Count
    password: str


async def _accept(call: Call, parts: ComputeParts, wish: Wish, order: _Order) -> Sequence[str]:
    """As many servers as the quota takes, from `most` down to `least`. Raises errors.OverQuota for what `most` met."""
    refusal: OverQuota | None = None
    secret = {"admin_password": order.password}
    most = await _most_that_fit(call, parts, wish, order.count) if order.count.most > 1 else 1
    for number in range(most, order.count.least - 1, -1):
        try:
            return await parts.acceptor.create(asked_by(call), numbered(wish, number), secret)
        except OverQuota as error:
            refusal = refusal or error
    raise refusal or OverQuota("Quota exceeded")


async def _most_that_fit(call: Call, parts: ComputeParts, wish: Wish, count: Count) -> int:
    """How many servers the project's limits leave room for now, at most as many as asked for.

    Whoever asks for a million must not have a million made ready only to be refused. Accepting counts again and decides.
    Raises errors.OverQuota, errors.BadRequest.
    """
    async with parts.database.read() as transaction:
        limits = await limits_of(transaction, call.caller.project_id, parts.quota)
        used = await usage_of(transaction, call.caller.project_id)
    most = count.most
    for name, each in (("instances", 1), ("cores", wish.flavor.vcpus), ("ram", wish.flavor.memory_mb)):
        limit, have = limits[name], getattr(used, name)
        if limit < 0:
            continue
        room = (limit - have) // each
        if room < count.least:
            wanted = count.most * each
            raise OverQuota(f"Quota exceeded for {name}: Requested {wanted}, but already used {have} of {limit} {name}")
        most = min(most, room)
    if most > _MOST_AT_ONCE:
        raise BadRequest(f"max_count: at most {_MOST_AT_ONCE} servers can be asked for at once.")
    return most


def _answer(call: Call, server_id: str, found: Found, password: str) -> Answer:
    asked = call.body["server"]
    shown = {
        "id": server_id,
        "links": server_links(call.root, bare_root(call.root), server_id),
        "OS-DCF:diskConfig": asked.get("OS-DCF:diskConfig", "MANUAL"),
        "security_groups": [{"name": name} for name in found.security_groups],
        "adminPass": password,
    }
    return Answer(202, {"server": shown}, {"Location": f"{call.root}/servers/{server_id}"})
