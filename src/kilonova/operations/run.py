"""What an operation's function is handed: its input, the outcomes on record, and the ways to act that leave a record.

Between steps a function reads nothing but its input and outcomes, so that whoever resumes it goes the same way. An outcome
is written together with the operation's next write: until then a crash only repeats its step.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

import structlog

from kilonova.bus.chaos import ChaosFailure, ChaosRules
from kilonova.bus.messages import Command
from kilonova.companions.network.contract import NetworkService
from kilonova.domain.clock import now
from kilonova.domain.errors import Conflict, KilonovaError, LeaseLost, Unavailable
from kilonova.domain.operation import Operation, Step
from kilonova.domain.wish import Wish
from kilonova.operations.cloud import Cloud
from kilonova.operations.commands import CellAway, HostCommands, HostGone
from kilonova.operations.end import End, Ender, Ending
from kilonova.operations.kinds import KINDS
from kilonova.operations.place import Placed, Placer, Placing, Unplaced
from kilonova.operations.records import Held, Record, Recorder
from kilonova.operations.secrets import Keyring
from kilonova.operations.wishes import WishReader
from kilonova.scheduling.explain import from_json, message, to_json
from kilonova.storage import operations
from kilonova.storage.database import Database
from kilonova.storage.operations import Conclusion, Intent

JSON = Mapping[str, Any]
Result = TypeVar("Result")
log = structlog.get_logger(__name__)


class StepFailed(KilonovaError):
    """A step's outcome is a failure; the sentence says why and is fit for the server's owner."""

    code = "operation.step_failed"

    def __init__(self, sentence: str, *, gone: bool = False) -> None:
        super().__init__(sentence)
        self.gone = gone
        """Whether it failed because its host is down, so that nobody knows what became of it."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """In seconds: how long one step may be tried, the pause between tries, how long a host may work on a command."""

    step: float = 600.0
    pause: float = 1.0
    command: float = 600.0


@dataclass(frozen=True, slots=True)
class RunParts:
    """What steps act through; one set for all operations of a conductor."""

    database: Database
    wishes: WishReader
    cloud: Cloud
    recorder: Recorder
    placer: Placer
    ender: Ender
    commands: HostCommands
    networks: NetworkService
    chaos: ChaosRules
    keyring: Keyring
    limits: RunLimits
    show_amounts: bool = True


class Run:
    """One operation while a conductor holds it."""

    def __init__(self, operation: Operation, parts: RunParts) -> None:
        self.operation = operation
        self.input = operation.input
        self.server_id = operation.server_id
        self._parts = parts
        self._held = Held(operation.id, operation.token, operation.server_id)
        self._steps = dict(operation.steps)
        last = max((step.position for step in self._steps.values()), default=0)
        self._next = count(last + 1).__next__
        self._intended: list[Intent] = []
        self._unwritten: list[Conclusion] = []
        self._wish: Wish | None = None
        self._in_doubt = False

    async def wish(self) -> Wish:
        """The server's wish, which is part of an operation's input: nothing changes it while one runs."""
        if self._wish is None:
            self._wish = await self._parts.wishes.read(self.server_id)
        return self._wish

    def secret(self) -> JSON:
        """What rides on the operation, opened; {} for none. It must not become part of an intent or outcome."""
        sealed = self.operation.secret
        return {} if sealed is None else self._parts.keyring.open(self.operation.id, sealed)

    @property
    def show_amounts(self) -> bool:
        """Whether users may see amounts in a fault."""
        return self._parts.show_amounts

    @property
    def networks(self) -> NetworkService:
        """The network service, for steps that act on it."""
        return self._parts.networks

    async def step(self, name: str, act: Callable[[], Awaitable[JSON]], number: int = 0) -> JSON:
        """Do a step outside the database, once on record: intent, act, outcome. Raises StepFailed, errors.LeaseLost."""
        key = f"{name}[{number}]"
        known = self._steps.get(key)
        if known is not None and known.outcome is not None:
            return _good(known.outcome)
        if known is None:
            await self._write(Intent(self.operation.id, key, self._next(), {}))
        return await self._act(name, key, act, "")

    async def command(self, name: str, host: str, content: JSON, number: int = 0) -> JSON:
        """Have a host do something; its report's result. Raises StepFailed (also where the host is gone), errors.LeaseLost."""
        key = f"{name}[{number}]"
        known = self._steps.get(key)
        if known is not None and known.outcome is not None:
            return _good(known.outcome)
        if known is None:
            row = self._parts.cloud.topology.hosts.get(host)
            intent = Intent(self.operation.id, key, self._next(), {"host": host, "epoch": row.epoch if row else 0}, host)
            intended = await self._write(intent, raises_generation=True)
        else:
            intended = known.intent
        command = Command(
            operation=self.operation.id,
            step=key,
            name=name,
            server=self.server_id,
            generation=intended["generation"],
            epoch=intended["epoch"],
            limit=self._parts.limits.command,
            input=content,
        )
        return await self._act(name, key, lambda: self._perform(intended["host"], command), intended["host"])

    async def place(self, wish: Wish, excluded: frozenset[str], then: str, number: int = 0) -> JSON | Unplaced:
        """Claim a host; the outcome says where, or why nowhere. The intent of step `then` is written with the claim."""
        key = f"claim[{number}]"
        known = self._steps.get(key)
        if known is not None and known.outcome is not None:
            explained = known.outcome.get("explanation") if "error" in known.outcome else None
            return _good(known.outcome) if explained is None else Unplaced(from_json(explained))
        placing = Placing(
            self._held,
            wish,
            excluded,
            Intent(self.operation.id, key, self._next(), {}, at=now()),
            Intent(self.operation.id, f"{then}[{number}]", self._next(), {}),
            tuple(self._unwritten),
        )
        try:
            await self._hit("claim", "before", "")
            verdict = await self._insist(lambda: self._place(placing), math.inf)
        except (StepFailed, ChaosFailure, Conflict) as error:
            self._fail_to_claim(placing, {"error": str(error)})
            raise StepFailed(str(error)) from error
        if isinstance(verdict, Unplaced):
            sentence = message(verdict.explanation, self._parts.show_amounts)
            self._fail_to_claim(placing, {"error": sentence, "explanation": to_json(verdict.explanation)})
            return verdict
        self._unwritten.clear()
        then_key = placing.then.key
        self._steps[then_key] = Step(then_key, placing.then.position, verdict.then, None, verdict.outcome["host"])
        await self._hit("claim", "after", verdict.outcome["host"])
        return verdict.outcome

    async def _place(self, placing: Placing) -> Placed | Unplaced:
        if self._in_doubt:
            await self._look_again()
            known = self._steps.get(placing.step.key)
            if known is not None and known.outcome is not None:
                return Placed(known.outcome, self._steps[placing.then.key].intent)
        return await self._parts.placer.place(placing)

    async def _record(self, key: str, record: Record) -> JSON:
        if self._in_doubt:
            await self._look_again()
            if key in self._steps:
                return self._steps[key].intent
        return await self._parts.recorder.write(record)

    async def _look_again(self) -> None:
        """Read what is on record: a connection that was lost at a commit leaves open whether it came through."""
        async with self._parts.database.read() as transaction:
            found = await operations.steps_of(transaction, [self.operation.id])
        self._steps.update(found.get(self.operation.id, {}))
        self._in_doubt = False

    def _fail_to_claim(self, placing: Placing, outcome: JSON) -> None:
        """Nothing was written, so the step goes on record with whatever is written next."""
        self._intended.append(placing.step)
        self._conclude(placing.step.key, outcome)

    async def end(self, end: End) -> None:
        """Close the operation; nothing may follow. Raises errors.LeaseLost."""
        ending = Ending(self._held, end, tuple(self._intended), tuple(self._unwritten))
        await self._insist(lambda: self._finish(ending), math.inf)
        await self._hit("finish", "after", "")

    async def _finish(self, ending: Ending) -> None:
        try:
            await self._hit("finish", "before", "")
        except StepFailed as failure:
            # Closing has no outcome of its own: where it fails it is tried again.
            raise Unavailable(str(failure)) from failure
        await self._parts.ender.end(ending)

    async def _write(self, intent: Intent, *, raises_generation: bool = False) -> JSON:
        record = Record(self._held, intent, tuple(self._unwritten), raises_generation, tuple(self._intended))
        written = await self._insist(lambda: self._record(intent.key, record), math.inf)
        self._intended.clear()
        self._unwritten.clear()
        self._steps[intent.key] = Step(intent.key, intent.position, written, None, intent.host)
        return written

    async def _perform(self, host: str, command: Command) -> JSON:
        try:
            report = await self._parts.commands.perform(host, command)
        except HostGone:
            cell = self._parts.cloud.cell_away(host)
            if cell and KINDS[self.operation.kind].waits:
                raise CellAway(cell) from None
            raise
        return report.result if report.ok else {"error": report.error}

    async def _act(self, name: str, key: str, act: Callable[[], Awaitable[JSON]], host: str) -> JSON:
        try:
            await self._hit(name, "before", host)
            outcome = await self._insist(act, self._parts.limits.step)
            await self._hit(name, "after", host)
        except (LeaseLost, CellAway):
            raise
        except ChaosFailure as failure:
            outcome = {"error": str(failure)}
        except KilonovaError as error:
            outcome = {"error": str(error), "code": error.code}
        self._conclude(key, outcome)
        return _good(outcome)

    async def _insist(self, act: Callable[[], Awaitable[Result]], patience: float) -> Result:
        """Act until it is no longer a transient error that stands in the way, for at most `patience` seconds."""
        loop = asyncio.get_running_loop()
        until = loop.time() + patience
        while True:
            try:
                return await act()
            except Unavailable as error:
                self._in_doubt = True
                if loop.time() > until:
                    raise
                log.info("step.try_again", operation=self.operation.id, reason=str(error))
                await asyncio.sleep(self._parts.limits.pause)

    async def _hit(self, name: str, when: str, host: str) -> None:
        try:
            await self._parts.chaos.hit(f"{self.operation.kind}.{name}", when, host, self.server_id)
        except ChaosFailure as failure:
            raise StepFailed(str(failure)) from failure

    def _conclude(self, key: str, outcome: JSON) -> None:
        self._unwritten.append(Conclusion(self.operation.id, key, outcome, now()))


def _good(outcome: JSON) -> JSON:
    if "error" in outcome:
        raise StepFailed(outcome["error"], gone=outcome.get("code") == HostGone.code)
    return outcome
