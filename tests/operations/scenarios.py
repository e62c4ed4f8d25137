"""One way through each operation, or a few: how it is asked for, which points it passes, what must be true at the end.

Every generic test takes all of them. An operation that is not here, or a step of one that no scenario passes, fails
test_in_step.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Final

from .cloud import HOLDS, HUGE, Cloud, Facts

Point = tuple[str, str]
"""A step and `before` or `after`."""


@dataclass(frozen=True)
class Scenario:
    """`prepare` makes the server that `ask` acts on ("" where `ask` makes it); `check` holds at the end, come what may.

    `steps` are passed whole; of those in `begun` only the point before is passed.
    """

    name: str
    operation: str
    steps: tuple[str, ...]
    ask: Callable[[Cloud, str], Awaitable[str]]
    check: Callable[[Facts], None]
    prepare: Callable[[Cloud], Awaitable[str]] | None = None
    begun: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """The host commands that it sends, by name."""

    def points(self) -> Iterator[Point]:
        for step in self.steps:
            yield step, "before"
            yield step, "after"
        for step in self.begun:
            yield step, "before"

    async def begin(self, cloud: Cloud) -> str:
        """Everything before the request; the server's id, or ""."""
        return "" if self.prepare is None else await self.prepare(cloud)


# ---- what must be true ---------------------------------------------------------------------------------------------


def runs_with(cards: int) -> Callable[[Facts], None]:
    """The server runs on one host, holds its room there once, and has so many cards."""

    def check(facts: Facts) -> None:
        host = facts.server.host
        assert facts.state == ("active", None)
        assert facts.server.fault is None
        assert facts.allocations == {host: HOLDS}
        assert facts.guests == {host: "running"}
        assert facts.boots == 1
        assert len(facts.ports) == cards
        assert {port["id"] for port in facts.server.addresses} == facts.ports
        assert facts.actions[-1][:2] == ("create", "Success")

    return check


def holds_nothing(facts: Facts) -> None:
    assert (facts.server.host, facts.allocations, facts.ports, facts.guests) == (None, {}, frozenset(), {})


def failed_everywhere(facts: Facts) -> None:
    """In error after builds on several hosts: it keeps its last cell."""
    assert facts.state == ("error", None)
    assert facts.server.cell == "cell1"
    assert facts.server.fault is not None
    assert facts.server.fault["message"].startswith("Exceeded maximum number of retries.")
    assert facts.actions == (("create", "Error", "Error"),)
    holds_nothing(facts)


def buried(facts: Facts) -> None:
    """In error in cell0, and it says why."""
    assert facts.state == ("error", None)
    assert facts.server.cell == "cell0"
    assert facts.server.fault is not None
    assert facts.server.fault["message"].startswith("No valid host was found. 3 hosts were looked at"), facts.server.fault
    assert facts.actions == (("create", "Error", "Error"),)
    holds_nothing(facts)


def deleted(facts: Facts) -> None:
    assert facts.server.deleted
    assert facts.state == ("deleted", None)
    assert facts.actions[-1] == ("delete", "Success", None)
    holds_nothing(facts)


def powered(kind: str, state: str, power: str, boots: int) -> Callable[[Facts], None]:
    """The operation did what it says; the guest has been started so often."""

    def check(facts: Facts) -> None:
        host = facts.server.host
        assert facts.state == (state, None)
        assert facts.actions[-1] == (kind, "Success", None)
        assert facts.guests == {host: power}
        assert facts.boots == boots
        assert facts.allocations == {host: HOLDS}

    return check


# ---- how they are asked for ----------------------------------------------------------------------------------------


async def _create_on_network(cloud: Cloud, server_id: str) -> str:
    return await cloud.create(network=cloud.ground.roomy_network)


async def _create_bare(cloud: Cloud, server_id: str) -> str:
    return await cloud.create()


async def _create_huge(cloud: Cloud, server_id: str) -> str:
    return await cloud.create(flavor=HUGE)


async def _create_refused_once(cloud: Cloud, server_id: str) -> str:
    cloud.order("agent.build", "before", "fail", times=1)
    return await _create_on_network(cloud, server_id)


async def _create_refused_always(cloud: Cloud, server_id: str) -> str:
    cloud.order("agent.build", "after", "fail")
    return await _create_on_network(cloud, server_id)


async def _running(cloud: Cloud) -> str:
    server_id = await cloud.create(network=cloud.ground.roomy_network)
    await cloud.ended(server_id)
    assert (await cloud.facts(server_id)).state == ("active", None)
    return server_id


async def _stopped(cloud: Cloud) -> str:
    server_id = await _running(cloud)
    await cloud.act("stop", server_id)
    await cloud.ended(server_id)
    return server_id


async def _buried(cloud: Cloud) -> str:
    server_id = await cloud.create(flavor=HUGE)
    await cloud.ended(server_id)
    return server_id


def _act(kind: str, **content: bool) -> Callable[[Cloud, str], Awaitable[str]]:
    async def ask(cloud: Cloud, server_id: str) -> str:
        await cloud.act(kind, server_id, **content)
        return server_id

    return ask


CREATE: Final = Scenario(
    "on a network", "create", ("claim", "network", "build", "finish"), _create_on_network, runs_with(1), commands=("build",)
)
DELETE: Final = Scenario(
    "a running server",
    "delete",
    ("destroy", "release", "finish"),
    _act("delete"),
    deleted,
    prepare=_running,
    commands=("destroy",),
)
STOP: Final = Scenario(
    "a running server",
    "stop",
    ("stop", "finish"),
    _act("stop"),
    powered("stop", "stopped", "shutdown", 1),
    prepare=_running,
    commands=("stop",),
)

SCENARIOS: Final = (
    CREATE,
    Scenario("without networks", "create", ("claim", "build", "finish"), _create_bare, runs_with(0)),
    Scenario(
        "refused by the first host",
        "create",
        ("claim", "network", "build", "destroy", "finish"),
        _create_refused_once,
        runs_with(1),
        commands=("destroy",),
    ),
    Scenario(
        "refused by every host",
        "create",
        ("claim", "network", "build", "destroy", "release", "finish"),
        _create_refused_always,
        failed_everywhere,
    ),
    Scenario("fits nowhere", "create", ("finish",), _create_huge, buried, begun=("claim",)),
    DELETE,
    Scenario("a buried server", "delete", ("release", "finish"), _act("delete"), deleted, prepare=_buried),
    STOP,
    Scenario(
        "a stopped server",
        "start",
        ("start", "finish"),
        _act("start"),
        powered("start", "active", "running", 2),
        prepare=_stopped,
        commands=("start",),
    ),
    Scenario(
        "softly",
        "reboot",
        ("reboot", "finish"),
        _act("reboot"),
        powered("reboot", "active", "running", 2),
        prepare=_running,
        commands=("reboot",),
    ),
    Scenario(
        "hard, while stopped",
        "reboot",
        ("reboot", "finish"),
        _act("reboot", hard=True),
        powered("reboot", "active", "running", 2),
        prepare=_stopped,
    ),
)
MAIN: Final = (CREATE, DELETE, STOP)
"""Those that stand for all where the whole matrix would take too long."""


def passed(scenarios: tuple[Scenario, ...] = SCENARIOS) -> list[tuple[Scenario, str, str]]:
    """Every scenario with each point that it passes."""
    return [(scenario, *point) for scenario in scenarios for point in scenario.points()]


def named(value: object) -> str | None:
    """How pytest names a scenario."""
    return f"{value.operation} {value.name}" if isinstance(value, Scenario) else None
