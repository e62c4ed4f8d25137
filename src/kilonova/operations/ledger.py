"""Claims: lock consumers and providers, admit writes one after another in memory, then write what was admitted.

`write_allocations` does all three for one set of writes that stand or fall together. A transaction that takes many independent
requests (PLACE, and `Claimer` for those of the placement API) uses the steps: whoever is not admitted costs the others nothing.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from kilonova.domain.errors import KilonovaError, OverCapacity, StaleGeneration, Unavailable
from kilonova.domain.ledger import ANY, Amounts, Consumer, ConsumerWrite
from kilonova.domain.resources import Inventory, Provider
from kilonova.placement import claims
from kilonova.storage import ledger, ledger_writes, new_claims
from kilonova.storage.database import Database, Duplicate, Transaction
from kilonova.storage.group_commit import GroupCommit
from kilonova.storage.ledger_writes import Change

Key = tuple[int, str]

NOBODY: Final = "00000000-0000-0000-0000-000000000000"
"""Project and user of a consumer whose writer named none, as placement has it below 1.8."""


@dataclass(slots=True)
class Claims:
    """Writes being admitted under locks. Made by `lock`."""

    providers: dict[int, Provider]
    _inventories: dict[Key, Inventory]
    _names: dict[int, str]
    _before: dict[str, Consumer]
    _held: dict[str, Amounts]
    _after: dict[str, Consumer] = field(default_factory=dict)
    _holds: dict[str, Amounts] = field(default_factory=dict)

    def admit(self, *writes: ConsumerWrite) -> None:
        """Take writes in, all or none. Later ones see what they use.

        Raises StaleGeneration, OverCapacity, BadAmount, and Conflict where a provider has no such inventory.
        """
        for write in writes:
            self._check_generation(write)
        old = [self._amounts(write.consumer) for write in writes]
        new = [_flat(write.allocations) for write in writes]
        self._verify(old, new)
        for held, holds in zip(old, new, strict=True):
            for sign, amounts in ((-1, held), (1, holds)):
                for key, amount in amounts.items():
                    inventory = self._inventories.get(key)
                    if inventory is not None:
                        self._inventories[key] = ledger_writes.with_used(inventory, sign * amount)
        for write in writes:
            self._take(write)

    def known(self, consumers: Iterable[str]) -> frozenset[str]:
        """Those of the consumers that exist, as far as writes were admitted."""
        return frozenset(uuid for uuid in consumers if self._present(uuid) is not None)

    def was_there(self, consumer: str) -> bool:
        """Whether the consumer existed when the locks were taken."""
        return consumer in self._before

    def check_units(self, *writes: ConsumerWrite) -> None:
        """Hold all amounts against min_unit, max_unit and step_size, those that a consumer has already, too. Raises BadAmount."""
        for write in writes:
            amounts = _flat(write.allocations)
            claims.verify(self._roomy(amounts), {}, amounts, self._names)

    async def write(self, transaction: Transaction) -> None:
        """Write all that was admitted, in the transaction that holds the locks. Raises StaleGeneration."""
        written = [
            Change(self._before.get(uuid), after, self._held.get(uuid, {}), self._holds[uuid])
            for uuid, after in self._after.items()
        ]
        try:
            await ledger_writes.write_allocations(transaction, written, self.providers)
        except Duplicate as error:
            raise _made_meanwhile() from error

    def _verify(self, old: Sequence[dict[Key, int]], new: Sequence[dict[Key, int]]) -> None:
        if len(new) == 1:
            claims.verify(self._inventories, old[0], new[0], self._names)
            return
        # What one of them gives up another may take, so amounts are held against the room in sum, but against units alone.
        roomy = self._roomy(_keys(new))
        for held, holds in zip(old, new, strict=True):
            claims.verify(roomy, held, holds, self._names)
        any_unit = {key: replace(self._inventories[key], min_unit=1, max_unit=2**62, step_size=1) for key in roomy}
        claims.verify(any_unit, _sum(old), _sum(new), self._names)

    def _roomy(self, keys: Iterable[Key]) -> dict[Key, Inventory]:
        return {key: replace(self._inventories[key], used=-(2**62)) for key in keys if key in self._inventories}

    def _check_generation(self, write: ConsumerWrite) -> None:
        if write.expected_generation is ANY:
            return
        known = self._present(write.consumer)
        present = None if known is None else known.generation
        if present != write.expected_generation:
            raise StaleGeneration(
                f"consumer generation conflict - expected {_named(present)} but got {_named(write.expected_generation)} "
                f"for consumer {write.consumer}"
            )

    def _present(self, consumer: str) -> Consumer | None:
        if consumer in self._after:
            return self._after[consumer] if self._holds[consumer] else None
        return self._before.get(consumer)

    def _amounts(self, consumer: str) -> dict[Key, int]:
        return _flat(self._holds.get(consumer, self._held.get(consumer, {})))

    def _take(self, write: ConsumerWrite) -> None:
        fallback = self._present(write.consumer) or Consumer(write.consumer, 0, NOBODY, NOBODY)
        self._after[write.consumer] = Consumer(
            write.consumer,
            fallback.generation + 1,
            write.project_id or fallback.project_id,
            write.user_id or fallback.user_id,
            write.consumer_type or fallback.consumer_type,
        )
        self._holds[write.consumer] = write.allocations


async def lock(transaction: Transaction, writes: Sequence[ConsumerWrite]) -> Claims:
    """Lock the consumers of `writes`, then every provider that they hold or ask for."""
    before = await ledger_writes.lock_consumers(transaction, [write.consumer for write in writes])
    held = await ledger.allocations_of_consumers(transaction, list(before)) if before else {}
    ids = {number for amounts in held.values() for number in amounts}
    ids.update(number for write in writes for number in write.allocations)
    providers = dict(await ledger_writes.lock_providers(transaction, ids))
    return Claims(
        providers,
        {
            (provider.id, resource_class): inventory
            for provider in providers.values()
            for resource_class, inventory in provider.inventories.items()
        },
        {provider.id: provider.uuid for provider in providers.values()},
        before,
        dict(held),
    )


async def write_allocations(transaction: Transaction, writes: Sequence[ConsumerWrite]) -> None:
    """Write all of `writes` or none.

    Raises StaleGeneration, OverCapacity, BadAmount, and Conflict where a provider has no such inventory.
    """
    taken = await lock(transaction, writes)
    await _admit(transaction, taken, writes)
    await taken.write(transaction)


async def release(transaction: Transaction, consumers: Sequence[str]) -> frozenset[str]:
    """End consumers and give back what they hold; those that existed."""
    writes = [ConsumerWrite(uuid, "", "", "", {}) for uuid in consumers]
    taken = await lock(transaction, writes)
    known = taken.known(consumers)
    taken.admit(*writes)
    await taken.write(transaction)
    return known


async def claim(database: Database, writes: Sequence[ConsumerWrite]) -> None:
    """`write_allocations` in a transaction of its own."""

    async def work(transaction: Transaction) -> None:
        await write_allocations(transaction, writes)

    await database.transact(work)


async def _nothing_to_check(transaction: Transaction) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Asked:
    """What one request wants written, all or nothing. `check` runs first, in the transaction, and may raise KilonovaError."""

    writes: Sequence[ConsumerWrite]
    check: Callable[[Transaction], Awaitable[None]] = _nothing_to_check


class Claimer:
    """One process's way to write what consumers hold: requests that arrive together share one transaction."""

    def __init__(self, database: Database, most: int = 64) -> None:
        self._database = database
        self._new: GroupCommit[Sequence[ConsumerWrite], bool] = GroupCommit("claim", self._claim, most)
        self._any: GroupCommit[Asked, frozenset[str]] = GroupCommit("allocations", self._write, most)

    async def claim(self, writes: Sequence[ConsumerWrite]) -> bool:
        """The quick way for new consumers. False where nothing was written and only `write` can tell why, or do it.

        It may be asked with provider ids that are no longer true.
        """
        return new_claims.can_be_claimed(self._database, writes) and await self._new.submit(writes)

    async def write(self, asked: Asked) -> frozenset[str]:
        """Write what is asked; those of its consumers that existed. Raises as `write_allocations`, and what `check` raises."""
        return await self._any.submit(asked)

    async def _claim(self, many: Sequence[Sequence[ConsumerWrite]]) -> Sequence[bool | Exception]:
        try:
            done = await new_claims.claim(self._database, [write for writes in many for write in writes])
        except Unavailable as error:
            # Whether it was written is not known, so nobody may try again on the callers' behalf.
            return [error] * len(many)
        return [done] * len(many)

    async def _write(self, many: Sequence[Asked]) -> Sequence[frozenset[str] | Exception]:
        async def work(transaction: Transaction) -> Sequence[frozenset[str] | Exception]:
            return await _write_group(transaction, many)

        try:
            return await self._database.transact(work)
        except Unavailable as error:
            return [error] * len(many)


async def _admit(transaction: Transaction, taken: Claims, writes: Sequence[ConsumerWrite]) -> None:
    """`Claims.admit`, with the right reason: raises StaleGeneration where a consumer was made while `lock` waited for providers.

    What there is no room for may be what that consumer holds itself.
    """
    try:
        taken.admit(*writes)
    except OverCapacity as error:
        new = [write.consumer for write in writes if not taken.was_there(write.consumer)]
        if new and await ledger.consumers_by_uuid(transaction, new):
            raise _made_meanwhile() from error
        raise


def _made_meanwhile() -> StaleGeneration:
    return StaleGeneration("Another writer made the same consumer at this moment.")


async def _write_group(transaction: Transaction, many: Sequence[Asked]) -> Sequence[frozenset[str] | Exception]:
    verdicts: dict[int, frozenset[str] | Exception] = {}
    for place, asked in enumerate(many):
        try:
            await asked.check(transaction)
        except KilonovaError as error:
            verdicts[place] = error
    left = [(place, asked) for place, asked in enumerate(many) if place not in verdicts]
    taken = await lock(transaction, [write for _, asked in left for write in asked.writes])
    for place, asked in left:
        known = taken.known(write.consumer for write in asked.writes)
        try:
            await _admit(transaction, taken, asked.writes)
        except KilonovaError as error:
            verdicts[place] = error
        else:
            verdicts[place] = known
    await taken.write(transaction)
    return [verdicts[place] for place in range(len(many))]


def _named(generation: object) -> str:
    return "null" if generation is None else str(generation)


def _flat(amounts: Amounts) -> dict[Key, int]:
    return {(number, name): amount for number, by_class in amounts.items() for name, amount in by_class.items()}


def _sum(many: Sequence[dict[Key, int]]) -> dict[Key, int]:
    total: dict[Key, int] = {}
    for amounts in many:
        for key, amount in amounts.items():
            total[key] = total.get(key, 0) + amount
    return total


def _keys(many: Sequence[dict[Key, int]]) -> set[Key]:
    return {key for amounts in many for key in amounts}
