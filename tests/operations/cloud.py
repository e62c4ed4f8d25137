"""A whole cloud in this process to be broken on purpose: conductors that crash, hosts that crash, a database that stalls."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select, text

from kilonova import assembly
from kilonova.agent.journal import Journal
from kilonova.agent.process import Agent
from kilonova.bus.chaos import ChaosRules
from kilonova.bus.in_process import InProcessBus
from kilonova.companions.network.embedded import EmbeddedNetwork
from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.domain.network import AskedNetwork
from kilonova.domain.server import Server
from kilonova.domain.wish import Wish
from kilonova.operations.acting import Asked
from kilonova.operations.reads import HostReads
from kilonova.reconcilers.audit import audit
from kilonova.reconcilers.housekeeping import dead_cards
from kilonova.settings import AgentOptions, ConductorSettings, FakeSettings, SchedulerSettings, Settings, StateSettings
from kilonova.storage import operations, servers
from kilonova.storage.database import Database
from kilonova.storage.ports import PORTS
from kilonova.storage.statement import Statement, now_us
from kilonova.storage.tables import operations as operations_table

PROJECT: Final = "1" * 32
SMALL: Final = Flavor(1, "1", "small", 1, 512, 1)
HUGE: Final = Flavor(2, "2", "huge", 16, 512, 1)
IMAGE: Final = Image("10000000-0000-4000-8000-000000000000", "cirros", "active", PROJECT)
HOLDS: Final = {"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1}
"""What a small server holds in the ledger."""
BOUND: Final = 15.0
"""Seconds after which a test stops waiting: many times what it takes."""

SETTINGS: Final = Settings(
    conductor=ConductorSettings(
        lease_seconds=0.3,
        poll_seconds=0.05,
        accept_seconds=1.0,
        command_seconds=30.0,
        resend_seconds=0.1,
        retry_seconds=0.02,
    ),
    agent=AgentOptions(beat_seconds=0.5),
    fake=FakeSettings(vcpus=8, memory_mb=16_384, disk_gb=200),
    scheduler=SchedulerSettings(max_attempts=2),
)

_ALLOCATIONS: Final = Statement(
    text("""
    SELECT p.name, a.resource_class, a.used FROM allocations a JOIN providers p ON p.id = a.provider_id
    WHERE a.consumer = :server""")
)
_QUOTA: Final = Statement(text("SELECT instances, cores, ram FROM quota_usages WHERE project_id = :project"))
_ACTIONS: Final = Statement(
    text("SELECT kind, result, message FROM operations WHERE server_id = :server ORDER BY started_at, id")
)
_TOKEN: Final = Statement(text("SELECT token FROM operations WHERE server_id = :server AND live"))
_HELD: Final = Statement(select(operations_table.c.id).where(operations_table.c.live, operations_table.c.lease_until >= now_us()))
_EVENTS: Final = Statement(
    text("""
    SELECT s.key, s.outcome FROM operation_steps s JOIN operations o ON o.id = s.operation_id
    WHERE o.server_id = :server ORDER BY o.started_at, o.id, s.position""")
)


async def turns(otherwise: str) -> AsyncIterator[None]:
    """Turns of waiting for what must come soon. Fails with the sentence when it does not."""
    deadline = asyncio.get_running_loop().time() + BOUND
    while asyncio.get_running_loop().time() < deadline:
        yield
        await asyncio.sleep(0.01)
    raise AssertionError(otherwise)


@dataclass
class Host:
    """One host: its agent may die, what runs on it and its journal stay."""

    name: str
    state: Path
    settings: Settings
    bus: InProcessBus
    chaos: ChaosRules
    agent: Agent | None = None
    journal: Journal | None = None

    async def start(self) -> None:
        self.journal = Journal(self.state / f"{self.name}.journal")
        place = assembly.HostPlace(self.name, "cell1", self.state)
        self.agent = assembly.make_agent(self.bus, self.chaos, self.journal, place, self.settings)
        await self.agent.start()

    async def crash(self) -> None:
        """The agent ends where it is."""
        if self.agent is not None and self.journal is not None:
            await self.agent.stop()
            await self.journal.close()
        self.agent = self.journal = None

    async def lose_journal(self) -> None:
        await self.crash()
        for path in self.state.glob(f"{self.name}.journal*"):
            path.unlink()


@dataclass(frozen=True)
class Facts:
    """All that there is of one server, wherever it is kept."""

    server: Server
    allocations: Mapping[str, Mapping[str, int]]
    """By host and resource class."""
    ports: frozenset[str]
    guests: Mapping[str, str]
    """Power state by host."""
    boots: int
    actions: tuple[tuple[str, str | None, str | None], ...]
    """Kind, result and message, oldest first."""
    events: tuple[tuple[str, str | None], ...]
    """Step and outcome, in their order."""

    @property
    def state(self) -> tuple[str, str | None]:
        return self.server.vm_state, self.server.task_state


@dataclass(frozen=True)
class Ground:
    """What a test's cloud is made on: an empty database with two networks, one with many addresses and one with one."""

    database: Database
    roomy_network: str
    tiny_network: str


@dataclass
class Cloud:
    """The cloud of a test. Rules of its chaos door are ordered, watched and lifted here."""

    ground: Ground
    state: Path
    settings: Settings = SETTINGS
    host_count: int = 3
    bus: InProcessBus = field(default_factory=InProcessBus)
    chaos: ChaosRules = field(default_factory=ChaosRules)
    conductors: list[assembly.Conductor] = field(default_factory=list)
    hosts: dict[str, Host] = field(default_factory=dict)

    async def start(self) -> None:
        self.settings = replace(self.settings, state=StateSettings(str(self.state)))
        self.database = self.ground.database
        self.networks = EmbeddedNetwork(self.database)
        self.reads = HostReads(self.bus, 5)
        self.acceptor = assembly.make_acceptor(self._process(self.database))
        await self.start_conductor()
        for number in range(self.host_count):
            name = f"host-{number + 1}"
            self.hosts[name] = Host(name, self.state, self.settings, self.bus, self.chaos)
            await self.hosts[name].start()

    async def close(self) -> None:
        self.chaos.clear()
        for conductor in self.conductors:
            await conductor.drop()
        for host in self.hosts.values():
            await host.crash()
        await self.bus.close()

    def _process(self, database: Database) -> assembly.Ground:
        return assembly.make_ground(self.settings, database, self.bus, self.chaos)

    # ---- processes ----

    async def start_conductor(self, database: Database | None = None) -> assembly.Conductor:
        """One more conductor, with a picture of its own, as in a process of its own."""
        seen = database or self.database
        conductor = assembly.make_conductor(self._process(seen), EmbeddedNetwork(seen))
        await conductor.start()
        self.conductors.append(conductor)
        return conductor

    async def crash_conductor(self) -> None:
        """All conductors end where they are; nothing is given back."""
        while self.conductors:
            await self.conductors.pop().drop()

    # ---- faults ----

    def order(self, point: str, when: str, action: str = "hold", **more: Any) -> str:
        """A fault; its id."""
        return self.chaos.add({"point": point, "when": when, "action": action, **more}).id

    def lift(self, rule: str) -> None:
        self.chaos.remove(rule)

    def fired(self, rule: str) -> int:
        return next(entry.fired for entry in self.chaos.list() if entry.id == rule)

    async def met(self, rule: str) -> None:
        """Wait until somebody has met the fault."""
        async for _ in turns(f"nobody met the rule {rule}"):
            if self.fired(rule):
                return

    # ---- requests ----

    async def create(self, *, network: str = "", flavor: Flavor = SMALL, secret: Mapping[str, Any] | None = None) -> str:
        wish = Wish(PROJECT, "user", "one", "one", flavor, IMAGE, IMAGE.id, networks=(AskedNetwork(network),) if network else ())
        return (await self.acceptor.create(Asked("req-create", "user", PROJECT), [wish], secret))[0]

    async def act(self, kind: str, server_id: str, **content: Any) -> None:
        await self.acceptor.act(Asked(f"req-{kind}", "user", PROJECT), kind, server_id, content)

    # ---- looking ----

    async def ended(self, *server_ids: str) -> None:
        """Wait until no operation works on the servers."""
        async for _ in turns("an operation never ended"):
            async with self.database.read() as transaction:
                if not any(server in server_ids for _, server, _ in await operations.live(transaction)):
                    return

    async def taken(self, server_id: str, times: int) -> None:
        """Wait until the operation on the server has been taken so often."""
        async for _ in turns("nobody took it anew"):
            if (await self._value(_TOKEN, server=server_id) or 0) >= times:
                return

    async def leases_end(self) -> None:
        """Wait until nobody's lease holds any more."""
        async for _ in turns("a lease never ended"):
            if await self._value(_HELD) is None:
                return

    async def idle(self) -> None:
        """Wait until no conductor runs anything, late ones included."""
        async for _ in turns("a conductor never let go"):
            if not any(conductor.engine.running for conductor in self.conductors):
                return

    async def _value(self, statement: Statement, **parameters: Any) -> Any:
        async with self.database.read() as transaction:
            row = await transaction.one(statement, parameters)
        return None if row is None else row[0]

    async def facts(self, server_id: str) -> Facts:
        async with self.database.read() as transaction:
            server = await servers.find(transaction, server_id)
            allocations: dict[str, dict[str, int]] = {}
            for host, resource_class, used in await transaction.rows(_ALLOCATIONS, {"server": server_id}):
                allocations.setdefault(host, {})[resource_class] = used
            ports = await PORTS.select(transaction, {"device_id": [server_id]})
            actions = [tuple(row) for row in await transaction.rows(_ACTIONS, {"server": server_id})]
            events = [tuple(row) for row in await transaction.rows(_EVENTS, {"server": server_id})]
        assert server is not None
        guests = {name: (await self.reads.guests(name)) for name, host in self.hosts.items() if host.agent is not None}
        there = {host: powers[server_id] for host, powers in guests.items() if server_id in powers}
        consoles = [await self.reads.console(host, server_id, None) for host in there]
        boots = sum(console.count("Linux version") for console in consoles)
        return Facts(server, allocations, frozenset(port.id for port in ports), there, boots, tuple(actions), tuple(events))

    async def quota(self) -> tuple[int, int, int]:
        """What the project uses: servers, VCPUs, MB."""
        async with self.database.read() as transaction:
            row = await transaction.one(_QUOTA, {"project": PROJECT})
        return (0, 0, 0) if row is None else (row[0], row[1], row[2])

    async def is_clean(self) -> None:
        """Assert what the audit checks, once late calls to the network service were cleaned up after."""
        await dead_cards(self.database, self.networks).work()
        assert await audit(self.database, self.reads) == []
