"""A server's wish: everything its user asked for, kept as long as the server lives. What one operation tried is no part of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.domain.network import AskedNetwork


@dataclass(frozen=True, slots=True)
class Wish:
    """One server as asked. `image` is None and `image_id` "" for a boot from a volume; `zone` "" when none was asked.

    `networks` is empty for none. `only_host` is an administrator's demand for one host, `hints` the scheduler hints.
    """

    project_id: str
    user_id: str
    name: str
    hostname: str
    flavor: Flavor
    image: Image | None
    image_id: str = ""
    description: str | None = None
    key_name: str | None = None
    key_data: str = ""
    zone: str = ""
    only_host: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    user_data: str | None = None
    config_drive: bool = False
    networks: tuple[AskedNetwork, ...] = ()
    security_groups: tuple[str, ...] = ("default",)
    group_id: str = ""
    hints: Mapping[str, Any] = field(default_factory=dict)
    block_devices: tuple[Mapping[str, Any], ...] = ()
    access_ip_v4: str | None = None
    access_ip_v6: str | None = None
    trusted_certificates: tuple[str, ...] = ()
    reservation_id: str = ""
    launch_index: int = 0
    root_device_name: str = "/dev/vda"
    disk_config: str = "MANUAL"

    def to_json(self) -> str:
        """The wish as it is stored."""
        return orjson.dumps(self).decode()

    @classmethod
    def from_json(cls, document: str) -> "Wish":
        """The wish as it was stored."""
        content = orjson.loads(document)
        image = content.pop("image")
        return cls(
            **{
                **content,
                "flavor": Flavor(**content["flavor"]),
                "image": Image(**image) if image else None,
                "networks": tuple(AskedNetwork(**entry) for entry in content["networks"]),
                "tags": tuple(content["tags"]),
                "security_groups": tuple(content["security_groups"]),
                "block_devices": tuple(content["block_devices"]),
                "trusted_certificates": tuple(content["trusted_certificates"]),
            }
        )
