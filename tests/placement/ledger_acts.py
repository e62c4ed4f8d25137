"""The writes of the ledger as values: each can be run in a transaction, judged by the model, and done to the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from kilonova.domain.errors import BadRequest, Conflict, StaleGeneration
from kilonova.domain.ledger import (
    ConsumerWrite,
    Expected,
    InventoryInUse,
    NewProvider,
    ProviderHasChildren,
    ProviderInUse,
    ProviderNotFound,
)
from kilonova.domain.resources import Inventory, Provider
from kilonova.operations import ledger
from kilonova.storage.database import Database, Transaction
from kilonova.storage.provider_contents import edit_inventories, set_aggregates, set_traits
from kilonova.storage.provider_trees import create_provider, delete_provider, move_provider

from .ledger_model import FINE, Model, Verdict

ABSENT: Verdict = frozenset({ProviderNotFound})


class Judged(Protocol):
    """One write, as the model sees it."""

    def judge(self, model: Model) -> Verdict:
        """FINE, or the errors of which one must be raised."""
        ...

    def apply(self, model: Model, result: Any) -> None:
        """Do it to the model; `result` is what running it gave."""
        ...


class Act(Judged, Protocol):
    """One write within a transaction."""

    async def run(self, transaction: Transaction) -> Any:
        """Do it through the public functions."""
        ...


@dataclass(frozen=True)
class Make:
    """A new provider below another, or a root."""

    uuid: str
    parent: int | None

    async def run(self, transaction: Transaction) -> Provider:
        return await create_provider(transaction, NewProvider(self.uuid, f"name of {self.uuid}", self.parent))

    def judge(self, model: Model) -> Verdict:
        return FINE if self.parent is None or self.parent in model.nodes else frozenset({BadRequest})

    def apply(self, model: Model, result: Provider) -> None:
        model.nodes[result.id] = Provider(result.id, self.uuid, f"name of {self.uuid}", 0, self.parent, result.id)


@dataclass(frozen=True)
class Stock:
    """Other inventories of a provider."""

    provider: int
    inventories: Mapping[str, Inventory]
    expected: Expected

    async def run(self, transaction: Transaction) -> None:
        await edit_inventories(transaction, self.provider, self.expected, lambda _: self.inventories)

    def judge(self, model: Model) -> Verdict:
        if self.provider not in model.nodes:
            return ABSENT
        if model.is_stale(self.provider, self.expected):
            return frozenset({StaleGeneration})
        gone = model.nodes[self.provider].inventories.keys() - self.inventories.keys()
        return frozenset({InventoryInUse}) if model.is_held(self.provider, gone) else FINE

    def apply(self, model: Model, result: None) -> None:
        model.change(self.provider, inventories=dict(self.inventories))


@dataclass(frozen=True)
class Label:
    """Other traits of a provider; the same ones leave its generation alone."""

    provider: int
    traits: frozenset[str]
    expected: Expected

    async def run(self, transaction: Transaction) -> None:
        await set_traits(transaction, self.provider, self.expected, self.traits)

    def judge(self, model: Model) -> Verdict:
        return _judge_contents(model, self.provider, self.expected)

    def apply(self, model: Model, result: None) -> None:
        model.change(self.provider, model.nodes[self.provider].traits != self.traits, traits=self.traits)


@dataclass(frozen=True)
class Join:
    """Other aggregates of a provider."""

    provider: int
    aggregates: frozenset[str]
    expected: int

    async def run(self, transaction: Transaction) -> None:
        await set_aggregates(transaction, self.provider, self.expected, self.aggregates)

    def judge(self, model: Model) -> Verdict:
        return _judge_contents(model, self.provider, self.expected)

    def apply(self, model: Model, result: None) -> None:
        model.change(self.provider, aggregates=self.aggregates)


@dataclass(frozen=True)
class Move:
    """A provider with all that is below it goes under another, or becomes a root."""

    provider: int
    parent: int | None

    async def run(self, transaction: Transaction) -> None:
        await move_provider(transaction, self.provider, self.parent)

    def judge(self, model: Model) -> Verdict:
        if self.provider not in model.nodes:
            return ABSENT
        if self.parent is None:
            return FINE
        absent_or_below = self.parent not in model.nodes or self.provider in model.line_of(self.parent)
        return frozenset({BadRequest}) if absent_or_below else FINE

    def apply(self, model: Model, result: None) -> None:
        model.change(self.provider, raise_generation=False, parent_id=self.parent)


@dataclass(frozen=True)
class Remove:
    """A provider goes."""

    provider: int

    async def run(self, transaction: Transaction) -> None:
        await delete_provider(transaction, self.provider)

    def judge(self, model: Model) -> Verdict:
        if self.provider not in model.nodes:
            return ABSENT
        wrong: set[type[Exception]] = set()
        if model.has_children(self.provider):
            wrong.add(ProviderHasChildren)
        if model.is_held(self.provider):
            wrong.add(ProviderInUse)
        return frozenset(wrong)

    def apply(self, model: Model, result: None) -> None:
        del model.nodes[self.provider]


@dataclass(frozen=True)
class Claim:
    """What some consumers are to hold from now on, all of them or none."""

    writes: tuple[ConsumerWrite, ...]

    async def run(self, transaction: Transaction) -> None:
        await ledger.write_allocations(transaction, self.writes)

    def judge(self, model: Model) -> Verdict:
        return model.judge_claims(self.writes)

    def apply(self, model: Model, result: None) -> None:
        model.claim(self.writes)


@dataclass(frozen=True)
class Release:
    """A consumer ends, whatever it holds; that there is none is no error."""

    consumer: str

    async def run(self, transaction: Transaction) -> frozenset[str]:
        return await ledger.release(transaction, [self.consumer])

    def judge(self, model: Model) -> Verdict:
        return FINE

    def apply(self, model: Model, result: frozenset[str]) -> None:
        assert result == {self.consumer} & model.consumers.keys()
        model.claim([ConsumerWrite(self.consumer, "", "", "", {})])


class NotDone(Conflict):
    """The quick way does not say why it is closed."""


@dataclass(frozen=True)
class QuickClaim:
    """A claim of new consumers in one statement of its own, which does it or does nothing. PostgreSQL only."""

    writes: tuple[ConsumerWrite, ...]

    async def run_on(self, database: Database) -> None:
        """Raises NotDone."""
        if not await ledger.Claimer(database).claim(self.writes):
            raise NotDone

    def judge(self, model: Model) -> Verdict:
        return frozenset({NotDone}) if model.judge_claims(self.writes) else FINE

    def apply(self, model: Model, result: None) -> None:
        model.claim(self.writes)


def _judge_contents(model: Model, provider: int, expected: Expected) -> Verdict:
    if provider not in model.nodes:
        return ABSENT
    return frozenset({StaleGeneration}) if model.is_stale(provider, expected) else FINE
