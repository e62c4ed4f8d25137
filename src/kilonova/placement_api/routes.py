"""Every URL of the placement API on one page. A row says which versions it serves, who may, and what it takes."""

from collections.abc import Sequence
from typing import Final

from kilonova.http.calls import Route
from kilonova.placement_api import root
from kilonova.placement_api.aggregates import handlers as aggregates
from kilonova.placement_api.aggregates import schema as aggregate_shapes
from kilonova.placement_api.allocation_candidates import handlers as candidates
from kilonova.placement_api.allocations import handlers as allocations
from kilonova.placement_api.allocations import schema as allocation_shapes
from kilonova.placement_api.inventories import handlers as inventories
from kilonova.placement_api.inventories import schema as inventory_shapes
from kilonova.placement_api.lookups import provider_exists
from kilonova.placement_api.reshaper import handlers as reshaper
from kilonova.placement_api.reshaper import schema as reshaper_shapes
from kilonova.placement_api.resource_classes import handlers as classes
from kilonova.placement_api.resource_classes import schema as class_shapes
from kilonova.placement_api.resource_providers import handlers as providers
from kilonova.placement_api.resource_providers import schema as provider_shapes
from kilonova.placement_api.traits import handlers as traits
from kilonova.placement_api.traits import schema as trait_shapes
from kilonova.placement_api.usages import handlers as usages
from kilonova.placement_api.usages import schema as usage_shapes

_ALL: Final = "/resource_providers"
_ONE: Final = "/resource_providers/{uuid}"
_MAY: Final = "placement:"
_HAS: Final = "placement:resource_providers:"

PROVIDERS: Sequence[Route] = (
    Route("GET", _ALL, providers.list_providers, f"{_HAS}list", query=provider_shapes.LIST),
    Route("POST", _ALL, providers.create, f"{_HAS}create", provider_shapes.CREATE),
    Route("GET", _ONE, providers.show, f"{_HAS}show"),
    Route("PUT", _ONE, providers.update, f"{_HAS}update", provider_shapes.UPDATE, needs=provider_exists),
    Route("DELETE", _ONE, providers.delete, f"{_HAS}delete"),
)

INVENTORIES: Sequence[Route] = (
    Route("GET", f"{_ONE}/inventories", inventories.list_inventories, f"{_HAS}inventories:list"),
    Route(
        "POST",
        f"{_ONE}/inventories",
        inventories.create,
        f"{_HAS}inventories:create",
        inventory_shapes.POST,
        needs=provider_exists,
    ),
    Route(
        "PUT",
        f"{_ONE}/inventories",
        inventories.replace_all,
        f"{_HAS}inventories:update",
        inventory_shapes.PUT_ALL,
        needs=provider_exists,
    ),
    Route("DELETE", f"{_ONE}/inventories", inventories.delete_all, f"{_HAS}inventories:delete", since=5),
    Route("DELETE", f"{_ONE}/inventories", root.no_delete_yet, f"{_HAS}inventories:delete", until=4),
    Route("GET", f"{_ONE}/inventories/{{resource_class}}", inventories.show, f"{_HAS}inventories:show"),
    Route(
        "PUT",
        f"{_ONE}/inventories/{{resource_class}}",
        inventories.update,
        f"{_HAS}inventories:update",
        inventory_shapes.PUT_ONE,
        needs=provider_exists,
    ),
    Route("DELETE", f"{_ONE}/inventories/{{resource_class}}", inventories.delete, f"{_HAS}inventories:delete"),
)

PARTS_OF_PROVIDERS: Sequence[Route] = (
    Route("GET", f"{_ONE}/usages", usages.show, f"{_HAS}usages"),
    Route("GET", f"{_ONE}/aggregates", aggregates.show, f"{_HAS}aggregates:list", since=1),
    Route(
        "PUT",
        f"{_ONE}/aggregates",
        aggregates.update_list,
        f"{_HAS}aggregates:update",
        aggregate_shapes.PUT_LIST,
        since=1,
        until=18,
        needs=provider_exists,
    ),
    Route(
        "PUT",
        f"{_ONE}/aggregates",
        aggregates.update,
        f"{_HAS}aggregates:update",
        aggregate_shapes.PUT,
        since=19,
        needs=provider_exists,
    ),
    Route("GET", f"{_ONE}/traits", traits.list_of_provider, f"{_HAS}traits:list", since=6),
    Route(
        "PUT",
        f"{_ONE}/traits",
        traits.update_of_provider,
        f"{_HAS}traits:update",
        trait_shapes.PUT_OF_PROVIDER,
        since=6,
        needs=provider_exists,
    ),
    Route("DELETE", f"{_ONE}/traits", traits.delete_of_provider, f"{_HAS}traits:delete", since=6),
    Route("GET", f"{_ONE}/allocations", allocations.list_of_provider, f"{_HAS}allocations:list"),
)

NAMES: Sequence[Route] = (
    Route("GET", "/resource_classes", classes.list_classes, f"{_MAY}resource_classes:list", since=2),
    Route("POST", "/resource_classes", classes.create, f"{_MAY}resource_classes:create", class_shapes.NAMED, since=2),
    Route("GET", "/resource_classes/{name}", classes.show, f"{_MAY}resource_classes:show", since=2),
    Route(
        "PUT", "/resource_classes/{name}", classes.rename, f"{_MAY}resource_classes:update", class_shapes.NAMED, since=2, until=6
    ),
    Route("PUT", "/resource_classes/{name}", classes.put, f"{_MAY}resource_classes:update", since=7),
    Route("DELETE", "/resource_classes/{name}", classes.delete, f"{_MAY}resource_classes:delete", since=2),
    Route("GET", "/traits", traits.list_traits, f"{_MAY}traits:list", query=trait_shapes.LIST, since=6),
    Route("GET", "/traits/{name}", traits.show, f"{_MAY}traits:show", since=6),
    Route("PUT", "/traits/{name}", traits.put, f"{_MAY}traits:update", since=6),
    Route("DELETE", "/traits/{name}", traits.delete, f"{_MAY}traits:delete", since=6),
)

CONSUMERS: Sequence[Route] = (
    Route("POST", "/allocations", allocations.post, f"{_MAY}allocations:manage", allocation_shapes.POST, since=13),
    Route("GET", "/allocations/{consumer}", allocations.show, f"{_MAY}allocations:list"),
    Route("PUT", "/allocations/{consumer}", allocations.put, f"{_MAY}allocations:update", allocation_shapes.PUT),
    Route("DELETE", "/allocations/{consumer}", allocations.delete, f"{_MAY}allocations:delete"),
    Route("GET", "/usages", usages.of_project, f"{_MAY}usages", query=usage_shapes.OF_PROJECT, since=9),
    Route("GET", "/allocation_candidates", candidates.list_candidates, f"{_MAY}allocation_candidates:list", since=10),
    Route("POST", "/reshaper", reshaper.post, f"{_MAY}reshaper:reshape", reshaper_shapes.POST, since=30),
)

ROUTES: Sequence[Route] = (
    Route("GET", "/", root.versions, ""),
    *PROVIDERS,
    *INVENTORIES,
    *PARTS_OF_PROVIDERS,
    *NAMES,
    *CONSUMERS,
)
