"""The last word on a claim, spoken inside the write transaction: does the ledger, as locked, bear the new amounts?"""

from collections.abc import Mapping

from kilonova.domain.errors import BadAmount, Conflict, OverCapacity
from kilonova.domain.resources import Inventory

Amounts = Mapping[tuple[int, str], int]
"""Amounts by provider id and resource class."""


def verify(inventories: Mapping[tuple[int, str], Inventory], old: Amounts, new: Amounts, names: Mapping[int, str]) -> None:
    """Check what one consumer is to hold against the inventories.

    `inventories` are those of every (provider, class) in `new`, as locked; their `used` includes `old`, which is what
    the same consumer holds now. Where several consumers are written together, `used` counts what the others are to
    hold in place of what they hold, so that an exchange between two of them is judged by where it ends.
    `names` says how to name a provider to people.
    A write that keeps or lowers a use is always allowed, even where a provider is overloaded (LP#2104040).
    Raises Conflict where there is no such inventory, BadAmount for min_unit, max_unit and step_size, OverCapacity.
    """
    for key, amount in sorted(new.items()):
        if amount <= old.get(key, 0):
            continue
        provider_id, resource_class = key
        where = f"resource provider {names.get(provider_id, str(provider_id))}"
        inventory = inventories.get(key)
        if inventory is None:
            raise Conflict(f"Inventory for '{resource_class}' on {where} does not exist.")
        _check_unit(inventory, amount, resource_class, where)
        free = inventory.free + old.get(key, 0)
        if amount > free:
            raise OverCapacity(
                f"{amount} {resource_class} asked of {where}, where {max(0, free)} of {inventory.capacity} are free."
            )


def _check_unit(inventory: Inventory, amount: int, resource_class: str, where: str) -> None:
    asked = f"{amount} {resource_class} asked of {where}"
    if amount < inventory.min_unit:
        raise BadAmount(f"{asked}, which gives at least {inventory.min_unit} (min_unit).")
    if amount > inventory.max_unit:
        raise BadAmount(f"{asked}, which gives at most {inventory.max_unit} at once (max_unit).")
    if amount % inventory.step_size:
        raise BadAmount(f"{asked}, which gives multiples of {inventory.step_size} (step_size).")
