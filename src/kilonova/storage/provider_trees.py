"""Writes of providers as nodes of trees: making, renaming, moving and removing them, within a caller's transaction."""

from typing import Final

from sqlalchemy import bindparam, insert, or_, select

from kilonova.domain.clock import now
from kilonova.domain.errors import BadRequest, StaleGeneration
from kilonova.domain.ledger import DuplicateProvider, NewProvider, ProviderHasChildren, ProviderInUse, ProviderNotFound
from kilonova.domain.resources import Provider
from kilonova.storage import changes
from kilonova.storage.changes import PROVIDER
from kilonova.storage.database import Duplicate, Transaction
from kilonova.storage.ledger import providers_by_id, providers_by_name, providers_by_uuid
from kilonova.storage.ledger_writes import lock_providers
from kilonova.storage.statement import BulkDelete, BulkUpdate, Statement
from kilonova.storage.tables import allocations, inventories, provider_aggregates, provider_traits, providers

_COLUMNS: Final = ("uuid", "name", "generation", "parent_id", "root_id", "partition", "created_at", "updated_at")
_INSERT: Final = Statement(
    insert(providers).values({name: bindparam(f"new_{name}") for name in _COLUMNS}).returning(providers.c.id)
)
_RENAME: Final = BulkUpdate(providers, ("id",), sets=("name", "updated_at"))
_SET_PARENT: Final = BulkUpdate(providers, ("id",), sets=("parent_id", "updated_at"))
_SET_ROOT: Final = BulkUpdate(providers, ("id",), sets=("root_id",))
_TREE: Final = Statement(
    select(providers.c.id, providers.c.parent_id).where(
        or_(providers.c.root_id == bindparam("root"), providers.c.id == bindparam("root"))
    )
)
_CHILD: Final = Statement(select(providers.c.id).where(providers.c.parent_id == bindparam("parent")).limit(1))
_HOLDER: Final = Statement(select(allocations.c.consumer).where(allocations.c.provider_id == bindparam("provider")).limit(1))
_DELETE: Final = BulkDelete(providers, ("id",))
_DELETE_PARTS: Final = tuple(BulkDelete(table, ("provider_id",)) for table in (inventories, provider_traits, provider_aggregates))


async def create_provider(transaction: Transaction, new: NewProvider) -> Provider:
    """Make a provider without inventories. Raises DuplicateProvider, and BadRequest for a parent that does not exist."""
    root_id: int | None = None
    if new.parent_id is not None:
        parent = (await lock_providers(transaction, [new.parent_id])).get(new.parent_id)
        if parent is None:
            raise BadRequest("The parent provider does not exist.")
        root_id = parent.root_id
    if await providers_by_uuid(transaction, [new.uuid]):
        raise DuplicateProvider(f"Conflicting resource provider uuid: {new.uuid} already exists.")
    await _check_name(transaction, new.name)
    moment = now()
    values = (new.uuid, new.name, 0, new.parent_id, root_id, new.partition, moment, moment)
    try:
        row = await transaction.one(_INSERT, {f"new_{name}": value for name, value in zip(_COLUMNS, values, strict=True)})
    except Duplicate as error:
        raise DuplicateProvider(f"Conflicting resource provider name: {new.name} already exists.") from error
    if row is None:
        raise RuntimeError("an insert gave no id")
    provider_id = int(row[0])
    own_root = [(provider_id, provider_id)] if root_id is None else []
    await transaction.together([(_SET_ROOT, own_root), (changes.NOTES, [(PROVIDER, str(provider_id))])])
    return Provider(provider_id, new.uuid, new.name, 0, new.parent_id, root_id or provider_id, new.partition)


async def rename_provider(transaction: Transaction, provider_id: int, name: str) -> None:
    """Give a provider another name. Raises ProviderNotFound, DuplicateProvider."""
    provider = await _locked(transaction, provider_id)
    if provider.name == name:
        return
    await _check_name(transaction, name)
    try:
        await transaction.many(_RENAME, [(provider_id, name, now())])
    except Duplicate as error:
        raise DuplicateProvider(f"Conflicting resource provider name: {name} already exists.") from error
    await changes.note(transaction, [(PROVIDER, str(provider_id))])


async def move_provider(transaction: Transaction, provider_id: int, parent_id: int | None) -> None:
    """Hang a provider, with all that is below it, under another parent, or make it a root.

    Raises ProviderNotFound, BadRequest for a parent that does not exist or is below the provider itself, and StaleGeneration
    when the trees were moved about at the same moment.
    """
    before = await providers_by_id(transaction, [provider_id] if parent_id is None else [provider_id, parent_id])
    if provider_id not in before:
        raise ProviderNotFound("No such resource provider.")
    if parent_id is not None and parent_id not in before:
        raise BadRequest("The parent provider does not exist.")
    roots = {provider.root_id for provider in before.values()}
    # Whoever moves a provider holds both trees whole; a child made meanwhile had to lock its parent, so the second reading
    # has it.
    members = [number for root in sorted(roots) for number, _ in await transaction.rows(_TREE, {"root": root})]
    locked = await lock_providers(transaction, members)
    after = {number: locked[number].root_id for number in before if number in locked}
    if after != {number: provider.root_id for number, provider in before.items()}:
        raise StaleGeneration("The provider tree was changed at the same moment.")
    parents = dict(await transaction.rows(_TREE, {"root": before[provider_id].root_id}))
    subtree = _subtree(parents, provider_id)
    if not locked.keys() >= set(subtree):
        # Below what was made since, nobody waits for this transaction: more could be made there with the old root.
        raise StaleGeneration("The provider tree was changed at the same moment.")
    if parent_id in subtree:
        raise BadRequest("creating loop in the provider tree is not allowed.")
    root_id = provider_id if parent_id is None else before[parent_id].root_id
    await transaction.many(_SET_PARENT, [(provider_id, parent_id, now())])
    await transaction.many(_SET_ROOT, [(number, root_id) for number in subtree])
    await changes.note(transaction, [(PROVIDER, str(number)) for number in subtree])


async def delete_provider(transaction: Transaction, provider_id: int) -> None:
    """Remove a provider and its inventories. Raises ProviderNotFound, ProviderHasChildren, ProviderInUse."""
    provider = await _locked(transaction, provider_id)
    if await transaction.one(_CHILD, {"parent": provider_id}) is not None:
        raise ProviderHasChildren(f"Unable to delete parent resource provider {provider.uuid}: It has child resource providers.")
    if await transaction.one(_HOLDER, {"provider": provider_id}) is not None:
        raise ProviderInUse(f"Unable to delete resource provider {provider.uuid}: Resource provider has allocations.")
    gone = [(bulk, [(provider_id,)]) for bulk in (*_DELETE_PARTS, _DELETE)]
    await transaction.together([*gone, (changes.NOTES, [(PROVIDER, str(provider_id))])])


async def _locked(transaction: Transaction, provider_id: int) -> Provider:
    provider = (await lock_providers(transaction, [provider_id])).get(provider_id)
    if provider is None:
        raise ProviderNotFound("No such resource provider.")
    return provider


async def _check_name(transaction: Transaction, name: str) -> None:
    if await providers_by_name(transaction, [name]):
        raise DuplicateProvider(f"Conflicting resource provider name: {name} already exists.")


def _subtree(parents: dict[int, int | None], top: int) -> list[int]:
    children: dict[int | None, list[int]] = {}
    for number, parent in parents.items():
        children.setdefault(parent, []).append(number)
    found = [top]
    for number in found:
        found.extend(children.get(number, ()))
    return sorted(found)
