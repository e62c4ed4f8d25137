"""A small conductor, and hosts that it commands over the bus in the process."""

import asyncio
import itertools
from pathlib import Path
from typing import Any

import orjson

from kilonova.agent import Agent, AgentSettings, Links
from kilonova.agent.journal import Journal
from kilonova.bus import Bus, Message
from kilonova.bus.chaos import ChaosRules
from kilonova.bus.messages import (
    Answer,
    Command,
    Hello,
    Report,
    Welcome,
    acknowledge_subject,
    command_subject,
    decode_answers,
    decode_hello,
    decode_reports,
    encode_commands,
    encode_welcome,
    read_subject,
)
from kilonova.drivers.fake import FakeDriver, FakeShape

SETTINGS = AgentSettings(beat_seconds=0.05, report_seconds=0.02, hello_seconds=0.01, inventory_seconds=0.05, request_seconds=2.0)
GUEST = {"name": "web", "vcpus": 1, "memory_mb": 512, "disk_gb": 1, "image_id": "image-1", "ports": []}


class Conductor:
    """Welcomes hosts, sends commands, takes reports (or refuses to, while `takes` is false)."""

    def __init__(self, bus: Bus, name: str = "conductor-1") -> None:
        self.name = name
        self.epoch = 1
        self.servers: dict[str, int] = {}
        self.takes = True
        self.reports: asyncio.Queue[Report] = asyncio.Queue()
        self.messages: list[list[Report]] = []
        self.hellos: asyncio.Queue[Hello] = asyncio.Queue()
        self.beats: asyncio.Queue[str] = asyncio.Queue()
        self._bus = bus

    async def start(self) -> None:
        await self._bus.subscribe("hello.*", self._on_hello, queue="conductors")
        await self._bus.subscribe("beat.*", self._on_beat)
        await self.hear_reports()

    async def hear_reports(self) -> None:
        await self._bus.subscribe(f"report.*.{self.name}", self._on_report)

    async def send(self, *commands: Command, host: str = "host-1") -> list[Answer]:
        data = encode_commands(self.name, list(commands))
        return decode_answers(await self._bus.request(command_subject(host), data, 2))

    async def report(self) -> Report:
        async with asyncio.timeout(5):
            return await self.reports.get()

    async def hello(self) -> Hello:
        async with asyncio.timeout(5):
            return await self.hellos.get()

    async def acknowledge(self, *keys: str, host: str = "host-1") -> None:
        await self._bus.publish(acknowledge_subject(host), orjson.dumps(keys))

    async def read(self, host: str = "host-1", **question: object) -> dict[str, Any]:
        content: dict[str, Any] = orjson.loads(await self._bus.request(read_subject(host), orjson.dumps(question), 2))
        return content

    async def _on_hello(self, message: Message) -> bytes:
        self.hellos.put_nowait(decode_hello(message.data))
        return encode_welcome(Welcome(self.epoch, self.servers))

    async def _on_beat(self, message: Message) -> None:
        self.beats.put_nowait(message.subject)

    async def _on_report(self, message: Message) -> bytes:
        reports = decode_reports(message.data)
        self.messages.append(reports)
        for report in reports:
            self.reports.put_nowait(report)
        return orjson.dumps([report.key for report in reports] if self.takes else [])


class Site:
    """One host whose agent can be killed and started again on the same journal and hypervisor."""

    def __init__(self, bus: Bus, directory: Path) -> None:
        self.chaos = ChaosRules()
        self.driver = FakeDriver("host-1", FakeShape(), directory / "guests")
        self.agent: Agent | None = None
        self._bus = bus
        self._path = directory / "journal"
        self.journal = Journal(self._path)

    async def start(self) -> None:
        links = Links(self.driver, self._bus, self.journal, self.chaos)
        self.agent = Agent("host-1", "cell-1", links, SETTINGS)
        await self.agent.start()

    async def crash(self) -> None:
        """End the agent where it is; the journal is read from its file again."""
        if self.agent is not None:
            await self.agent.stop()
        self.agent = None
        await self.journal.close()
        self.journal = Journal(self._path)

    async def lose_journal(self) -> None:
        await self.crash()
        await self.journal.close()
        self._path.unlink()
        self.journal = Journal(self._path)

    async def close(self) -> None:
        if self.agent is not None:
            await self.agent.stop()
        await self.journal.close()
        self.driver.close()


NUMBERS = itertools.count()


def command(name: str = "build", server: str = "server-1", generation: int = 1, **fields: object) -> Command:
    content: dict[str, Any] = {
        "operation": f"op-{next(NUMBERS)}",
        "step": name,
        "epoch": 1,
        "limit": 10.0,
        "input": GUEST if name == "build" else {},
        **fields,
    }
    return Command(name=name, server=server, generation=generation, **content)
