"""The ledger driven at random: trees, writes and searches, held after every step against a model of plain rules."""

import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from kilonova.domain.errors import KilonovaError
from kilonova.domain.ledger import Amounts, ConsumerWrite
from kilonova.domain.resources import Provider
from kilonova.operations import ledger as claims
from kilonova.storage.database import Database, Transaction
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase
from tests.conftest import TEMPLATE, copy_of
from tests.placement.oracle import Oracle
from tests.placement_api.placement_client import holding

from . import ledger_draws as draws
from .ledger_acts import Act, Claim, Join, Label, Release, Stock
from .ledger_ground import Connect, Ground, Run, settings_of, standing
from .ledger_model import Model, flat

MOST_CLAIMED = 10
"""So many candidates of one answer are tried."""


class LedgerMachine(RuleBasedStateMachine):
    """One random life of a ledger. Each write is judged by the model first; the ledger must say the same and do the same."""

    def __init__(self, ground: Ground, run: Run) -> None:
        super().__init__()
        self.ground = ground
        self.run = run
        self.model = Model()
        self.made = 0
        run(ground.clear())

    # ---- writes ----

    @initialize(data=st.data(), count=st.integers(2, draws.MOST_PROVIDERS - 1))
    def providers_are_made(self, data: st.DataObject, count: int) -> None:
        for number in range(count):
            self.do(data.draw(draws.makes(self.model, number)))
            made = max(self.model.nodes)
            self.do(Stock(made, data.draw(draws.offers), 0))
            self.do(Label(made, data.draw(draws.traits), 1))
            self.do(Join(made, data.draw(draws.aggregates), self.model.nodes[made].generation))
        self.made = count

    @rule(data=st.data())
    def something_is_written(self, data: st.DataObject) -> None:
        self.made += 1
        self.do(data.draw(draws.acts(self.model, self.made)))

    @precondition(lambda self: self.model.holds)
    @rule(data=st.data())
    def keeping_or_lowering_a_use_is_always_allowed(self, data: st.DataObject) -> None:
        act = data.draw(draws.lower_claims(self.model))
        assert not act.judge(self.model)
        self.do(act)

    @rule(consumer=st.sampled_from(draws.CONSUMERS))
    def somebody_ends(self, consumer: str) -> None:
        self.do(Release(consumer))

    # ---- searches ----

    @precondition(lambda self: self.model.nodes)
    @rule(data=st.data(), limit=st.sampled_from([None, None, None, 1, 3]))
    def a_search_finds_what_can_be_claimed(self, data: st.DataObject, limit: int | None) -> None:
        query = data.draw(draws.queries(self.model))
        found = self.run(self.ask(draws.address_of(query, limit)))
        keys = [self.key_of(request) for request in found]
        right = {anchored.key for anchored in Oracle(self.model.providers()).candidates(query)}
        assert len(set(keys)) == len(keys) == min(limit or len(right), len(right))
        assert set(keys) <= right
        for request in found[:MOST_CLAIMED]:
            self.run(self.ground.database.transact(self.would_be_taken(request)))
        if found:
            self.claim_found(data.draw(st.sampled_from(draws.CONSUMERS)), data.draw(st.sampled_from(found)))

    def claim_found(self, consumer: str, request: dict[str, Any]) -> None:
        """Claim a candidate over HTTP, as it was answered."""
        known = self.model.consumers.get(consumer)
        write = ConsumerWrite(consumer, "p1", "u1", "INSTANCE", self.amounts_of(request), known.generation if known else None)
        body = holding({}, write.expected_generation) | request  # type: ignore[arg-type]
        answer = self.run(self.ground.client.put(f"/allocations/{consumer}", body))
        verdict = self.model.judge_claims([write])
        # Room is sure only for a new consumer: what the candidate adds to is free, but an old one may change what it holds.
        assert known or not verdict
        assert answer.status_code == (409 if verdict else 204), answer.text
        if not verdict:
            self.model.claim([write])

    # ---- pictures ----

    @rule()
    def another_process_looks(self) -> None:
        self.run(self.ground.is_pictured(self.ground.far))

    @invariant()
    def the_database_and_the_index_are_as_the_model(self) -> None:
        self.run(self.ground.is_as(self.model))
        self.run(self.ground.is_pictured(self.ground.near))

    @invariant()
    def nobody_uses_what_is_not_there(self) -> None:
        for provider in self.model.providers():
            assert all(inventory.used >= 0 for inventory in provider.inventories.values())

    # ---- how ----

    def do(self, act: Act) -> None:
        """Run a write; it must be done or refused as the model says."""
        verdict, before = act.judge(self.model), self.model.providers()
        try:
            result = self.run(self.ground.database.transact(act.run))
        except KilonovaError as error:
            result = error
        if isinstance(result, KilonovaError):
            assert type(result) in verdict, f"{act} was refused: {result!r}"
            return
        assert not verdict, f"{act} was done"
        act.apply(self.model, result)
        if isinstance(act, Claim):
            self.stays_within_capacity(before)

    def stays_within_capacity(self, before: list[Provider]) -> None:
        """No claim passes capacity: where more is used than there is, no more is used than before."""
        old = {(provider.id, name): entry.used for provider in before for name, entry in provider.inventories.items()}
        for provider in self.model.providers():
            for name, entry in provider.inventories.items():
                assert entry.used <= max(entry.capacity, old[provider.id, name])

    async def ask(self, address: str) -> list[dict[str, Any]]:
        answer = await self.ground.client.get(address)
        assert answer.status_code == 200, answer.text
        requests: list[dict[str, Any]] = answer.json()["allocation_requests"]
        return requests

    def would_be_taken(self, request: dict[str, Any]) -> Callable[[Transaction], Coroutine[Any, Any, None]]:
        """A transaction that lets a new consumer hold a candidate, and writes nothing."""
        write = ConsumerWrite("f0000000-0000-4000-8000-000000000000", "p", "u", "", self.amounts_of(request), None)

        async def work(transaction: Transaction) -> None:
            (await claims.lock(transaction, [write])).admit(write)

        return work

    def amounts_of(self, request: dict[str, Any]) -> Amounts:
        number = self.numbers()
        return {number[uuid]: dict(entry["resources"]) for uuid, entry in request["allocations"].items()}

    def key_of(self, request: dict[str, Any]) -> tuple[object, ...]:
        """What makes a candidate another one, as the oracle has it."""
        number = self.numbers()
        mappings = {suffix: tuple(sorted(number[uuid] for uuid in uuids)) for suffix, uuids in request["mappings"].items()}
        return tuple(sorted(flat(self.amounts_of(request)))), tuple(sorted(mappings.items()))

    def numbers(self) -> dict[str, int]:
        return {node.uuid: number for number, node in self.model.nodes.items()}


def live(connect: Connect, examples: int, *, shrinks: bool) -> None:
    """Some lives, one after another on one database."""
    with standing(connect) as (ground, run):
        run_state_machine_as_test(lambda: LedgerMachine(ground, run), settings=settings_of(examples, shrinks=shrinks))


def test_the_ledger_keeps_its_rules_on_sqlite(sqlite_file: Path, tmp_path: Path) -> None:
    async def connect() -> Database:
        shutil.copy(sqlite_file, tmp_path / "ledger.db")
        return SqliteDatabase(tmp_path / "ledger.db")

    live(connect, 40, shrinks=True)


def test_the_ledger_keeps_its_rules_on_postgresql(postgresql_server: str) -> None:
    async def connect() -> Database:
        url = await copy_of(postgresql_server, TEMPLATE)
        return await PostgresqlDatabase.connect(url, connections=4, seconds=30)

    live(connect, 20, shrinks=False)
