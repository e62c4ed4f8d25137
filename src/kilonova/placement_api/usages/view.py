"""How usages are shown."""

from collections.abc import Mapping
from typing import Any, Final

from kilonova.domain.resources import Provider
from kilonova.storage.ledger import TypeUsage

UNKNOWN: Final = "unknown"
ALL: Final = "all"


def of_provider(provider: Provider) -> dict[str, Any]:
    """What is used of a provider, for every class that it has."""
    return {
        "resource_provider_generation": provider.generation,
        "usages": {name: inventory.used for name, inventory in provider.inventories.items()},
    }


def summed(usages: Mapping[str, TypeUsage]) -> dict[str, int]:
    """What consumers of all types hold together, by class."""
    amounts: dict[str, int] = {}
    for usage in usages.values():
        for name, used in usage.amounts.items():
            amounts[name] = amounts.get(name, 0) + used
    return amounts


def by_type(usages: Mapping[str, TypeUsage], wanted: str | None) -> dict[str, Any]:
    """Usages by consumer type; `wanted` picks one of them, or all of them as one."""
    if wanted == ALL:
        if not usages:
            return {}
        return {ALL: {**summed(usages), "consumer_count": sum(usage.consumers for usage in usages.values())}}
    return {
        name or UNKNOWN: {**usage.amounts, "consumer_count": usage.consumers}
        for name, usage in usages.items()
        if wanted in (None, name or UNKNOWN)
    }
