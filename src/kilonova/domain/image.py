"""An image as the cloud needs it: what it is, what it asks for, where its bytes come from is the image service's business."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Image:
    """One image of the image service. `min_disk_gb` and `min_ram_mb` are 0 where it asks nothing.

    `size_bytes` is None before upload.
    """

    id: str
    name: str
    status: str
    owner: str
    visibility: str = "private"
    min_disk_gb: int = 0
    min_ram_mb: int = 0
    size_bytes: int | None = None
    disk_format: str | None = None
    container_format: str | None = None
    checksum: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
