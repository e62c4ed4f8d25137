"""Finding what a request names: providers in the index, class and trait names among the standard and the custom ones."""

from collections.abc import Iterable
from dataclasses import dataclass

from kilonova.domain.errors import BadRequest
from kilonova.domain.ledger import ProviderNotFound
from kilonova.domain.resources import Provider
from kilonova.http.calls import Call
from kilonova.placement.index import Index
from kilonova.placement_api.parts import PlacementParts
from kilonova.storage.database import Transaction
from kilonova.storage.ledger_names import CLASSES, TRAITS


@dataclass(frozen=True, slots=True)
class Found:
    """A provider and the index that it was found in."""

    index: Index
    provider: Provider


async def provider_of(call: Call, parts: PlacementParts) -> Found:
    """The provider that the path names. Raises ProviderNotFound."""
    index = await parts.index.fresh()
    uuid = call.path["uuid"]
    provider = index.find(uuid)
    if provider is None:
        raise ProviderNotFound(f"No resource provider with uuid {uuid} found")
    return Found(index, provider)


async def lock_classes(transaction: Transaction, parts: PlacementParts, names: Iterable[str]) -> None:
    """Make sure that resource classes exist, and stay until the transaction ends. Raises BadRequest."""
    custom = set(names) - parts.classes
    _refuse("resource class", custom - await CLASSES.lock(transaction, custom))


async def lock_traits(transaction: Transaction, parts: PlacementParts, names: Iterable[str]) -> None:
    """Make sure that traits exist, and stay until the transaction ends. Raises BadRequest."""
    custom = set(names) - parts.traits
    _refuse("trait(s)", custom - await TRAITS.lock(transaction, custom))


async def check_names(parts: PlacementParts, classes: Iterable[str], traits: Iterable[str]) -> None:
    """Make sure that what a query names exists. Raises BadRequest. Standard names cost nothing."""
    custom_classes, custom_traits = set(classes) - parts.classes, set(traits) - parts.traits
    if not custom_classes and not custom_traits:
        return
    async with parts.database.read() as transaction:
        _refuse("resource class", custom_classes - await CLASSES.present(transaction, custom_classes))
        _refuse("trait(s)", custom_traits - await TRAITS.present(transaction, custom_traits))


def _refuse(what: str, missing: set[str]) -> None:
    if missing:
        raise BadRequest(f"No such {what}: {', '.join(sorted(missing))}.")
