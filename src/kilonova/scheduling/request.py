"""What one server asks of the scheduler, and the snapshot that it is answered from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.domain.image_properties import ImageAsks, read_image_properties
from kilonova.domain.resources import CandidateQuery, Miss
from kilonova.scheduling.arrays import Floats, Ints
from kilonova.scheduling.hosts import Hosts


@dataclass(frozen=True, slots=True)
class Group:
    """The server group of the request. `members_by_host` counts its members but not the server that is asked for.

    `policy` is affinity, anti-affinity, soft-affinity or soft-anti-affinity. Both hosts of a member that is being moved
    count, so that neither is free for another; a group that was deleted is simply not given.
    """

    id: str
    policy: str
    rules: Mapping[str, int | str] = field(default_factory=dict)
    members_by_host: Mapping[str, int] = field(default_factory=dict)

    @property
    def max_server_per_host(self) -> int:
        """How many members a host may hold under anti-affinity: 1 unless a rule says more."""
        return int(self.rules.get("max_server_per_host", 1))

    def with_member(self, host: str) -> "Group":
        """The group after one more member is placed, for the next server of the same batch."""
        return replace(self, members_by_host={**self.members_by_host, host: self.members_by_host.get(host, 0) + 1})


@dataclass(frozen=True, slots=True)
class Request:
    """One server to be placed.

    `zone` is as asked, "" for any. `hints` are the scheduler hints as given; `hosts_by_server` says where the servers
    that `same_host` and `different_host` name are. `exclude_hosts` were tried and failed. `only_host` is the one asked
    for ("" for any); when `forced`, an administrator answers for it and the filters are not asked. `only_cell` is the
    cell that a move must not leave ("" for any).
    """

    flavor: Flavor
    query: CandidateQuery
    project_id: str
    image: Image | None = None
    zone: str = ""
    group: Group | None = None
    hints: Mapping[str, object] = field(default_factory=dict)
    hosts_by_server: Mapping[str, str] = field(default_factory=dict)
    exclude_hosts: frozenset[str] = frozenset()
    only_host: str = ""
    only_cell: str = ""
    forced: bool = False

    @property
    def image_asks(self) -> ImageAsks:
        """What the image asks of a host, read anew at each call."""
        return read_image_properties(self.image.properties) if self.image else ImageAsks()

    def hinted_servers(self, hint: str) -> tuple[str, ...]:
        """The server ids that a hint names: it may be one id or a list of them."""
        value = self.hints.get(hint)
        if isinstance(value, str):
            return (value,)
        return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else ()

    def hinted_hosts(self, hint: str) -> frozenset[str]:
        """The hosts of the servers that a hint names; a server that has no host adds none."""
        hosts = (self.hosts_by_server.get(server, "") for server in self.hinted_servers(hint))
        return frozenset(host for host in hosts if host)


@dataclass(frozen=True, slots=True)
class FreeAmounts:
    """What is free on each host, by row of `Hosts`: capacity less use, ratios counted."""

    free_ram_mb: Floats
    free_disk_gb: Floats
    free_vcpus: Floats


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a decision is made from: the hosts, what is free on them, and what the ledger answered to the query.

    `matched_root_ids` are the roots of candidates, each once, all of them: a cut before the filters would hide the only
    host that a hint allows. `misses` tell why the other roots fell, the first reason first.
    """

    hosts: Hosts
    free: FreeAmounts
    matched_root_ids: Ints
    misses: tuple[Miss, ...] = ()
