"""Where the ledger's property tests run: a real database, two pictures of it in memory, and the placement face before it."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx
from hypothesis import HealthCheck, Phase, settings
from sqlalchemy import text

from kilonova.domain.clock import new_uuid
from kilonova.domain.resources import Provider
from kilonova.operations.ledger_index import LedgerIndex
from kilonova.placement.index import Index
from kilonova.placement_api.face import placement_face
from kilonova.placement_api.parts import PlacementParts
from kilonova.storage import feed, ledger
from kilonova.storage.database import Database, Transaction
from kilonova.storage.statement import Statement
from tests.placement_api.placement_client import Client, FakeAuthenticator

from .ledger_draws import CLASSES, TRAITS
from .ledger_model import Model

Run = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a coroutine to its end, on the loop that the ground lives on."""
Connect = Callable[[], Coroutine[Any, Any, Database]]

EXAMPLES: Final = os.environ.get("KILONOVA_EXAMPLES")
"""So many examples instead of the usual ones, and other ones each time."""
TABLES: Final = ("allocations", "consumers", "inventories", "provider_traits", "provider_aggregates", "providers", "changes")
MANY: Final = 1000


def settings_of(usual: int, *, shrinks: bool) -> settings:
    """The same examples in every run, unless more are asked for. Looking for a smaller failure takes minutes on PostgreSQL."""
    return settings(
        max_examples=int(EXAMPLES or usual),
        stateful_step_count=30,
        derandomize=EXAMPLES is None,
        phases=[Phase.generate, Phase.shrink] if shrinks else [Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@dataclass
class Ground:
    """`near` is the picture behind the face, `far` that of another process, which looks less often."""

    database: Database
    near: LedgerIndex
    far: LedgerIndex
    client: Client

    async def clear(self) -> None:
        """Forget all but the names of classes and traits, as a restore of an old copy does: every reader is told."""
        await self.database.script("".join(f"DELETE FROM {table};" for table in TABLES))
        await self.database.transact(_renew)

    async def is_as(self, model: Model) -> None:
        """The database holds exactly what the model holds."""
        async with self.database.snapshot() as transaction:
            providers = await ledger.providers_after(transaction, 0, MANY)
            consumers = {row[0] for row in await transaction.rows(_CONSUMERS)}
            known = await ledger.consumers_by_uuid(transaction, sorted(consumers))
            held = await ledger.allocations_of_consumers(transaction, sorted(consumers))
            holders = {row[0] for row in await transaction.rows(_HOLDERS)}
        assert providers == model.providers()
        assert known == model.consumers
        assert held == model.holds
        assert holders == consumers

    async def is_pictured(self, pictured: LedgerIndex) -> None:
        """A picture, once refreshed, shows exactly what the database holds."""
        index = await pictured.fresh()
        async with self.database.read() as transaction:
            providers = await ledger.providers_after(transaction, 0, MANY)
        shows(index, {provider.id: provider for provider in providers})


_CONSUMERS: Final = Statement(text("SELECT uuid FROM consumers"))
_HOLDERS: Final = Statement(text("SELECT DISTINCT consumer FROM allocations"))


def shows(index: Index, providers: dict[int, Provider]) -> None:
    assert len(index) == len(providers)
    for number, provider in providers.items():
        assert index.provider(number) == provider
        assert index.find(provider.uuid) == index.by_name(provider.name) == provider
    for root in {provider.root_id for provider in providers.values()}:
        assert {provider.id for provider in index.tree(root)} == {
            number for number, provider in providers.items() if provider.root_id == root
        }


async def _renew(transaction: Transaction) -> None:
    await feed.renew_epoch(transaction, new_uuid())


@contextmanager
def standing(connect: Connect) -> Iterator[tuple[Ground, Run]]:
    """The ground on an empty database, for tests that are no coroutines, as hypothesis wants them."""
    with asyncio.Runner() as runner:
        context = _opened(connect)
        ground = runner.run(context.__aenter__())
        try:
            yield ground, runner.run
        finally:
            runner.run(context.__aexit__(None, None, None))


@asynccontextmanager
async def _opened(connect: Connect) -> AsyncIterator[Ground]:
    database = await connect()
    near, far = LedgerIndex(database), LedgerIndex(database)
    face = placement_face(PlacementParts(database, near), FakeAuthenticator())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(face), base_url="http://test/placement") as http:
        client = Client(http)
        names = [f"/resource_classes/{name}" for name in CLASSES] + [f"/traits/{name}" for name in TRAITS]
        for path in names:
            if "/CUSTOM_" in path:
                answer = await client.put(path)
                assert answer.status_code == 201, answer.text
        yield Ground(database, near, far, client)
    await database.close()
