"""What placement is asked in the measurements, by data set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from placement_data import DISABLED, FEW_HOSTS, GOLD, NUMA, SILVER, named

CANDIDATES: Final = "/allocation_candidates?"
PAGE: Final = 1000
_SIMPLE: Final = "resources=VCPU:1,MEMORY_MB:512,DISK_GB:1"
_IN_NUMA: Final = "VCPU:4,MEMORY_MB:4096"
_TWO_NUMA: Final = (
    f"resources_NUMA0={_IN_NUMA}&required_NUMA0={NUMA}&resources_NUMA1={_IN_NUMA}&required_NUMA1={NUMA}&group_policy=isolate"
)
_NUMA_AND_VF: Final = (
    f"resources_NUMA={_IN_NUMA}&required_NUMA={NUMA}&resources_NET=SRIOV_NET_VF:1&same_subtree=_NUMA,_NET&group_policy=none"
)
_NUMA_AND_TWO_VF: Final = (
    f"resources_NUMA={_IN_NUMA}&required_NUMA={NUMA}&resources_NET0=SRIOV_NET_VF:1&resources_NET1=SRIOV_NET_VF:1"
    "&group_policy=isolate"
)


@dataclass(frozen=True, slots=True)
class Query:
    """One question. `limit` is measured with; whether both sides say the same is asked without it, once."""

    name: str
    path: str
    limit: int | None = None

    @property
    def target(self) -> str:
        """What is measured."""
        return f"{self.path}&limit={self.limit}" if self.limit else self.path

    @property
    def is_candidates(self) -> bool:
        """Whether the answer is candidates, which can be compared as sets."""
        return self.path.startswith(CANDIDATES)


def _ask(name: str, query: str, limit: int | None = PAGE) -> Query:
    return Query(name, CANDIDATES + query, limit)


_EVERYWHERE: Final = (
    Query("GET /", "/"),
    _ask("simple, limit 1000", _SIMPLE),
    _ask("simple, limit 10", _SIMPLE, 10),
    _ask("whole catalog, no limit", _SIMPLE, None),
    Query("GET /resource_providers?resources=", "/resource_providers?resources=VCPU:1,MEMORY_MB:512"),
)


def _labelled(first_host: str) -> Sequence[Query]:
    return (
        _ask("a trait on 10 % of the hosts", f"{_SIMPLE}&required={GOLD}"),
        _ask("forbidden trait and member_of", f"{_SIMPLE}&required=!{DISABLED}&member_of={named('zone-3')}"),
        _ask("required=in:", f"{_SIMPLE}&required=in:{GOLD},{SILVER}"),
        _ask("in_tree", f"{_SIMPLE}&in_tree={named(first_host)}"),
    )


_NESTED: Final = (
    _ask("two NUMA groups, isolate", _TWO_NUMA),
    _ask("NUMA and device, same_subtree", _NUMA_AND_VF),
    _ask("NUMA and two VF, isolate", _NUMA_AND_TWO_VF),
)
_FEW: Final = (
    _ask(f"{FEW_HOSTS} hosts on 2 shared disks", f"resources=DISK_GB:10&resources_NUMA={_IN_NUMA}&required_NUMA={NUMA}", None),
)
QUERIES: Final = {
    "flat": (*_EVERYWHERE, *_labelled("flat-5")),
    "nested": (*_EVERYWHERE, *_labelled("tree-5"), *_NESTED),
    "shared": (*_EVERYWHERE, *_FEW),
}
"""The questions of each data set."""
