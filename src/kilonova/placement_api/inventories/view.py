"""How inventories are read from requests and shown."""

from collections.abc import Mapping
from typing import Any, Final

from kilonova.domain.errors import BadRequest
from kilonova.domain.resources import Inventory, Provider

_RESERVES_ALL: Final = 26


def inventory_of(resource_class: str, body: Mapping[str, Any], version: int, doing: str) -> Inventory:
    """An inventory as a body gives it, its parts at their defaults where they are left out.

    Raises BadRequest, whose sentence begins with what cannot be done (`doing`).
    """
    made = Inventory(
        total=int(body["total"]),
        reserved=int(body.get("reserved", 0)),
        min_unit=int(body.get("min_unit", 1)),
        max_unit=int(body.get("max_unit", 2**31 - 1)),
        step_size=int(body.get("step_size", 1)),
        allocation_ratio=float(body.get("allocation_ratio", 1.0)),
    )
    if made.reserved > made.total or (made.reserved == made.total and version < _RESERVES_ALL):
        limit = "greater than total" if version >= _RESERVES_ALL else "greater than or equal to total"
        raise BadRequest(f"{doing}: reserved of {resource_class} is {made.reserved}, which is {limit} ({made.total}).")
    return made


def shown_inventory(inventory: Inventory) -> dict[str, Any]:
    """One inventory."""
    return {
        "total": inventory.total,
        "reserved": inventory.reserved,
        "min_unit": inventory.min_unit,
        "max_unit": inventory.max_unit,
        "step_size": inventory.step_size,
        "allocation_ratio": inventory.allocation_ratio,
    }


def shown_inventories(provider: Provider) -> dict[str, Any]:
    """All of a provider's inventories with its generation."""
    return {
        "resource_provider_generation": provider.generation,
        "inventories": {name: shown_inventory(inventory) for name, inventory in provider.inventories.items()},
    }


def shown_one(provider: Provider, resource_class: str) -> dict[str, Any]:
    """One of a provider's inventories with the provider's generation."""
    shown = shown_inventory(provider.inventories[resource_class])
    return {"resource_provider_generation": provider.generation, **shown}
