"""A flavor: the sizes that a server is cut to. A server keeps its own copy, so a later edit changes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Flavor:
    """Sizes in MB (memory, swap) and GB (root, ephemeral); `flavorid` is the id that users see, `id` the record's number."""

    id: int
    flavorid: str
    name: str
    vcpus: int
    memory_mb: int
    root_gb: int = 0
    ephemeral_gb: int = 0
    swap_mb: int = 0
    rxtx_factor: float = 1.0
    is_public: bool = True
    disabled: bool = False
    description: str | None = None
    extra_specs: Mapping[str, str] = field(default_factory=dict)
