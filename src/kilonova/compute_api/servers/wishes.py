"""Makes wishes of a checked request: one a server, alike but for their numbers."""

import base64
import binascii
import re
from dataclasses import dataclass, replace
from typing import Final

from kilonova.compute_api.servers.lookups import Found, hints_of
from kilonova.domain.clock import new_uuid
from kilonova.domain.errors import BadRequest
from kilonova.domain.network import AskedNetwork
from kilonova.domain.wish import Wish
from kilonova.http.calls import Call
from kilonova.http.shapes import truth
from kilonova.settings import ComputeSettings

_DESCRIBED_SINCE: Final = 19
_LONGEST_HOST_NAME: Final = 63


@dataclass(frozen=True, slots=True)
class Count:
    """How many servers are asked for: at least and at most."""

    least: int
    most: int


def wish_of(call: Call, found: Found, networks: tuple[AskedNetwork, ...], compute: ComputeSettings) -> Wish:
    """The wish of a single server, still without a reservation. Raises errors.BadRequest for user data that is no base64."""
    asked, caller = call.body["server"], call.caller
    return Wish(
        project_id=caller.project_id,
        user_id=caller.user_id,
        name=asked["name"],
        # Empty until the server's name is final.
        hostname=asked.get("hostname", ""),
        flavor=found.flavor,
        image=found.image,
        image_id=found.image.id,
        # Before there were descriptions, a server was described by its name.
        description=asked.get("description") if call.version >= _DESCRIBED_SINCE else asked["name"],
        key_name=asked.get("key_name"),
        key_data=found.key_data,
        zone=found.zone,
        only_host=found.only_host,
        metadata=asked.get("metadata", {}),
        tags=tuple(sorted(set(asked.get("tags", ())))),
        user_data=_user_data(asked.get("user_data")),
        # Decided now: what the setting says later changes nothing for this server (C027).
        config_drive=truth(asked.get("config_drive")) or compute.force_config_drive,
        networks=networks,
        security_groups=found.security_groups,
        group_id=found.group_id,
        hints=hints_of(call),
        block_devices=tuple(asked.get("block_device_mapping_v2", ())),
        access_ip_v4=asked.get("accessIPv4") or None,
        access_ip_v6=asked.get("accessIPv6") or None,
        trusted_certificates=tuple(asked.get("trusted_image_certificates") or ()),
        disk_config=asked.get("OS-DCF:diskConfig", "MANUAL"),
    )


def numbered(wish: Wish, count: int) -> tuple[Wish, ...]:
    """So many wishes: a single one keeps its name, several are numbered from 1 in names and host names."""
    if count == 1:
        return (replace(wish, hostname=wish.hostname or host_name_of(wish.name)),)
    made = []
    for number in range(1, count + 1):
        name = f"{wish.name}-{number}"
        # The number belongs to the host's own label, before its domain.
        label, dot, domain = wish.hostname.partition(".")
        hostname = f"{label}-{number}{dot}{domain}" if label else host_name_of(name)
        made.append(replace(wish, name=name, hostname=hostname, launch_index=number - 1))
    return tuple(made)


def host_name_of(name: str) -> str:
    """A host name made of a server's name, as the community's service makes it; of a random id where nothing is left."""
    plain = re.sub(r"[ ._]", "-", name)
    plain = re.sub(r"[^a-zA-Z0-9-]+", "", plain).lower().strip("-")[:_LONGEST_HOST_NAME].strip("-")
    return plain or f"server-{new_uuid()}"


def _user_data(asked: str | None) -> str | None:
    if not asked:
        return None
    try:
        base64.b64decode("".join(asked.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRequest("Userdata content cannot be decoded: it is no base64.") from error
    return asked
