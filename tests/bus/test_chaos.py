"""Rules: which points they meet, what they do there, and that all processes have the same."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from kilonova.bus import Bus, Message
from kilonova.bus.chaos import ChaosFailure, ChaosRules
from kilonova.bus.cut import CuttableBus
from kilonova.bus.in_process import InProcessBus
from kilonova.bus.nats import NatsBus
from kilonova.bus.nats_server import NatsServer
from kilonova.domain import errors


def rule(**fields: object) -> dict[str, Any]:
    return {"point": "agent.build", "when": "before", "action": "fail", **fields}


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - what is waited for is in another process's rules
            await asyncio.sleep(0.002)


async def test_a_rule_fails_its_point_and_no_other() -> None:
    rules = ChaosRules(points=("agent.build",))
    rules.add(rule(host="host-1"))
    await rules.hit("agent.build", "after", "host-1")
    await rules.hit("agent.destroy", "before", "host-1")
    await rules.hit("agent.build", "before", "host-2")
    with pytest.raises(ChaosFailure):
        await rules.hit("agent.build", "before", "host-1", "any-server")


async def test_a_rule_fires_as_often_as_it_says_and_counts() -> None:
    rules = ChaosRules()
    rules.add(rule(times=2))
    for _ in range(2):
        with pytest.raises(ChaosFailure):
            await rules.hit("agent.build", "before")
    await rules.hit("agent.build", "before")
    assert [entry.fired for entry in rules.list()] == [2]


async def test_hold_waits_until_the_rule_is_deleted() -> None:
    rules = ChaosRules()
    held = rules.add(rule(action="hold", server="s"))
    waiting = asyncio.create_task(rules.hit("agent.build", "before", server="s"))
    await until(lambda: rules.list()[0].fired)
    rules.add(rule(point="agent.stop"))
    await asyncio.sleep(0)
    assert not waiting.done()
    rules.remove(held.id)
    async with asyncio.timeout(5):
        await waiting


async def test_delay_takes_its_time() -> None:
    rules = ChaosRules()
    rules.add(rule(action="delay", seconds=0.02))
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await rules.hit("agent.build", "before")
    assert loop.time() - begun >= 0.02


def test_crash_ends_the_process_as_kill_9_does() -> None:
    program = (
        "import asyncio; from kilonova.bus.chaos import ChaosRules; rules = ChaosRules();"
        "rules.add({'point': 'x', 'when': 'after', 'action': 'crash'}); asyncio.run(rules.hit('x', 'after'))"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == -signal.SIGKILL


async def test_a_cut_cell_hears_and_says_nothing() -> None:
    rules, bus = ChaosRules(), InProcessBus()
    cell_bus = CuttableBus(bus, rules, "1")

    async def answer(message: Message) -> bytes:
        return b"ok"

    await cell_bus.subscribe("near", answer)
    await bus.subscribe("far", answer)
    cut = rules.add({"cell": 1, "action": "cut"})
    assert rules.is_cut(1)
    assert rules.is_cut("cell1")
    assert not rules.is_cut("2")
    with pytest.raises(errors.Unavailable):
        await cell_bus.request("far", b"", 5)
    with pytest.raises(errors.Unavailable):
        await bus.request("near", b"", 0.02)
    rules.remove(cut.id)
    assert await cell_bus.request("far", b"", 5) == await bus.request("near", b"", 5) == b"ok"
    await cell_bus.close()


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (rule(action="explode"), "action"),
        (rule(when="during"), "when"),
        (rule(point="no.such"), "point"),
        (rule(times=0), "times"),
        (rule(seconds=-1), "seconds"),
        (rule(host=3), "host"),
        (rule(colour="red"), "colour"),
        ({"action": "cut"}, "cell"),
        ({"action": "fail", "when": "before"}, "point"),
    ],
)
def test_a_bad_rule_is_refused_naming_the_field(content: dict[str, Any], field: str) -> None:
    with pytest.raises(errors.BadRequest, match=f"^{field}:"):
        ChaosRules(points=("agent.build",)).add(content)


async def test_where_chaos_is_off_no_rule_is_taken(buses: tuple[Bus, Bus]) -> None:
    rules = ChaosRules(enabled=False)
    with pytest.raises(errors.Forbidden):
        rules.add(rule())
    await rules.attach(buses[0])
    await rules.share(buses[0])
    await rules.hit("agent.build", "before")


def test_a_rule_reads_as_it_was_written() -> None:
    rules = ChaosRules()
    written = rules.add(rule(host="h", action="delay", seconds=2.5, times=3))
    assert written.as_json() == {**rule(host="h", action="delay", seconds=2.5, times=3), "id": written.id, "fired": 0}
    cut = rules.add({"cell": 2, "action": "cut"})
    assert cut.as_json() == {"id": cut.id, "cell": 2, "action": "cut", "fired": 0}


async def test_all_processes_have_the_same_rules_and_counts(buses: tuple[Bus, Bus]) -> None:
    near, far = buses
    here, there = ChaosRules(), ChaosRules()
    await here.attach(near)
    await there.attach(far)
    here.add(rule(times=2))
    await here.share(near)
    await until(there.list)
    with pytest.raises(ChaosFailure):
        await there.hit("agent.build", "before")
    await until(lambda: here.list()[0].fired == 1)

    late = ChaosRules()
    await late.attach(far)
    assert late.list() == here.list()

    here.clear()
    await here.share(near)
    await until(lambda: not there.list() and not late.list())


CRASHING = """
import asyncio, sys
from kilonova.bus.chaos import ChaosRules
from kilonova.bus.nats import NatsBus

async def main():
    rules = ChaosRules()
    await rules.attach(await NatsBus.connect(sys.argv[1], "child"))
    await rules.hit("agent.build", "before")
    print("survived")

asyncio.run(main())
"""


async def test_a_process_that_crashed_once_does_not_crash_again(broker: NatsServer) -> None:
    bus = await NatsBus.connect(broker.url, "parent")
    rules = ChaosRules()
    await rules.attach(bus)
    rules.add(rule(action="crash", times=1))
    endings = []
    for _ in range(2):
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", CRASHING, broker.url, stdout=subprocess.PIPE)
        endings.append((await child.communicate(), child.returncode))
    assert endings == [((b"", None), -signal.SIGKILL), ((b"survived\n", None), 0)]
    assert rules.list()[0].fired == 1
    await bus.close()


async def test_changes_that_cross_each_other_are_both_kept() -> None:
    bus = InProcessBus()
    first, second = ChaosRules(), ChaosRules()
    for rules in (first, second):
        await rules.attach(bus)
    old = first.add({"point": "agent.build", "when": "before", "action": "fail"})
    await first.share(bus)
    await settle()
    # Neither has heard of the other's change when it tells its own.
    new = first.add({"point": "agent.stop", "when": "before", "action": "fail"})
    second.remove(old.id)
    await first.share(bus)
    await second.share(bus)
    await settle()

    assert [rule.id for rule in first.list()] == [rule.id for rule in second.list()] == [new.id]
    await bus.close()


async def settle() -> None:
    """Let what is under way on the bus arrive."""
    for _ in range(20):
        await asyncio.sleep(0)
