"""Every order in which three transactions can write and commit: nobody misses a commit, nobody sees what is none."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import pytest

from kilonova.domain.clock import new_uuid
from kilonova.domain.ledger import ANY, NewProvider
from kilonova.domain.resources import Inventory, Provider
from kilonova.operations.ledger_index import LedgerIndex
from kilonova.storage import feed
from kilonova.storage.database import Database, Transaction
from kilonova.storage.feed import Changes
from kilonova.storage.provider_contents import edit_inventories
from kilonova.storage.provider_trees import create_provider

WRITERS: Final = 3
WAIT_SECONDS: Final = 20.0


async def made(database: Database, name: str) -> Provider:
    return await database.transact(lambda transaction: create_provider(transaction, NewProvider(new_uuid(), name)))


@dataclass
class Writer:
    """Raises one provider's total again and again, in transactions that stay open until they are told to commit."""

    database: Database
    provider: Provider
    committed: int = 0
    _task: asyncio.Task[None] | None = None
    _may_commit: asyncio.Event = field(default_factory=asyncio.Event)

    async def step(self) -> None:
        """Write and leave the transaction open, or else commit it."""
        async with asyncio.timeout(WAIT_SECONDS):
            if self._task is None:
                await self._write()
            else:
                self._may_commit.set()
                await self._task
                self._task = None
                self.committed += 1

    async def _write(self) -> None:
        written, self._may_commit = asyncio.Event(), asyncio.Event()
        amount = self.committed + 1

        async def work(transaction: Transaction) -> None:
            await edit_inventories(transaction, self.provider.id, ANY, lambda _: {"VCPU": Inventory(amount)})
            written.set()
            await self._may_commit.wait()

        self._task = asyncio.create_task(self.database.transact(work))
        await written.wait()


@dataclass
class Reader:
    """Follows the feed; it looks at every `pace`-th step from `begins` on."""

    index: LedgerIndex
    begins: int = 0
    pace: int = 1
    rebuilds: int = 0

    def __post_init__(self) -> None:
        self.index.on_change.append(self._told)

    def _told(self, changes: Changes) -> None:
        self.rebuilds += changes.rebuild

    def is_due(self, step: int) -> bool:
        return step >= self.begins and (step - self.begins) % self.pace == 0

    async def sees_just_what_is_committed(self, writers: Sequence[Writer], when: str) -> None:
        index = await self.index.fresh()
        seen = [index.provider(writer.provider.id).inventories.get("VCPU", Inventory(0)).total for writer in writers]
        assert seen == [writer.committed for writer in writers], f"{when}, read from step {self.begins}, every {self.pace}"


def orders(left: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every order in which each writer takes its steps: a write, then a commit."""
    if not any(left):
        yield ()
        return
    for number, steps in enumerate(left):
        if steps:
            rest = [count - (other == number) for other, count in enumerate(left)]
            yield from ((number, *tail) for tail in orders(rest))


@pytest.fixture
async def writers(postgresql: Database) -> list[Writer]:
    return [Writer(postgresql, await made(postgresql, f"host-{number}")) for number in range(WRITERS)]


async def follow(database: Database, writers: Sequence[Writer], steady: Reader, order: Sequence[int], keep: int | None) -> None:
    """Take the steps in this order; after each, the readers look, and old changes are forgotten where `keep` says so."""
    late = [Reader(LedgerIndex(database), begins, 1 + begins // 2) for begins in range(0, len(order), 2)]
    for step, number in enumerate(order):
        await writers[number].step()
        for reader in (steady, *(reader for reader in late if reader.is_due(step))):
            await reader.sees_just_what_is_committed(writers, f"{order} after step {step}")
        if keep is not None:
            await database.transact(lambda transaction: feed.trim(transaction, keep))
    for reader in late:
        await reader.sees_just_what_is_committed(writers, f"{order} at the end")


async def test_after_each_commit_every_reader_sees_it_whatever_the_order(postgresql: Database, writers: list[Writer]) -> None:
    found = list(orders([2] * WRITERS))
    assert len(found) == 90
    steady = Reader(LedgerIndex(postgresql))
    for order in found:
        await follow(postgresql, writers, steady, order, None)
    assert steady.rebuilds == 1


async def test_forgetting_old_changes_loses_none_and_does_not_make_who_keeps_up_rebuild(
    postgresql: Database, writers: list[Writer]
) -> None:
    steady = Reader(LedgerIndex(postgresql))
    for order in list(orders([2] * WRITERS))[::3]:
        await follow(postgresql, writers, steady, order, 1)
    assert steady.rebuilds == 1


async def test_a_transaction_that_lasts_makes_nobody_rebuild(postgresql: Database, writers: list[Writer]) -> None:
    slow, quick, _ = writers
    reader = Reader(LedgerIndex(postgresql))
    await slow.step()
    for _ in range(10):
        await quick.step()
        await quick.step()
        await reader.sees_just_what_is_committed(writers, "while it lasts")
        await postgresql.transact(lambda transaction: feed.trim(transaction, 1))
    await slow.step()
    await reader.sees_just_what_is_committed(writers, "when it has ended")
    assert reader.rebuilds == 1


async def test_what_was_begun_before_a_new_epoch_and_commits_after_it_is_seen(
    postgresql: Database, writers: list[Writer]
) -> None:
    slow, quick, _ = writers
    readers = [Reader(LedgerIndex(postgresql)) for _ in range(3)]
    for reader in readers:
        await reader.sees_just_what_is_committed(writers, "at first")
    await slow.step()
    await postgresql.transact(lambda transaction: feed.renew_epoch(transaction, "restored"))
    await quick.step()
    await readers[1].sees_just_what_is_committed(writers, "in the new epoch")
    await quick.step()
    await readers[2].sees_just_what_is_committed(writers, "after a commit in the new epoch")
    await slow.step()
    for reader in readers:
        await reader.sees_just_what_is_committed(writers, "at the end")
    assert [reader.rebuilds for reader in readers] == [2, 2, 2]
