"""PLACE: the transaction that gives a server its host. Plans are made from a snapshot; here they are verified and applied.

Up to a batch of requests share one transaction: what is needed is locked once, requests are admitted in order, losers are
dropped in memory and planned anew at once from fresh state. A server's cell, host and claim are set together or not at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kilonova.bus.chaos import ChaosRules
from kilonova.domain import lifecycle
from kilonova.domain.clock import now
from kilonova.domain.errors import Conflict
from kilonova.domain.ledger import ConsumerWrite
from kilonova.domain.wish import Wish
from kilonova.operations import ledger
from kilonova.operations.cloud import Cloud
from kilonova.operations.planning import Plan, Planner
from kilonova.operations.records import Held
from kilonova.operations.requesting import requests_of
from kilonova.scheduling.explain import Explanation, to_json
from kilonova.scheduling.settings import QuerySettings
from kilonova.storage import group_locks, operations, servers
from kilonova.storage.database import Database, Transaction
from kilonova.storage.group_commit import GroupCommit
from kilonova.storage.operations import Conclusion, Intent

POINT: Final = "schedule"
"""The scheduler's name at the chaos door."""


@dataclass(frozen=True, slots=True)
class Placing:
    """One server that wants a host. `step` is the key of the claim step, `then` the step whose intent is written with it."""

    held: Held
    wish: Wish
    excluded: frozenset[str]
    step: Intent
    then: Intent
    conclusions: tuple[Conclusion, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a server went, as its claim's outcome has it."""

    outcome: Mapping[str, Any]
    then: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unplaced:
    """No host would do; nothing was written."""

    explanation: Explanation


@dataclass(frozen=True, slots=True)
class PlaceSettings:
    """How many share a transaction, and how often who lost its room to another is planned anew."""

    most: int = 64
    replans: int = 10
    query: QuerySettings = field(default_factory=QuerySettings)


class _LostRoom(Conflict):
    """Between plan and claim somebody else took the room."""


class Placer:
    """One conductor's way to place servers."""

    def __init__(self, database: Database, cloud: Cloud, planner: Planner, chaos: ChaosRules, settings: PlaceSettings) -> None:
        self._database = database
        self._cloud = cloud
        self._planner = planner
        self._chaos = chaos
        self._replans = settings.replans
        self._query = settings.query
        self._group: GroupCommit[Placing, Placed | Unplaced] = GroupCommit("place", self._place_group, settings.most)

    async def place(self, placing: Placing) -> Placed | Unplaced:
        """Plan and claim. Raises errors.LeaseLost, and errors.Conflict where room was lost again and again."""
        return await self._group.submit(placing)

    async def _place_group(self, placings: Sequence[Placing]) -> list[Placed | Unplaced | Exception]:
        verdicts: dict[int, Placed | Unplaced | Exception] = {}
        waiting = list(range(len(placings)))
        for _ in range(self._replans):
            plans = await self._plan([placings[place] for place in waiting])
            chosen = []
            for place, plan in zip(waiting, plans, strict=True):
                if plan.candidate is None:
                    verdicts[place] = Unplaced(plan.explanation)
                else:
                    chosen.append((place, plan))
            pairs = [(placings[place], plan) for place, plan in chosen]
            results = await self._apply(pairs) if pairs else []
            waiting = []
            for (place, _), result in zip(chosen, results, strict=True):
                verdicts[place] = result
                if isinstance(result, _LostRoom):
                    waiting.append(place)
            if not waiting:
                break
        return [verdicts[place] for place in range(len(placings))]

    async def _plan(self, placings: Sequence[Placing]) -> list[Plan]:
        await self._chaos.hit(POINT, "before")
        async with self._database.read() as transaction:
            requests = await requests_of(transaction, placings, self._query)
        await self._cloud.refresh()
        return self._planner.plan(requests, self._cloud.index, self._cloud.hosts)

    async def _apply(self, pairs: Sequence[tuple[Placing, Plan]]) -> list[Placed | Exception]:
        async def work(transaction: Transaction) -> list[Placed | Exception]:
            return await _apply(transaction, pairs, self._cloud)

        return await self._database.transact(work)


async def _apply(transaction: Transaction, pairs: Sequence[tuple[Placing, Plan]], cloud: Cloud) -> list[Placed | Exception]:
    held = await operations.lock_held(transaction, {placing.held.operation_id: placing.held.token for placing, _ in pairs})
    standings = await servers.lock(transaction, [placing.held.server_id for placing, _ in pairs])
    errors: dict[int, Exception] = {
        place: placing.held.lost()
        for place, (placing, _) in enumerate(pairs)
        if placing.held.operation_id not in held or standings[placing.held.server_id].deleted
    }
    errors |= await _broken_groups(transaction, pairs, standings, errors)
    asking = {place: _claim(*pairs[place]) for place in range(len(pairs)) if place not in errors}
    claims = await ledger.lock(transaction, list(asking.values()))
    for place, write in asking.items():
        try:
            claims.admit(write)
        except Conflict as error:
            errors[place] = _LostRoom(str(error))
    await claims.write(transaction)
    winners = {place: _win(*pairs[place], standings, cloud) for place in asking if place not in errors}
    await servers.save(transaction, [winner.standing for winner in winners.values()])
    intents = [intent for winner in winners.values() for intent in (winner.step, winner.then)]
    conclusions = [done for place, winner in winners.items() for done in (*pairs[place][0].conclusions, winner.conclusion)]
    await operations.record(transaction, intents, conclusions)
    return [
        errors[place] if place in errors else Placed(winners[place].conclusion.content, winners[place].then.content)
        for place in range(len(pairs))
    ]


def _claim(placing: Placing, plan: Plan) -> ConsumerWrite:
    assert plan.candidate is not None
    return ConsumerWrite(
        consumer=placing.held.server_id,
        project_id=placing.wish.project_id,
        user_id=placing.wish.user_id,
        consumer_type="INSTANCE",
        allocations=plan.candidate.allocations,
    )


@dataclass(frozen=True, slots=True)
class _Winner:
    """What one winner writes."""

    standing: servers.Standing
    step: Intent
    then: Intent
    conclusion: Conclusion


def _win(placing: Placing, plan: Plan, standings: Mapping[str, servers.Standing], cloud: Cloud) -> _Winner:
    assert plan.candidate is not None
    before = standings[placing.held.server_id]
    host = cloud.topology.hosts[plan.host]
    state = lifecycle.after("placed", before.state, before.id)
    generation = before.generation + 1
    content = {
        "host": plan.host,
        "cell": host.cell,
        "zone": plan.zone,
        "mappings": {suffix: list(ids) for suffix, ids in plan.candidate.mappings.items()},
        "allocations": {
            cloud.provider_name(provider_id): dict(amounts) for provider_id, amounts in plan.candidate.allocations.items()
        },
        "explanation": to_json(plan.explanation),
    }
    standing = replace(
        before,
        vm_state=state.vm,
        task_state=state.task,
        power_state=state.power,
        cell=host.cell,
        host=plan.host,
        availability_zone=plan.zone,
        generation=generation,
        updated_at=now(),
    )
    intended = {**placing.then.content, "host": plan.host, "generation": generation, "epoch": host.epoch}
    return _Winner(
        standing,
        replace(placing.step, host=plan.host),
        replace(placing.then, content=intended, host=plan.host),
        Conclusion(placing.step.operation_id, placing.step.key, content, now()),
    )


async def _broken_groups(
    transaction: Transaction,
    pairs: Sequence[tuple[Placing, Plan]],
    standings: Mapping[str, servers.Standing],
    errors: Mapping[int, Exception],
) -> dict[int, Exception]:
    """Which plans would break their group's policy as things are now, with the groups locked against other placings."""
    wanted = sorted({placing.wish.group_id for placing, _ in pairs if placing.wish.group_id})
    if not wanted:
        return {}
    present = await group_locks.lock(transaction, wanted)
    members = await servers.members_by_host(transaction, wanted)
    broken: dict[int, Exception] = {}
    for place, (placing, plan) in enumerate(pairs):
        group = present.get(placing.wish.group_id)
        if place in errors or group is None:
            continue
        there = members.setdefault(placing.wish.group_id, {})
        own = standings[placing.held.server_id].host
        if own is not None:
            # It leaves the host that it failed on, so it is no member there.
            there[own] = there.get(own, 1) - 1
        if not group.allows(plan.host, there):
            broken[place] = _LostRoom(f"The policy of group {placing.wish.group_id} no longer allows {plan.host}.")
        else:
            there[plan.host] = there.get(plan.host, 0) + 1
    return broken
