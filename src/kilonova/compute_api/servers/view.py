"""What a server looks like at each version and to whom. What is equal in all servers of an answer is made once, in Page."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, NamedTuple

import orjson

from kilonova.compute_api.servers import rules
from kilonova.domain.clock import iso_z
from kilonova.domain.flavor import Flavor
from kilonova.domain.lifecycle import status
from kilonova.http.calls import Call
from kilonova.http.views import Shown, View
from kilonova.storage.server_lists import HostSeen, ListedServer

Ready = orjson.Fragment
"""JSON that is written already: what many servers share is written once."""


class Asked(NamedTuple):
    """What versions show of what was asked for a server."""

    image_properties: Mapping[str, str]
    hints: Mapping[str, Any]
    certificates: Sequence[str] | None


NO_WISH: Final = "[null,null,null]"


@dataclass(slots=True)
class Page:
    """What the servers of one answer share. `root` is the face's address with the version, `bare` without it.

    `hosts` has what is shown of hosts, `groups` the server groups that still exist.
    """

    root: str
    bare: str
    embeds_flavor: bool = False
    shows_specs: bool = False
    hosts: Mapping[str, HostSeen] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()
    _flavors: dict[int, tuple[Flavor, Ready]] = field(default_factory=dict)
    _images: dict[tuple[str, str | None], Ready] = field(default_factory=dict)
    _wishes: dict[str, Asked] = field(default_factory=dict)
    _security_groups: dict[str, Ready] = field(default_factory=dict)
    _links: tuple[str, str, str] = ("", "", "")

    def __post_init__(self) -> None:
        written = orjson.dumps(server_links(self.root, self.bare, "\x00")).decode()
        before, between, after = written.split("\\u0000")
        self._links = (before, between, after)

    def links(self, server_id: str) -> Ready:
        """The self and the bookmark link of a server."""
        before, between, after = self._links
        return Ready(f"{before}{server_id}{between}{server_id}{after}")

    def flavor(self, flavor: Flavor) -> Ready:
        """The flavor's part of a server; the flavor is kept beside it so that its id cannot be given to another one."""
        known = self._flavors.get(id(flavor))
        if known is None:
            made = self._embedded(flavor) if self.embeds_flavor else self.linked("flavors", flavor.flavorid)
            known = self._flavors[id(flavor)] = (flavor, Ready(orjson.dumps(made)))
        return known[1]

    def image(self, image_id: str, wish: str | None) -> Ready:
        """The image's part of a server; its properties are in `wish`, None for a version that shows none."""
        known = self._images.get((image_id, wish))
        if known is None:
            made: Any = ""
            if image_id:
                made = self.linked("images", image_id)
                if wish is not None:
                    made["properties"] = self.asked(wish).image_properties
            known = self._images[image_id, wish] = Ready(orjson.dumps(made))
        return known

    def asked(self, wish: str) -> Asked:
        """What is shown of a wish. Most servers of a list were asked for alike, so it is mostly found and not read."""
        known = self._wishes.get(wish)
        if known is None:
            properties, hints, certificates = orjson.loads(wish)
            # No certificates at all and an empty list are the same thing to users.
            known = self._wishes[wish] = Asked(properties or {}, hints or {}, certificates or None)
        return known

    def security_groups(self, names: str) -> Ready:
        """The security groups' part of a server; `names` is their JSON."""
        known = self._security_groups.get(names)
        if known is None:
            made = [{"name": name} for name in orjson.loads(names)]
            known = self._security_groups[names] = Ready(orjson.dumps(made))
        return known

    def linked(self, collection: str, thing: str) -> dict[str, Any]:
        """An id with its bookmark link."""
        return {"id": thing, "links": [{"rel": "bookmark", "href": f"{self.bare}/{collection}/{thing}"}]}

    def _embedded(self, flavor: Flavor) -> Mapping[str, Any]:
        made = {
            "vcpus": flavor.vcpus,
            "ram": flavor.memory_mb,
            "disk": flavor.root_gb,
            "ephemeral": flavor.ephemeral_gb,
            "swap": flavor.swap_mb,
            "original_name": flavor.name,
        }
        return {**made, "extra_specs": flavor.extra_specs} if self.shows_specs else made


def server_links(root: str, bare: str, server_id: str) -> list[dict[str, str]]:
    """The self and the bookmark link of a server."""
    tail = f"/servers/{server_id}"
    return [{"rel": "self", "href": root + tail}, {"rel": "bookmark", "href": bare + tail}]


def page_of(call: Call) -> Page:
    """The page of a call, still without hosts and groups."""
    embeds = call.version >= 47
    specs = embeds and call.allows(rules.FLAVOR_SPECS, {})
    return Page(call.root, bare_root(call.root), embeds, specs)


def bare_root(root: str) -> str:
    """The face's address without its version: what bookmark links begin with."""
    return root.rpartition("/")[0] if root.rpartition("/")[2].startswith("v2") else root


class Seen(NamedTuple):
    """One server to be shown."""

    server: ListedServer
    page: Page
    tags: Sequence[str] = ()


@lru_cache(maxsize=16_384)
def _second(moment: int) -> str:
    # Servers made together share their seconds, so most of a list's times are found and not made.
    return iso_z(moment * 1_000_000) or ""


@lru_cache(maxsize=16_384)
def _whole_second(moment: int) -> str:
    # The community's service keeps these two to the second and yet shows a fraction.
    return f"{_second(moment)[:-1]}.000000"


def _usage(moment: int | None) -> str | None:
    return None if moment is None else _whole_second(moment // 1_000_000)


@lru_cache(maxsize=16_384)
def host_id(project_id: str, host: str | None) -> str:
    """The host as its project may see it: one word per pair, empty without a host. Source: API reference, "hostId"."""
    return hashlib.sha224(f"{project_id}{host}".encode()).hexdigest() if host else ""


def addresses(ports: Sequence[Mapping[str, Any]]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Addresses by name of network, each with its card's MAC address; `ports` as ServerPort fields."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for port in ports:
        shown = found.setdefault(port["network_name"], [])
        mac = port["mac_address"]
        for fixed in port["fixed_ips"]:
            shown.append(
                {
                    "version": fixed["version"],
                    "addr": fixed["ip_address"],
                    "OS-EXT-IPS:type": "fixed",
                    "OS-EXT-IPS-MAC:mac_addr": mac,
                }
            )
    return found


def plain_addresses(ports: Sequence[Mapping[str, Any]]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Addresses by name of network, as the address resource has them."""
    return {
        name: [{"version": entry["version"], "addr": entry["addr"]} for entry in entries]
        for name, entries in addresses(ports).items()
    }


def _asked(seen: Seen) -> Asked:
    return seen.page.asked(seen.server.wish or NO_WISH)


def _hypervisor(seen: Seen) -> str | None:
    host = seen.server.host
    if not host:
        return None
    known = seen.page.hosts.get(host)
    return known.hypervisor_hostname if known else host


def _host_status(seen: Seen) -> str:
    known = seen.page.hosts.get(seen.server.host or "")
    return known.status if known else "UNKNOWN" if seen.server.host else ""


def _zone(seen: Seen) -> str:
    server = seen.server
    # Without a host the zone is the one that was asked for (C075).
    return (server.availability_zone if server.host else server.pinned_zone) or ""


def _plain(field_name: str) -> Callable[[Seen], Any]:
    # Made in C: a list of a thousand servers calls these twenty thousand times.
    return attrgetter(f"server.{field_name}")


_BASIC: Final[Sequence[Shown[Seen]]] = (
    Shown("id", _plain("id")),
    Shown("name", _plain("name")),
    Shown("status", lambda seen: status(seen.server.vm_state, seen.server.task_state)),
    Shown("tenant_id", _plain("project_id")),
    Shown("user_id", _plain("user_id")),
    Shown("metadata", lambda seen: Ready(seen.server.metadata)),
    Shown("hostId", lambda seen: host_id(seen.server.project_id, seen.server.host)),
    Shown("image", lambda seen: seen.page.image(seen.server.image_id, None), until=97),
    Shown("image", lambda seen: seen.page.image(seen.server.image_id, seen.server.wish or NO_WISH), since=98),
    Shown("flavor", lambda seen: seen.page.flavor(seen.server.flavor)),
    Shown("created", lambda seen: _second(seen.server.created_at // 1_000_000)),
    Shown("updated", lambda seen: _second(seen.server.updated_at // 1_000_000)),
    Shown("accessIPv4", lambda seen: seen.server.access_ip_v4 or ""),
    Shown("accessIPv6", lambda seen: seen.server.access_ip_v6 or ""),
    Shown("links", lambda seen: seen.page.links(seen.server.id)),
    Shown("OS-DCF:diskConfig", lambda seen: seen.server.system_metadata.get("disk_config", "MANUAL")),
    Shown("locked", lambda seen: seen.server.locked_by is not None, since=9),
    Shown("description", _plain("description"), since=19),
    Shown("tags", attrgetter("tags"), since=26),
    Shown("trusted_image_certificates", lambda seen: _asked(seen).certificates, since=63),
    Shown("locked_reason", _plain("locked_reason"), since=73),
)


def _attribute(name: str, get: Callable[[Seen], Any], since: int = 0, until: int | None = None) -> Shown[Seen]:
    return Shown(f"OS-EXT-SRV-ATTR:{name}", get, since, until, rules.SERVER_ATTRIBUTES)


_NO_VOLUMES: Final[Sequence[Any]] = ()
_EXTENDED: Final[Sequence[Shown[Seen]]] = (
    Shown("key_name", _plain("key_name")),
    Shown("config_drive", _plain("config_drive")),
    Shown("security_groups", lambda seen: seen.page.security_groups(seen.server.security_groups)),
    Shown("os-extended-volumes:volumes_attached", lambda seen: _NO_VOLUMES),
    Shown("OS-EXT-AZ:availability_zone", _zone),
    Shown("OS-SRV-USG:launched_at", lambda seen: _usage(seen.server.launched_at)),
    Shown("OS-SRV-USG:terminated_at", lambda seen: _usage(seen.server.terminated_at)),
    Shown("OS-EXT-STS:task_state", _plain("task_state")),
    Shown("OS-EXT-STS:vm_state", _plain("vm_state")),
    Shown("OS-EXT-STS:power_state", _plain("power_state")),
    _attribute("host", _plain("host")),
    _attribute("hypervisor_hostname", _hypervisor),
    _attribute("instance_name", lambda seen: f"instance-{seen.server.id[:8]}"),
    _attribute("reservation_id", _plain("reservation_id"), since=3),
    _attribute("launch_index", _plain("launch_index"), since=3),
    _attribute("hostname", _plain("hostname"), since=3, until=89),
    Shown("OS-EXT-SRV-ATTR:hostname", _plain("hostname"), since=90),
    _attribute("kernel_id", lambda seen: "", since=3),
    _attribute("ramdisk_id", lambda seen: "", since=3),
    _attribute("root_device_name", _plain("root_device_name"), since=3),
    _attribute("user_data", _plain("user_data"), since=3),
    Shown("host_status", _host_status, since=16, rule=rules.SHOW_HOST_STATUS),
    Shown("pinned_availability_zone", _plain("pinned_zone"), since=96),
    Shown("scheduler_hints", lambda seen: _asked(seen).hints, since=100),
)
_GROUPS: Final[Shown[Seen]] = Shown(
    "server_groups", lambda seen: [seen.server.group_id] if seen.server.group_id in seen.page.groups else [], since=71
)
_ADDRESSES: Final[Shown[Seen]] = Shown("addresses", lambda seen: addresses(seen.server.addresses))

# Before 2.75 the answer to an update had only the basic keys.
_UPDATED: Final[Sequence[Shown[Seen]]] = (
    Shown("addresses", lambda seen: plain_addresses(seen.server.addresses), until=74),
    Shown("addresses", lambda seen: addresses(seen.server.addresses), since=75),
    *(replace(entry, since=max(entry.since, 75)) for entry in _EXTENDED),
)

DETAIL: Final = View([*_BASIC, _ADDRESSES, *_EXTENDED])
SHOW: Final = View([*_BASIC, _ADDRESSES, *_EXTENDED, _GROUPS])
UPDATED: Final = View([*_BASIC, *_UPDATED, _GROUPS])

_WITH_PROGRESS: Final = frozenset(("ACTIVE", "BUILD", "REBUILD", "RESIZE", "VERIFY_RESIZE", "MIGRATING"))
_WITH_FAULT: Final = frozenset(("ERROR", "DELETED"))

Renderer = Callable[[Seen], dict[str, Any]]


def renderer(view: View[Seen], call: Call) -> Renderer:
    """The function that shows servers to this caller at this version: the view's keys, and those that come and go by status."""
    render = view.at(call.version, call.allows)
    tells_all = call.allows(rules.FAULT_DETAILS, {})

    def made(seen: Seen) -> dict[str, Any]:
        shown = render(seen)
        if shown["status"] in _WITH_PROGRESS:
            shown["progress"] = 0
        elif seen.server.fault and shown["status"] in _WITH_FAULT:
            shown["fault"] = _fault(seen.server.fault, tells_all)
        return shown

    return made


def _fault(fault: Mapping[str, Any], tells_all: bool) -> Mapping[str, Any]:
    made = {"code": fault["code"], "created": iso_z(fault["created"]), "message": fault["message"]}
    # A fault of code 500 is the cloud's own: its details name hosts.
    if fault.get("details") and (tells_all or fault["code"] != 500):
        made["details"] = fault["details"]
    return made
