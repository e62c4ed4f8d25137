"""Claims: lock consumers and providers, admit writes one after another in memory, then write what was admitted.

`write_allocations` does all three for one set of writes that stand or fall together. A transaction that takes many independent
requests (PLACE) uses the steps: whoever is not admitted costs the others nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from kilonova.domain.errors import StaleGeneration
from kilonova.domain.ledger import ANY, Amounts, Consumer, ConsumerWrite
from kilonova.domain.resources import Inventory, Provider
from kilonova.placement import claims
from kilonova.storage import ledger, ledger_writes
from kilonova.storage.database import Database, Duplicate, Transaction
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

    @property
    def known(self) -> frozenset[str]:
        """The consumers that existed when the locks were taken."""
        return frozenset(self._before)

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
            raise StaleGeneration("Another writer made the same consumer at this moment.") from error

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
        known = self._after.get(write.consumer) or self._before.get(write.consumer)
        present = None if known is None else known.generation
        if present != write.expected_generation:
            raise StaleGeneration(
                f"consumer generation conflict - expected {_named(present)} but got {_named(write.expected_generation)} "
                f"for consumer {write.consumer}"
            )

    def _amounts(self, consumer: str) -> dict[Key, int]:
        return _flat(self._holds.get(consumer, self._held.get(consumer, {})))

    def _take(self, write: ConsumerWrite) -> None:
        known = self._after.get(write.consumer) or self._before.get(write.consumer)
        fallback = known or Consumer(write.consumer, 0, NOBODY, NOBODY)
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
    taken.admit(*writes)
    await taken.write(transaction)


async def release(transaction: Transaction, consumers: Sequence[str]) -> frozenset[str]:
    """End consumers and give back what they hold; those that existed."""
    writes = [ConsumerWrite(uuid, "", "", "", {}) for uuid in consumers]
    taken = await lock(transaction, writes)
    taken.admit(*writes)
    await taken.write(transaction)
    return taken.known


async def claim(database: Database, writes: Sequence[ConsumerWrite]) -> None:
    """`write_allocations` in a transaction of its own."""

    async def work(transaction: Transaction) -> None:
        await write_allocations(transaction, writes)

    await database.transact(work)


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
