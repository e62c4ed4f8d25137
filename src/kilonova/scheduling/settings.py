"""The knobs of the scheduler, by the community's names where it has them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """What a flavor and an image imply beyond what they say. Both are off by default, as in the community's service.

    `require_image_type`: a host must carry COMPUTE_IMAGE_TYPE_* of the image's disk format.
    `image_metadata_prefilter`: disk bus, video and the like of the image become required traits of the root.
    """

    require_image_type: bool = False
    image_metadata_prefilter: bool = False


@dataclass(frozen=True, slots=True)
class SelectSettings:
    """How hosts are filtered and ranked.

    A multiplier of zero turns a weigher off, a negative one turns it round. `tie_tolerance` is the distance of scores
    within which hosts count as equally good. `host_subset_size` is how many of the best share the first place whatever
    their scores. `max_alternates` is how many hosts a decision names at most, the first included.
    """

    enabled_filters: tuple[str, ...] = (
        "ComputeFilter",
        "AvailabilityZoneFilter",
        "AggregateMultiTenancyIsolation",
        "ImagePropertiesFilter",
        "ServerGroupAffinityFilter",
        "ServerGroupAntiAffinityFilter",
        "SameHostFilter",
        "DifferentHostFilter",
    )
    ram_weight_multiplier: float = 1.0
    cpu_weight_multiplier: float = 1.0
    disk_weight_multiplier: float = 1.0
    build_failure_weight_multiplier: float = 1_000_000.0
    num_instances_weight_multiplier: float = 0.0
    soft_affinity_weight_multiplier: float = 1.0
    soft_anti_affinity_weight_multiplier: float = 1.0
    tie_tolerance: float = 0.01
    host_subset_size: int = 1
    max_alternates: int = 5
