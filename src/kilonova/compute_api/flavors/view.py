"""What flavors look like."""

from dataclasses import dataclass
from typing import Any, Final

from kilonova.compute_api.links import links_to
from kilonova.domain.flavor import Flavor
from kilonova.http.calls import Call
from kilonova.http.views import Shown, View


@dataclass(frozen=True, slots=True)
class LinkedFlavor:
    """A flavor and the address that its links begin with."""

    flavor: Flavor
    root: str


def _links(item: LinkedFlavor) -> list[dict[str, Any]]:
    return links_to(item.root, f"flavors/{item.flavor.flavorid}")


SHORT: Final = View[LinkedFlavor](
    [
        Shown("id", lambda item: item.flavor.flavorid),
        Shown("name", lambda item: item.flavor.name),
        Shown("links", _links),
        Shown("description", lambda item: item.flavor.description, since=55),
    ]
)
FULL: Final = View[LinkedFlavor](
    [
        Shown("id", lambda item: item.flavor.flavorid),
        Shown("name", lambda item: item.flavor.name),
        Shown("ram", lambda item: item.flavor.memory_mb),
        Shown("disk", lambda item: item.flavor.root_gb),
        Shown("swap", lambda item: item.flavor.swap_mb or "", until=74),
        Shown("swap", lambda item: item.flavor.swap_mb, since=75),
        Shown("OS-FLV-EXT-DATA:ephemeral", lambda item: item.flavor.ephemeral_gb),
        Shown("OS-FLV-DISABLED:disabled", lambda item: item.flavor.disabled),
        Shown("vcpus", lambda item: item.flavor.vcpus),
        Shown("os-flavor-access:is_public", lambda item: item.flavor.is_public),
        Shown("rxtx_factor", lambda item: item.flavor.rxtx_factor),
        Shown("links", _links),
        Shown("description", lambda item: item.flavor.description, since=55),
        Shown(
            "extra_specs",
            lambda item: item.flavor.extra_specs,
            since=61,
            rule="os_compute_api:os-flavor-extra-specs:index",
        ),
    ]
)


def render(view: View[LinkedFlavor], call: Call, flavor: Flavor) -> dict[str, Any]:
    """One flavor as this call may see it."""
    return view.at(call.version, call.allows)(LinkedFlavor(flavor, call.root))
