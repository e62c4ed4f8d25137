"""Finding what a request names: providers in the index, class and trait names among the standard and the custom ones."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from kilonova.domain.errors import BadRequest
from kilonova.domain.ledger import ProviderNotFound
from kilonova.domain.resources import Provider
from kilonova.http.calls import Call
from kilonova.placement.index import Index
from kilonova.placement_api.parts import PlacementParts
from kilonova.storage.database import Transaction
from kilonova.storage.ledger_names import CLASSES, TRAITS

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Found:
    """A provider and the index that it was found in."""

    index: Index
    provider: Provider


async def provider_of(call: Call, parts: PlacementParts, doing: str = "") -> Found:
    """The provider that the path names. Raises ProviderNotFound, whose sentence ends with what it was looked for (`doing`)."""
    return await _found(call.path["uuid"], parts, doing)


async def provider_exists(path: Mapping[str, str], parts: PlacementParts) -> None:
    """What the writes below a provider need: it was there when the index was last refreshed, or is. Raises ProviderNotFound."""
    if parts.index.index.find(path["uuid"]) is None:
        await _found(path["uuid"], parts, "")


async def edit_provider(call: Call, parts: PlacementParts, work: Callable[[Transaction, int], Awaitable[Result]]) -> Result:
    """Run `work` in a transaction, on the ledger's number of the provider that the path names.

    `work` locks the provider and raises ProviderNotFound where it is gone. A provider's number never changes, so the index
    need not be fresh for it; only who is not in it, or gone, is looked for anew. Raises ProviderNotFound and what `work` raises.
    """

    async def edit(provider: Provider) -> Result:
        return await parts.database.transact(lambda transaction: work(transaction, provider.id))

    known = parts.index.index.find(call.path["uuid"])
    if known is not None:
        # It may have been made anew under the same uuid.
        with suppress(ProviderNotFound):
            return await edit(known)
    return await edit((await provider_of(call, parts)).provider)


async def _found(uuid: str, parts: PlacementParts, doing: str) -> Found:
    index = await parts.index.fresh()
    provider = index.find(uuid)
    if provider is None:
        raise ProviderNotFound(f"No resource provider with uuid {uuid} found{doing}")
    return Found(index, provider)


async def lock_classes(transaction: Transaction, parts: PlacementParts, names: Iterable[str], doing: str) -> None:
    """Make sure that resource classes exist, and stay until the transaction ends.

    Raises BadRequest, whose sentence begins with what cannot be done (`doing`).
    """
    custom = set(names) - parts.classes
    _refuse(f"{doing}: No such resource class", custom - await CLASSES.lock(transaction, custom))


async def lock_traits(transaction: Transaction, parts: PlacementParts, names: Iterable[str]) -> None:
    """Make sure that traits exist, and stay until the transaction ends. Raises BadRequest."""
    custom = set(names) - parts.traits
    _refuse("No such trait(s):", custom - await TRAITS.lock(transaction, custom))


async def check_names(parts: PlacementParts, classes: Iterable[str], traits: Iterable[str]) -> None:
    """Make sure that what a query names exists. Raises BadRequest. Standard names cost nothing."""
    custom_classes, custom_traits = set(classes) - parts.classes, set(traits) - parts.traits
    if not custom_classes and not custom_traits:
        return
    async with parts.database.read() as transaction:
        unknown = "Invalid resource class in resources parameter: No such resource class"
        _refuse(unknown, custom_classes - await CLASSES.present(transaction, custom_classes))
        _refuse("No such trait(s):", custom_traits - await TRAITS.present(transaction, custom_traits))


def _refuse(what: str, missing: set[str]) -> None:
    if missing:
        raise BadRequest(f"{what} {', '.join(sorted(missing))}.")
