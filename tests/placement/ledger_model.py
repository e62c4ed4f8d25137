"""The ledger as a page of plain rules: what each write of it does and when it must be refused. Nothing here knows a database."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from kilonova.domain.errors import BadAmount, Conflict, OverCapacity, StaleGeneration
from kilonova.domain.ledger import ANY, Amounts, Consumer, ConsumerWrite, Expected
from kilonova.domain.resources import Inventory, Provider

Key = tuple[int, str]
Verdict = frozenset[type[Exception]]

FINE: Final[Verdict] = frozenset()
"""Must be done. Any other verdict names the errors of which one must be raised."""


@dataclass
class Model:
    """What is to be in the ledger. Inventories carry no use here: it is what consumers hold together, and nothing else."""

    nodes: dict[int, Provider] = field(default_factory=dict)
    consumers: dict[str, Consumer] = field(default_factory=dict)
    holds: dict[str, dict[int, dict[str, int]]] = field(default_factory=dict)

    def providers(self) -> list[Provider]:
        """Every provider as it must be in the database: with its use and its root, in the order of numbers."""
        used = self.used()
        return [
            replace(
                node,
                root_id=self.root_of(number),
                inventories={
                    name: replace(inventory, used=used.get((number, name), 0)) for name, inventory in node.inventories.items()
                },
            )
            for number, node in sorted(self.nodes.items())
        ]

    def used(self) -> dict[Key, int]:
        """The sum of what all consumers hold."""
        found: dict[Key, int] = {}
        for held in self.holds.values():
            for key, amount in flat(held):
                found[key] = found.get(key, 0) + amount
        return found

    def root_of(self, number: int) -> int:
        return self.line_of(number)[-1]

    def line_of(self, number: int) -> list[int]:
        """A provider and what is above it, up to the root."""
        line = [number]
        while (parent := self.nodes[line[-1]].parent_id) is not None:
            line.append(parent)
        return line

    def has_children(self, number: int) -> bool:
        return any(node.parent_id == number for node in self.nodes.values())

    def is_held(self, number: int, names: Iterable[str] | None = None) -> bool:
        """Whether somebody holds some of a provider, or of these classes of it."""
        wanted = None if names is None else set(names)
        return any(
            provider == number and (wanted is None or name in wanted)
            for held in self.holds.values()
            for (provider, name), _ in flat(held)
        )

    def is_stale(self, number: int, expected: Expected) -> bool:
        return expected is not ANY and self.nodes[number].generation != expected

    def change(self, number: int, raise_generation: bool = True, **changes: object) -> None:
        """Put other values into a provider."""
        node = self.nodes[number]
        generation = node.generation + raise_generation
        self.nodes[number] = replace(node, generation=generation, **changes)  # type: ignore[arg-type]

    # ---- claims ----

    def judge_claims(self, writes: Sequence[ConsumerWrite]) -> Verdict:
        """Whether consumers may hold this instead of what they hold, all of them or none."""
        wrong: set[type[Exception]] = set()
        before: dict[Key, int] = {}
        after: dict[Key, int] = {}
        for write in writes:
            known = self.consumers.get(write.consumer)
            if write.expected_generation is not ANY and write.expected_generation != (known and known.generation):
                wrong.add(StaleGeneration)
            held, wanted = dict(flat(self.holds.get(write.consumer, {}))), dict(flat(write.allocations))
            for total, part in ((before, held), (after, wanted)):
                for key, amount in part.items():
                    total[key] = total.get(key, 0) + amount
            raised = {key: amount for key, amount in wanted.items() if amount > held.get(key, 0)}
            wrong.update(found for key, amount in raised.items() if (found := self._judge_amount(key, amount)))
        used = self.used()
        for key, amount in after.items():
            inventory = self._inventory(key)
            if inventory is not None and amount > before.get(key, 0):
                others = used.get(key, 0) - before.get(key, 0)
                if others + amount > inventory.capacity:
                    wrong.add(OverCapacity)
        return frozenset(wrong)

    def claim(self, writes: Sequence[ConsumerWrite]) -> None:
        """Let consumers hold this and nothing else; who holds nothing ends."""
        for number in {number for write in writes for number in write.allocations}:
            self.change(number)
        for write in writes:
            known = self.consumers.pop(write.consumer, None)
            self.holds.pop(write.consumer, None)
            if write.allocations:
                generation = known.generation + 1 if known else 1
                self.consumers[write.consumer] = Consumer(
                    write.consumer, generation, write.project_id, write.user_id, write.consumer_type
                )
                self.holds[write.consumer] = copied(write.allocations)

    def _judge_amount(self, key: Key, amount: int) -> type[Exception] | None:
        inventory = self._inventory(key)
        if inventory is None:
            return Conflict
        if amount < inventory.min_unit or amount > inventory.max_unit or amount % inventory.step_size:
            return BadAmount
        return None

    def _inventory(self, key: Key) -> Inventory | None:
        node = self.nodes.get(key[0])
        return None if node is None else node.inventories.get(key[1])


def flat(amounts: Amounts) -> Iterator[tuple[Key, int]]:
    for number, by_class in amounts.items():
        for name, amount in by_class.items():
            yield (number, name), amount


def copied(amounts: Mapping[int, Mapping[str, int]]) -> dict[int, dict[str, int]]:
    return {number: dict(by_class) for number, by_class in amounts.items()}
