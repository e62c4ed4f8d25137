"""END: the transaction that closes an operation. Server's last state, releases, quota, outcomes, result; all or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from kilonova.domain import lifecycle
from kilonova.domain.clock import now
from kilonova.domain.operation import ERROR, SUCCESS
from kilonova.operations import ledger
from kilonova.operations.records import Held
from kilonova.storage import build_counts, operations, quota_counts, servers
from kilonova.storage.database import Database, Transaction
from kilonova.storage.group_commit import GroupCommit
from kilonova.storage.operations import Conclusion, Intent
from kilonova.storage.servers import Standing


@dataclass(frozen=True, slots=True)
class End:
    """How an operation ends. `event` is what happens to its server (a row of the lifecycle table).

    `release` gives back what the server holds in the ledger, `leaves_host` takes it off its host (it keeps its cell).
    `fault` has code, message and details. `failed_hosts` are hosts whose build failed, `built_on` one whose did not.
    """

    event: str
    result: str = SUCCESS
    message: str | None = None
    fault: Mapping[str, Any] | None = None
    release: bool = False
    leaves_host: bool = False
    addresses: Sequence[Mapping[str, Any]] | None = None
    failed_hosts: tuple[str, ...] = ()
    built_on: str = ""

    @property
    def failed(self) -> bool:
        """Whether the operation failed."""
        return self.result == ERROR


@dataclass(frozen=True, slots=True)
class Ending:
    """One operation's end with the intents and outcomes that are not on record yet."""

    held: Held
    end: End
    intents: tuple[Intent, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()


class Ender:
    """One process's way to end operations."""

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self._group: GroupCommit[Ending, None] = GroupCommit("end", self._end_group, most)

    async def end(self, ending: Ending) -> None:
        """End an operation. Raises errors.LeaseLost."""
        await self._group.submit(ending)

    async def _end_group(self, endings: Sequence[Ending]) -> list[None | Exception]:
        async def work(transaction: Transaction) -> list[None | Exception]:
            return await _end(transaction, endings)

        return await self._database.transact(work)


async def _end(transaction: Transaction, endings: Sequence[Ending]) -> list[None | Exception]:
    held = await operations.lock_held(transaction, {entry.held.operation_id: entry.held.token for entry in endings})
    good = [entry for entry in endings if entry.held.operation_id in held]
    standings = await servers.lock(transaction, [entry.held.server_id for entry in good])
    after = {entry.held.operation_id: _after(standings[entry.held.server_id], entry.end) for entry in good}
    releasing = [entry.held.server_id for entry in good if entry.end.release]
    if releasing:
        await ledger.release(transaction, releasing)
    await _count_builds(transaction, good)
    gone = [
        standings[entry.held.server_id]
        for entry in good
        if after[entry.held.operation_id].deleted and not standings[entry.held.server_id].deleted
    ]
    if gone:
        await quota_counts.lock(transaction, [standing.project_id for standing in gone])
        await quota_counts.add(transaction, [_given_back(standing) for standing in gone])
    await servers.save(transaction, list(after.values()))
    await operations.record(
        transaction,
        [intent for entry in good for intent in entry.intents],
        [done for entry in good for done in entry.conclusions],
    )
    await operations.finish(transaction, [(entry.held.operation_id, entry.end.result, entry.end.message) for entry in good])
    return [None if entry.held.operation_id in held else entry.held.lost() for entry in endings]


def _after(standing: Standing, end: End) -> Standing:
    at = now()
    state = lifecycle.after(end.event, standing.state, standing.id)
    deleted = state.vm == "deleted"
    return replace(
        standing,
        vm_state=state.vm,
        task_state=state.task,
        power_state=state.power,
        host=None if end.leaves_host else standing.host,
        launched_at=at if end.event == "built" and standing.launched_at is None else standing.launched_at,
        terminated_at=at if deleted else standing.terminated_at,
        deleted=deleted,
        addresses=standing.addresses if end.addresses is None else orjson.dumps(list(end.addresses)).decode(),
        fault=orjson.dumps({**end.fault, "created": at}).decode()
        if end.fault
        else (None if end.event == "built" else standing.fault),
        updated_at=at,
    )


async def _count_builds(transaction: Transaction, good: Sequence[Ending]) -> None:
    failed = [host for entry in good for host in entry.end.failed_hosts]
    built = {entry.end.built_on for entry in good if entry.end.built_on}
    if failed:
        await build_counts.add(transaction, failed)
    if built:
        await build_counts.forget(transaction, sorted(built - set(failed)))


def _given_back(standing: Standing) -> quota_counts.Counted:
    flavor = orjson.loads(standing.flavor)
    return quota_counts.Counted(standing.project_id, -1, -flavor["vcpus"], -flavor["memory_mb"])
