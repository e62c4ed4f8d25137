"""Sends commands to hosts and waits for their reports. Whatever is lost on the way is asked for again."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson
import structlog

from kilonova.bus import Bus, Message, Subscription, word
from kilonova.bus.messages import (
    Answer,
    Command,
    Report,
    acknowledge_subject,
    command_subject,
    decode_answers,
    decode_reports,
    encode_commands,
)
from kilonova.domain.errors import KilonovaError, Unavailable

log = structlog.get_logger(__name__)


class HostRefused(KilonovaError):
    """The host will not do it: another epoch or a newer generation."""

    code = "host.refused"


class HostGone(KilonovaError):
    """The host is down, so nobody can say what became of the command."""

    code = "host.down"


class CellAway(KilonovaError):
    """No host of a cell can be reached; what can only be done there has to wait."""

    code = "cell.away"

    def __init__(self, cell: str) -> None:
        super().__init__(f"No host of {cell} can be reached.")
        self.cell = cell


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """In seconds: how long a host may take to answer, how often it is asked again, how long the work may take."""

    accept: float = 5.0
    resend: float = 2.0
    work: float = 600.0


@dataclass(slots=True)
class _Waiting:
    """A command under way: where its report goes."""

    host: str
    command: Command
    report: "asyncio.Future[Report]"


class HostCommands:
    """One conductor's commands to all hosts. `is_up` tells whether a host counts as alive."""

    def __init__(self, bus: Bus, conductor: str, limits: CommandLimits, is_up: Callable[[str], bool]) -> None:
        self._bus = bus
        self._conductor = conductor
        self._limits = limits
        self._is_up = is_up
        self._waiting: dict[str, _Waiting] = {}
        self._outbox: dict[str, list[Command]] = {}
        self._senders: set[asyncio.Task[None]] = set()
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        """Begin to hear reports."""
        self._subscription = await self._bus.subscribe(f"report.*.{word(self._conductor)}", self._on_reports)

    async def stop(self) -> None:
        """Hear nothing more; whoever waits is left to be cancelled."""
        if self._subscription is not None:
            await self._subscription.cancel()
        for task in self._senders:
            task.cancel()
        await asyncio.gather(*self._senders, return_exceptions=True)

    async def perform(self, host: str, command: Command) -> Report:
        """The report on a command, however often it must be asked for. Raises HostRefused, HostGone."""
        entry = _Waiting(host, command, asyncio.get_running_loop().create_future())
        self._waiting[command.key] = entry
        patience = self._limits.resend
        try:
            while True:
                self._post(host, command)
                done, _ = await asyncio.wait((entry.report,), timeout=patience)
                if done:
                    return entry.report.result()
                if not self._is_up(host):
                    raise HostGone(f"Host {host} went down before it reported on {command.name}.")
                patience = min(patience * 1.5, 30.0)
        finally:
            self._waiting.pop(command.key, None)

    def _post(self, host: str, command: Command) -> None:
        # Commands of one turn of the loop to one host share a message.
        box = self._outbox.get(host)
        if box is not None:
            box.append(command)
            return
        self._outbox[host] = [command]
        task = asyncio.create_task(self._send(host), name=f"commands:{host}")
        self._senders.add(task)
        task.add_done_callback(self._senders.discard)

    async def _send(self, host: str) -> None:
        commands = self._outbox.pop(host)
        data = encode_commands(self._conductor, commands)
        try:
            answers = decode_answers(await self._bus.request(command_subject(host), data, self._limits.accept))
        except Unavailable:
            # The waiters send again; a host that stays away is found out by its liveness.
            return
        await self._read(host, answers)

    async def _read(self, host: str, answers: Sequence[Answer]) -> None:
        taken = []
        for answer in answers:
            entry = self._waiting.get(answer.key)
            if answer.report is not None:
                taken.append(answer.key)
                self._settle(host, answer.report)
            elif answer.state == "refused" and entry is not None and not entry.report.done():
                entry.report.set_exception(HostRefused(answer.reason))
        if taken:
            await self._bus.publish(acknowledge_subject(host), orjson.dumps(taken))

    async def _on_reports(self, message: Message) -> bytes:
        sender = message.subject.split(".")[1]
        taken = []
        for report in decode_reports(message.data):
            entry = self._waiting.get(report.key)
            if entry is None:
                # Nobody waits here any more: it is safe elsewhere, or will be asked for again by whoever holds the lease.
                taken.append(report.key)
            elif word(entry.host) == sender:
                self._settle(entry.host, report)
                taken.append(report.key)
            else:
                log.warning("report.from_a_stranger", key=report.key, expected=entry.host, sender=sender)
        return orjson.dumps(taken)

    def _settle(self, host: str, report: Report) -> None:
        entry = self._waiting.get(report.key)
        if entry is not None and entry.host == host and not entry.report.done():
            entry.report.set_result(report)
