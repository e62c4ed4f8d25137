"""How a host takes commands on and does them: written down first, one after the other for a server, within their limit.

Which driver call a command means stands in dispatch; who sent it and who hears of it is not decided here.
"""

import asyncio
from collections import deque
from collections.abc import Container
from dataclasses import dataclass, field

import structlog

from kilonova.agent.book import Book
from kilonova.agent.dispatch import COMMANDS
from kilonova.agent.journal import Entry, Journal, JournalError
from kilonova.agent.outbox import Outbox
from kilonova.bus.chaos import ChaosFailure, ChaosRules
from kilonova.bus.messages import Answer, Command, Report
from kilonova.bus.tasks import Tasks
from kilonova.drivers.contract import Driver, DriverError

SUPERSEDED = "A later command for this server has taken its place."
ELSEWHERE = "The server went elsewhere while the host was away."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Records:
    """Where a host keeps what it took on, and where its reports go."""

    book: Book
    journal: Journal
    outbox: Outbox


@dataclass(slots=True)
class _Lane:
    """One server's commands, done in order; `running` is the limit of the one that runs."""

    waiting: deque[tuple[Entry, float]] = field(default_factory=deque)
    running: asyncio.Timeout | None = None


class Worker:
    """The work of one host. `epoch` is None until the control plane has told it; then nothing else is taken on."""

    def __init__(self, host: str, driver: Driver, records: Records, chaos: ChaosRules) -> None:
        self.epoch: int | None = None
        self._host = host
        self._driver = driver
        self._book = records.book
        self._journal = records.journal
        self._outbox = records.outbox
        self._chaos = chaos
        self._tasks = Tasks()
        self._lanes: dict[str, _Lane] = {}

    async def take(self, conductor: str, commands: list[Command]) -> list[Answer]:
        """Answer commands that arrived in one message; those that are new are on the disk when this returns.

        Raises JournalError: then none of the new ones counts.
        """
        fresh: list[Entry] = []
        answers = [self._answer(conductor, command, fresh) for command in commands]
        known = [entry for command in commands if (entry := self._book.find(command.key)) is not None]
        if not all(entry.is_durable for entry in known):
            try:
                await self._journal.durable()
            finally:
                self._book.withdraw(entry for entry in fresh if not entry.is_durable)
            if not all(entry.is_durable for entry in known):
                raise JournalError("The journal did not take a command that was asked for twice.")
        for entry in fresh:
            self._begin(entry)
        return answers

    def resume(self, belonging: Container[str]) -> None:
        """Go on after a restart: do what has no report, and send what nobody took. `belonging` are the servers of this host."""
        for entry in self._book.unacknowledged():
            if entry.generation < self._book.highest(entry.server):
                self._book.acknowledge(entry)
            else:
                self._outbox.add(entry)
        for entry in self._book.unfinished():
            command = entry.command
            assert command is not None
            if command.name != "destroy" and entry.server not in belonging:
                # Done now, it would bring a second guest of the same server to life.
                self._book.report(entry, _failed(command, ELSEWHERE), destroyed=False)
                self._outbox.add(entry)
            else:
                self._begin(entry)

    async def end(self) -> None:
        """Stop all work where it is; the journal knows what was not done."""
        await self._tasks.end()

    def _answer(self, conductor: str, command: Command, fresh: list[Entry]) -> Answer:
        """What to say to one command; a new one is taken on and added to `fresh`."""
        if command.epoch != self.epoch:
            return Answer(command.key, "refused", f"The host is at epoch {self.epoch}, not {command.epoch}.")
        entry = self._book.find(command.key)
        if entry is not None:
            return self._repeat(conductor, entry)
        if command.name not in COMMANDS:
            return Answer(command.key, "refused", f"The host knows no command {command.name}.")
        if command.generation < (highest := self._book.highest(command.server)):
            sentence = f"The server is at generation {highest} here, the command at {command.generation}."
            return Answer(command.key, "refused", sentence)
        before = self._book.find_last(command.server)
        if before is not None and before.generation < command.generation and before.report is not None:
            self._outbox.drop(before)
        fresh.append(self._book.accept(conductor, command))
        return Answer(command.key, "accepted")

    def _repeat(self, conductor: str, entry: Entry) -> Answer:
        """The answer to a command that is known. Whoever asked last gets the report."""
        if entry.report is None:
            entry.conductor = conductor
            return Answer(entry.key, "running")
        if not entry.is_acknowledged and entry.conductor != conductor:
            self._outbox.redirect(entry, conductor)
        return Answer(entry.key, "report", report=entry.report)

    def _begin(self, entry: Entry) -> None:
        command = entry.command
        assert command is not None
        deadline = asyncio.get_running_loop().time() + command.limit
        lane = self._lanes.get(entry.server)
        if lane is None:
            lane = self._lanes[entry.server] = _Lane()
            self._tasks.start(self._run(entry.server, lane), f"work:{self._host}:{entry.server}")
        lane.waiting.append((entry, deadline))
        if command.name == "destroy" and lane.running is not None and not lane.running.expired():
            # Destroy does not wait for a build that hangs: what runs ends now, as if its time were over.
            lane.running.reschedule(0)

    async def _run(self, server: str, lane: _Lane) -> None:
        while lane.waiting:
            entry, deadline = lane.waiting.popleft()
            command = entry.command
            assert command is not None
            report = await self._perform(lane, command, deadline)
            self._book.report(entry, report, destroyed=report.ok and command.name == "destroy")
            try:
                await self._journal.durable()
            except JournalError as error:
                # Told all the same: without it on the disk, a restart only does the work again.
                log.error("report_not_written", host=self._host, key=entry.key, error=str(error))
            if entry.generation < self._book.highest(server):
                self._book.acknowledge(entry)
            else:
                self._outbox.add(entry)
        del self._lanes[server]

    async def _perform(self, lane: _Lane, command: Command, deadline: float) -> Report:
        """Do one command and say how it ended; never raises."""
        if (reason := self._obstacle(command)) is not None:
            return _failed(command, reason)
        point = f"agent.{command.name}"
        try:
            async with asyncio.timeout_at(deadline) as limit:
                lane.running = limit
                await self._chaos.hit(point, "before", self._host, command.server)
                result = await COMMANDS[command.name](self._driver, command)
                await self._chaos.hit(point, "after", self._host, command.server)
        except TimeoutError as error:
            late = f"The host did not finish it in {command.limit:g} seconds."
            return _failed(command, self._obstacle(command) or (late if limit.expired() else str(error)))
        except (DriverError, ChaosFailure) as error:
            return _failed(command, str(error))
        except Exception as error:
            # The runner: whatever a driver does, the conductor must be told, or the operation waits for its limit.
            log.error("command_crashed", host=self._host, key=command.key, exc_info=error)
            return _failed(command, f"The host failed inside: {type(error).__name__}: {error}")
        finally:
            lane.running = None
        return Report(command.key, command.server, command.generation, ok=True, result=result)

    def _obstacle(self, command: Command) -> str | None:
        """Why a command that was taken on must not be done any more."""
        if command.epoch != self.epoch:
            return f"The host is at epoch {self.epoch} now, not {command.epoch}."
        if command.generation < self._book.highest(command.server):
            return SUPERSEDED
        return None


def _failed(command: Command, sentence: str) -> Report:
    return Report(command.key, command.server, command.generation, ok=False, error=sentence)
