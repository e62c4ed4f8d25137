"""A host's agent: it introduces itself, listens under its own name, and says now and then that it lives.

It does not know whether it has a process of its own or shares one with other hosts and the control plane.
"""

import asyncio
from dataclasses import asdict, dataclass, field
from typing import Final

import orjson
import structlog

from kilonova.agent.book import Book
from kilonova.agent.dispatch import CHAOS_POINTS, READS
from kilonova.agent.journal import Journal, now_micros
from kilonova.agent.outbox import Outbox
from kilonova.agent.settings import AgentSettings
from kilonova.agent.worker import Records, Worker
from kilonova.bus import Bus, Message, Subscription
from kilonova.bus.chaos import ChaosRules
from kilonova.bus.cut import CuttableBus
from kilonova.bus.messages import (
    Hello,
    Welcome,
    acknowledge_subject,
    beat_subject,
    command_subject,
    decode_commands,
    decode_welcome,
    encode_answers,
    encode_hello,
    hello_subject,
    read_subject,
)
from kilonova.bus.tasks import Tasks
from kilonova.domain import errors
from kilonova.drivers.contract import Driver, DriverError

SPARSE: Final = 10
"""Every so many looks at the inventory it is told even if nothing changed, in case the control plane forgot."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Links:
    """What an agent is joined to. Bus, journal and chaos rules may be shared with other hosts; it closes none of them."""

    driver: Driver
    bus: Bus
    journal: Journal
    chaos: ChaosRules = field(default_factory=lambda: ChaosRules(enabled=False))


class Agent:
    """The agent of one host in one cell."""

    def __init__(self, host: str, cell: str, links: Links, settings: AgentSettings) -> None:
        self._host = host
        self._cell = cell
        self._settings = settings
        self._driver = links.driver
        links.chaos.know(CHAOS_POINTS)
        self._bus: Bus = links.bus
        if links.chaos.is_enabled:
            self._bus = CuttableBus(links.bus, links.chaos, cell)
        self._journal = links.journal
        self._book = Book(host, links.journal)
        self._outbox = Outbox(host, self._bus, self._book, settings)
        self._worker = Worker(host, links.driver, Records(self._book, links.journal, self._outbox), links.chaos)
        self._tasks = Tasks()
        self._subscriptions: list[Subscription] = []
        self._hurry = asyncio.Event()

    async def start(self) -> None:
        """Return when the control plane has welcomed the host and it takes commands; waits for that without end.

        Raises DriverError when the hypervisor cannot be asked what it has.
        """
        hello = await self._look()
        while (welcome := await self._introduce(hello)) is None:
            await asyncio.sleep(self._settings.hello_seconds)
            hello = await self._look()
        for subject, handler in (
            (command_subject(self._host), self._on_command),
            (acknowledge_subject(self._host), self._on_acknowledge),
            (read_subject(self._host), self._on_read),
        ):
            self._subscriptions.append(await self._bus.subscribe(subject, handler))
        self._log_strangers(hello, welcome)
        self._worker.resume(welcome.servers)
        self._tasks.start(self._live(hello), f"live:{self._host}")

    async def stop(self) -> None:
        """Stop listening and working. What was taken on and not done is done after the next start."""
        for subscription in self._subscriptions:
            await subscription.cancel()
        self._subscriptions.clear()
        await self._tasks.end()
        await self._worker.end()
        await self._outbox.end()

    async def _live(self, hello: Hello) -> None:
        """Beats, and hellos when there is something new. `told` is what the control plane knows, None for nothing."""
        loop = asyncio.get_running_loop()
        told: Hello | None = hello
        looks, next_look = 0, loop.time() + self._settings.inventory_seconds
        while True:
            await self._bus.publish(beat_subject(self._host), b"")
            try:
                async with asyncio.timeout(min(self._settings.beat_seconds, max(next_look - loop.time(), 0.0))):
                    await self._hurry.wait()
            except TimeoutError:
                if loop.time() < next_look:
                    continue
            looks += 1
            if self._hurry.is_set() or looks % SPARSE == 0:
                told = None
            self._hurry.clear()
            self._book.prune(now_micros())
            told = await self._refresh(told)
            pause = self._settings.hello_seconds if told is None else self._settings.inventory_seconds
            next_look = loop.time() + pause

    async def _refresh(self, told: Hello | None) -> Hello | None:
        """Look at the hypervisor and tell what changed; returns what the control plane knows now."""
        try:
            hello = await self._look()
        except DriverError as error:
            log.error("hypervisor_unreadable", host=self._host, error=str(error))
            return told
        if hello == told:
            return told
        return hello if await self._introduce(hello) is not None else None

    async def _look(self) -> Hello:
        report = await self._driver.report()
        return Hello(
            host=self._host,
            cell=self._cell,
            incarnation=self._journal.incarnation,
            hypervisor=report.hypervisor,
            providers=tuple(asdict(provider) for provider in report.providers),
            guests=await self._driver.guests(),
        )

    async def _introduce(self, hello: Hello) -> Welcome | None:
        """Say hello and take in the answer; None when nobody answered."""
        try:
            answer = await self._bus.request(hello_subject(self._host), encode_hello(hello), self._settings.request_seconds)
        except errors.Unavailable as error:
            log.info("hello_unanswered", host=self._host, reason=str(error))
            return None
        welcome = decode_welcome(answer)
        if self._worker.epoch not in (None, welcome.epoch):
            log.warning("epoch_changed", host=self._host, before=self._worker.epoch, now=welcome.epoch)
        self._worker.epoch = welcome.epoch
        self._book.welcome(welcome.servers)
        for server in welcome.gone:
            # Deleted or moved while the host was away: it goes before the host takes anything new.
            log.warning("guest_gone", host=self._host, server=server)
            await self._driver.destroy(server)
        return welcome

    def _log_strangers(self, hello: Hello, welcome: Welcome) -> None:
        """Guests that nobody speaks of are left alone: to destroy is never decided here."""
        for server in sorted(hello.guests.keys() - welcome.servers.keys() - set(welcome.gone)):
            log.warning("stranger", host=self._host, server=server, destroyed_before=self._book.is_buried(server))

    async def _on_command(self, message: Message) -> bytes:
        conductor, commands = decode_commands(message.data)
        answers = await self._worker.take(conductor, commands)
        if any(command.epoch > (self._worker.epoch or 0) for command in commands):
            # The control plane is ahead: learn the new epoch now, not at the next look.
            self._hurry.set()
        return encode_answers(answers)

    async def _on_acknowledge(self, message: Message) -> None:
        for key in orjson.loads(message.data):
            entry = self._book.find(key)
            if entry is not None and entry.report is not None:
                self._outbox.drop(entry)

    async def _on_read(self, message: Message) -> bytes:
        question = orjson.loads(message.data)
        read = READS.get(question.get("name"))
        if read is None:
            return orjson.dumps({"error": f"The host cannot be asked for {question.get('name')}."})
        try:
            return orjson.dumps(await read(self._driver, question))
        except DriverError as error:
            return orjson.dumps({"error": str(error)})
