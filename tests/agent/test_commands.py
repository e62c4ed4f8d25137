"""How a host answers commands, does them and tells how they ended."""

import asyncio
from dataclasses import replace

import pytest

from kilonova.bus.in_process import InProcessBus
from tests.agent.agent_site import GUEST, Conductor, Site, command


async def test_a_build_is_accepted_done_and_reported(conductor: Conductor, site: Site) -> None:
    build = command()
    (answer,) = await conductor.send(build)
    assert (answer.key, answer.state) == (build.key, "accepted")
    report = await conductor.report()
    assert (report.key, report.server, report.generation, report.ok) == (build.key, "server-1", 1, True)
    assert await site.driver.guests() == {"server-1": "running"}


async def test_power_commands_do_what_they_say(conductor: Conductor, site: Site) -> None:
    await conductor.send(command())
    await conductor.report()
    steps = [("stop", {}, "shutdown"), ("start", {}, "running"), ("reboot", {"hard": True}, "running")]
    for generation, (name, given, state) in enumerate(steps, start=2):
        await conductor.send(command(name, generation=generation, input=given))
        report = await conductor.report()
        assert report.ok
        assert report.result == {"power_state": state}
        assert await site.driver.guests() == {"server-1": state}


async def test_a_repeat_finds_the_work_running_and_then_its_report(conductor: Conductor, site: Site) -> None:
    hold = site.chaos.add({"point": "agent.build", "when": "before", "action": "hold"})
    build = command()
    first, second = await conductor.send(build, build)
    assert (first.state, second.state) == ("accepted", "running")
    assert [answer.state for answer in await conductor.send(build)] == ["running"]
    site.chaos.remove(hold.id)
    report = await conductor.report()
    (answer,) = await conductor.send(build)
    assert (answer.state, answer.report) == ("report", report)


async def test_two_that_ask_for_the_same_at_once_get_one_build(conductor: Conductor, site: Site) -> None:
    build = command()
    answers = await asyncio.gather(conductor.send(build), conductor.send(build))
    assert sorted(answer.state for (answer,) in answers) == ["accepted", "running"]
    await conductor.report()
    assert conductor.reports.empty()


async def test_a_lower_generation_is_refused(conductor: Conductor, site: Site) -> None:
    await conductor.send(command(generation=5))
    (answer,) = await conductor.send(command("stop", generation=4))
    assert answer.state == "refused"
    assert "generation 5" in answer.reason


async def test_another_epoch_is_refused_and_a_higher_one_is_looked_up(conductor: Conductor, site: Site) -> None:
    await conductor.hello()
    (old,) = await conductor.send(command(epoch=0))
    assert old.state == "refused"
    conductor.epoch = 2
    (new,) = await conductor.send(command(epoch=2))
    assert new.state == "refused"
    await conductor.hello()
    async with asyncio.timeout(5):
        # The hello was heard, but the host may not have read the welcome yet.
        while (await conductor.send(command(epoch=2)))[0].state != "accepted":
            await conductor.beats.get()


async def test_an_unknown_command_is_refused(conductor: Conductor, site: Site) -> None:
    (answer,) = await conductor.send(command("levitate"))
    assert (answer.state, "levitate" in answer.reason) == ("refused", True)


async def test_a_driver_that_cannot_is_reported_with_its_sentence(conductor: Conductor, site: Site) -> None:
    await conductor.send(command("start", server="server-9"))
    report = await conductor.report()
    assert not report.ok
    assert "server-9" in report.error


async def test_a_build_that_lacks_something_is_reported(conductor: Conductor, site: Site) -> None:
    await conductor.send(command(input={"name": "web"}))
    report = await conductor.report()
    assert (report.ok, "vcpus" in report.error) == (False, True)


async def test_an_input_of_the_wrong_kind_is_reported_and_not_lost(conductor: Conductor, site: Site) -> None:
    await conductor.send(command(input={**GUEST, "ports": [1]}))
    report = await conductor.report()
    assert (report.ok, "failed inside" in report.error) == (False, True)


async def test_a_late_build_is_refused_after_a_destroy(conductor: Conductor, site: Site) -> None:
    late = command(generation=1)
    await conductor.send(command("destroy", generation=2))
    assert (await conductor.report()).ok
    await site.crash()
    await site.start()
    (answer,) = await conductor.send(late)
    assert answer.state == "refused"
    assert await site.driver.guests() == {}


async def test_a_destroy_does_not_wait_for_a_build_that_hangs(conductor: Conductor, site: Site) -> None:
    hold = site.chaos.add({"point": "agent.build", "when": "before", "action": "hold"})
    build, destroy = command(), command("destroy", generation=2)
    await conductor.send(build)
    await conductor.send(destroy)
    report = await conductor.report()
    assert (report.key, report.ok) == (destroy.key, True)
    site.chaos.remove(hold.id)
    (answer,) = await conductor.send(replace(build, generation=1))
    assert answer.report is not None
    assert not answer.report.ok
    assert conductor.reports.empty()


async def test_a_server_that_hangs_does_not_hold_up_others(conductor: Conductor, site: Site) -> None:
    site.chaos.add({"point": "agent.build", "when": "before", "action": "hold", "server": "server-1"})
    await conductor.send(command(), command(server="server-2"))
    assert (await conductor.report()).server == "server-2"


async def test_commands_for_a_server_are_done_in_order(conductor: Conductor, site: Site) -> None:
    delay = {"point": "agent.build", "when": "before", "action": "delay", "seconds": 0.02}
    site.chaos.add(delay)
    await conductor.send(command(), command("stop", generation=1))
    assert [(await conductor.report()).ok for _ in range(2)] == [True, True]
    assert await site.driver.guests() == {"server-1": "shutdown"}


async def test_work_that_passes_its_limit_is_reported_as_failed(conductor: Conductor, site: Site) -> None:
    site.chaos.add({"point": "agent.build", "when": "before", "action": "hold"})
    await conductor.send(command(limit=0.03))
    report = await conductor.report()
    assert (report.ok, "0.03 seconds" in report.error) == (False, True)


@pytest.mark.parametrize(("when", "guests"), [("before", 0), ("after", 1)])
async def test_a_chaos_rule_fails_a_build(conductor: Conductor, site: Site, when: str, guests: int) -> None:
    site.chaos.add({"point": "agent.build", "when": when, "action": "fail", "host": "host-1", "times": 1})
    await conductor.send(command())
    assert not (await conductor.report()).ok
    assert len(await site.driver.guests()) == guests
    await conductor.send(command(generation=2))
    assert (await conductor.report()).ok


async def test_a_batch_is_answered_in_order_and_reported_together(conductor: Conductor, site: Site) -> None:
    builds = [command(server=f"server-{number}") for number in range(50)]
    answers = await conductor.send(*builds)
    assert [answer.key for answer in answers] == [build.key for build in builds]
    assert {(await conductor.report()).key for _ in builds} == {build.key for build in builds}
    assert len(conductor.messages) <= 3


async def test_reads_are_answered_at_once(conductor: Conductor, site: Site) -> None:
    await conductor.send(command())
    await conductor.report()
    assert (await conductor.read(name="guests")) == {"guests": {"server-1": "running"}}
    assert "login:" in (await conductor.read(name="console", server="server-1", lines=1))["output"]
    assert "server-9" in (await conductor.read(name="console", server="server-9", lines=None))["error"]
    assert "weather" in (await conductor.read(name="weather"))["error"]


async def test_after_stop_nobody_listens(bus: InProcessBus, conductor: Conductor, site: Site) -> None:
    assert site.agent is not None
    await site.agent.stop()
    with pytest.raises(Exception, match="Nobody listens"):
        await conductor.send(command())
