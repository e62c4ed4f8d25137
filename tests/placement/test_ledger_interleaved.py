"""Writers at the same moment on PostgreSQL: however their statements interleave, it is as if one came after the other."""

from dataclasses import dataclass, field
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from kilonova.domain.errors import Conflict, KilonovaError, StaleGeneration
from kilonova.storage import ledger
from kilonova.storage.database import Database
from kilonova.storage.postgresql import PostgresqlDatabase
from tests.conftest import TEMPLATE, copy_of

from . import ledger_draws as draws
from .ledger_acts import Act, Claim, Make, Move, NotDone, QuickClaim, Stock
from .ledger_ground import Ground, settings_of, standing
from .ledger_model import Model
from .ledger_turns import Turns

MOST_OPEN: Final = 3
MOST_TURNS: Final = 60


@dataclass
class Crowd:
    """Writers whose transactions are open together. The model goes with every commit, so it is what is committed."""

    ground: Ground
    model: Model = field(default_factory=Model)
    busy: set[int] = field(default_factory=set)
    open: list[Turns] = field(default_factory=list)
    overlapping: set[int] = field(default_factory=set)
    born: set[tuple[int, str]] = field(default_factory=set)
    """Writers, and consumers that another one made while they were at work."""

    async def alone(self, act: Act) -> None:
        act.apply(self.model, await self.ground.database.transact(act.run))

    async def enter(self, act: Act | QuickClaim) -> None:
        turns = Turns(self.ground.database, act, self.busy)
        self.open.append(turns)
        await turns.settle()
        if len(self.open) > 1:
            self.overlapping.update(id(each) for each in self.open)

    async def step(self, turns: Turns) -> None:
        """One turn of one writer; those that waited for what it held go on as far as they can."""
        await turns.take()
        if turns.is_over:
            self.leave(turns)
            for other in list(self.open):
                await other.settle()
            # A refusal needs no turn of its own.
            for other in [other for other in self.open if other.is_over]:
                self.leave(other)

    def leave(self, turns: Turns) -> None:
        """What a writer did, or was refused, must be right after all that was committed before."""
        self.open.remove(turns)
        outcome, verdict = turns.outcome, turns.act.judge(self.model)
        if isinstance(outcome, KilonovaError):
            assert type(outcome) in verdict or self.may_lose(turns, outcome), f"{turns} was refused: {outcome!r}"
        else:
            assert not verdict, f"{turns} was done"
            known = set(self.model.consumers)
            turns.act.apply(self.model, outcome)
            self.born.update((id(other), uuid) for other in self.open for uuid in self.model.consumers.keys() - known)
        # All take their locks in one order, so nobody ever dies of a deadlock.
        assert turns.tries == 1

    def may_lose(self, turns: Turns, outcome: KilonovaError) -> bool:
        """Whether a writer may be refused because another was at work at the same moment, and only because of that."""
        if type(outcome) in (StaleGeneration, NotDone):
            return id(turns) in self.overlapping
        # Nobody can lock a consumer that is not there yet: who finds the provider full of it, though it is its own, is told so.
        writes = turns.act.writes if isinstance(turns.act, Claim) else ()
        return isinstance(outcome, Conflict) and any((id(turns), write.consumer) in self.born for write in writes)

    async def look(self) -> None:
        """The pictures show what is committed, whoever is still at work."""
        await self.ground.is_as(self.model)
        await self.ground.is_pictured(self.ground.near)

    async def close(self) -> None:
        for turns in self.open:
            await turns.end()


async def meet(ground: Ground, data: st.DataObject) -> None:
    """One drawn meeting of writers."""
    await ground.clear()
    crowd = Crowd(ground)
    for number in range(data.draw(st.integers(2, 4))):
        await crowd.alone(data.draw(draws.makes(crowd.model, number)))
        made = max(crowd.model.nodes)
        await crowd.alone(Stock(made, data.draw(draws.offers), 0))
    entered = 10
    try:
        for _ in range(MOST_TURNS):
            able = [turns for turns in crowd.open if turns.stands]
            assert able or not crowd.open, "all wait for each other"
            choice = data.draw(st.integers(0, 7))
            if not crowd.open or (choice == 0 and len(crowd.open) < MOST_OPEN):
                entered += 1
                await crowd.enter(data.draw(st.one_of(draws.acts(crowd.model, entered), draws.quick_claims(crowd.model))))
            elif choice == 1:
                await crowd.look()
            else:
                await crowd.step(data.draw(st.sampled_from(able)))
        while crowd.open:
            await crowd.step(next(turns for turns in crowd.open if turns.stands))
        await crowd.look()
        await ground.is_pictured(ground.far)
    finally:
        await crowd.close()


def test_writers_at_the_same_moment_are_as_one_after_the_other(postgresql_server: str) -> None:
    async def connect() -> Database:
        url = await copy_of(postgresql_server, TEMPLATE)
        return await PostgresqlDatabase.connect(url, connections=8, seconds=30)

    with standing(connect) as (ground, run):

        @settings_of(30, shrinks=False)
        @given(st.data())
        def meetings(data: st.DataObject) -> None:
            run(meet(ground, data))

        meetings()


async def test_what_is_made_below_a_tree_while_it_moves_is_not_left_behind(postgresql: Database) -> None:
    top, other = [await postgresql.transact(Make(f"{number:08}-0000-4000-8000-000000000000", None).run) for number in (1, 2)]
    busy: set[int] = set()

    async def enter(act: Act) -> Turns:
        writer = Turns(postgresql, act, busy)
        await writer.settle()
        return writer

    # A child is made, a move waits for it, and a grandchild is made when the move has read the tree for the last time.
    child = await enter(Make("00000003-0000-4000-8000-000000000000", top.id))
    await take_all_but_commit(child)
    move = await enter(Move(top.id, other.id))
    while move.stands:
        await move.take()
    await child.take()
    await move.settle()
    await move.take()
    grandchild = await enter(Make("00000004-0000-4000-8000-000000000000", child.outcome.id))
    await take_all_but_commit(grandchild)
    while move.stands and not move.is_over:
        await move.take()
    await grandchild.take()
    await move.settle()
    while not move.is_over:
        await move.take()
    async with postgresql.read() as transaction:
        present = await ledger.providers_after(transaction, 0, 10)
    roots = {provider.id: provider.root_id for provider in present}
    assert all(roots[provider.id] == roots[provider.parent_id] for provider in present if provider.parent_id is not None)


async def take_all_but_commit(writer: Turns) -> None:
    """Let a create go on until only its commit is missing: it has then told of the change."""
    while not writer.is_ready:
        await writer.take()
