"""What a host still knows after a crash, and how its reports and hellos reach a control plane that comes and goes."""

import asyncio
from pathlib import Path

import pytest

from kilonova.agent import Agent, Links
from kilonova.agent.book import ENTRY_MICROS, TOMBSTONE_MICROS, Book
from kilonova.agent.journal import Journal, JournalError, now_micros
from kilonova.bus.in_process import InProcessBus
from kilonova.bus.messages import Report
from kilonova.drivers.fake import FakeDriver
from tests.agent.agent_site import SETTINGS, Conductor, Site, command


async def test_what_was_accepted_before_a_crash_is_done_after_it(conductor: Conductor, site: Site) -> None:
    conductor.servers = {"server-1": 1}
    hold = site.chaos.add({"point": "agent.build", "when": "before", "action": "hold"})
    build = command()
    await conductor.send(build)
    await site.crash()
    site.chaos.remove(hold.id)
    assert await site.driver.guests() == {}
    await site.start()
    report = await conductor.report()
    assert (report.key, report.ok) == (build.key, True)
    assert await site.driver.guests() == {"server-1": "running"}


async def test_what_was_accepted_for_a_server_that_went_elsewhere_is_not_done(conductor: Conductor, site: Site) -> None:
    hold = site.chaos.add({"point": "agent.build", "when": "before", "action": "hold"})
    await conductor.send(command(server="moved"), command("destroy", server="left"))
    await site.crash()
    site.chaos.remove(hold.id)
    await site.start()
    reports = {report.server: report for report in (await conductor.report(), await conductor.report())}
    assert (reports["moved"].ok, "elsewhere" in reports["moved"].error) == (False, True)
    assert reports["left"].ok
    assert await site.driver.guests() == {}


async def test_an_effect_whose_outcome_was_lost_is_found_again(conductor: Conductor, site: Site) -> None:
    conductor.servers = {"server-1": 1}
    hold = site.chaos.add({"point": "agent.build", "when": "after", "action": "hold"})
    build = command()
    await conductor.send(build)
    async with asyncio.timeout(5):
        while not await site.driver.guests():
            await conductor.beats.get()
    await site.crash()
    site.chaos.remove(hold.id)
    await site.start()
    assert (await conductor.report()).ok
    assert (await site.driver.console_output("server-1", None)).count("login:") == 1


async def test_work_of_an_epoch_that_is_over_is_not_done_after_a_crash(conductor: Conductor, site: Site) -> None:
    conductor.servers = {"server-1": 1}
    site.chaos.add({"point": "agent.build", "when": "before", "action": "hold"})
    await conductor.send(command())
    await site.crash()
    site.chaos.clear()
    conductor.epoch = 2
    await site.start()
    report = await conductor.report()
    assert (report.ok, "epoch 2" in report.error) == (False, True)
    assert await site.driver.guests() == {}


async def test_a_report_is_sent_until_it_is_taken(conductor: Conductor, site: Site) -> None:
    conductor.takes = False
    build = command()
    await conductor.send(build)
    assert [(await conductor.report()).key for _ in range(3)] == [build.key] * 3
    await site.crash()
    await site.start()
    assert (await conductor.report()).key == build.key
    conductor.takes = True
    await conductor.report()
    await settled(conductor)


async def test_an_acknowledged_report_is_sent_no_more_not_even_after_a_crash(conductor: Conductor, site: Site) -> None:
    conductor.takes = False
    build = command()
    await conductor.send(build)
    await conductor.report()
    await conductor.acknowledge(build.key)
    await settled(conductor)
    await site.crash()
    await site.start()
    await settled(conductor)
    (answer,) = await conductor.send(build)
    assert answer.state == "report"


async def test_a_later_command_ends_the_report_of_an_earlier_one(conductor: Conductor, site: Site) -> None:
    conductor.takes = False
    build, stop = command(), command("stop", generation=2)
    await conductor.send(build)
    await conductor.report()
    await conductor.send(stop)
    async with asyncio.timeout(5):
        while (await conductor.report()).key != stop.key:
            pass
    assert (await conductor.report()).key == stop.key


async def test_whoever_asked_last_gets_the_report(bus: InProcessBus, conductor: Conductor, site: Site) -> None:
    hold = site.chaos.add({"point": "agent.build", "when": "before", "action": "hold"})
    other = Conductor(bus, "conductor-2")
    await other.hear_reports()
    build = command()
    await conductor.send(build)
    await other.send(build)
    site.chaos.remove(hold.id)
    assert (await other.report()).key == build.key
    assert conductor.reports.empty()


async def test_a_report_that_nobody_took_goes_to_the_conductor_that_asks(
    bus: InProcessBus, conductor: Conductor, site: Site
) -> None:
    conductor.takes = False
    other = Conductor(bus, "conductor-2")
    await other.hear_reports()
    build = command()
    await conductor.send(build)
    await conductor.report()
    assert [answer.state for answer in await other.send(build)] == ["report"]
    assert (await other.report()).key == build.key
    await settled(conductor)


async def test_a_lost_journal_is_a_new_incarnation_that_knows_the_generations(conductor: Conductor, site: Site) -> None:
    before = (await conductor.hello()).incarnation
    await site.crash()
    await site.start()
    assert (await conductor.hello()).incarnation == before
    conductor.servers = {"server-1": 7}
    await site.lose_journal()
    await site.start()
    assert (await conductor.hello()).incarnation != before
    assert [answer.state for answer in await conductor.send(command(generation=6))] == ["refused"]


async def test_a_guest_that_nobody_speaks_of_is_left_alone(conductor: Conductor, site: Site) -> None:
    await conductor.send(command())
    await conductor.report()
    await site.crash()
    conductor.servers = {}
    await site.start()
    assert await site.driver.guests() == {"server-1": "running"}


async def test_a_host_says_hello_until_it_is_welcomed_then_beats(bus: InProcessBus, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    agent = Agent("host-1", "cell-1", Links(FakeDriver("host-1"), bus, journal), SETTINGS)
    starting = asyncio.create_task(agent.start())
    await asyncio.sleep(0.03)
    assert not starting.done()
    conductor = Conductor(bus)
    await conductor.start()
    hello = await conductor.hello()
    assert (hello.host, hello.cell, hello.providers[0]["name"]) == ("host-1", "cell-1", "host-1")
    async with asyncio.timeout(5):
        await starting
        assert [await conductor.beats.get() for _ in range(2)] == ["beat.host-1"] * 2
    await agent.stop()
    await journal.close()


async def test_what_changed_on_the_host_is_told(conductor: Conductor, site: Site) -> None:
    await conductor.hello()
    await conductor.send(command())
    assert (await conductor.hello()).guests == {"server-1": "running"}


async def test_a_journal_belongs_to_one_process(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    with pytest.raises(JournalError, match="locked"):
        Journal(tmp_path / "journal")
    await journal.close()


async def test_the_journal_forgets_what_is_old_and_safe(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    book = Book("host-1", journal)
    kept, open_one, gone, buried = (
        command(server="kept"),
        command(server="open"),
        command(server="kept", generation=0),
        command("destroy", server="buried"),
    )
    for asked in (gone, kept, open_one, buried):
        entry = book.accept("conductor-1", asked)
        book.report(entry, Report(asked.key, asked.server, asked.generation, ok=True), destroyed=asked is buried)
        if asked is not open_one:
            book.acknowledge(entry)
    book.prune(now_micros() + ENTRY_MICROS + 1_000_000)
    await journal.close()

    journal = Journal(path)
    again = Book("host-1", journal)
    assert [again.find(asked.key) is not None for asked in (kept, open_one, gone, buried)] == [True, True, False, False]
    assert again.highest("buried") == 1
    again.prune(now_micros() + TOMBSTONE_MICROS + 1_000_000)
    assert again.highest("buried") == -1
    await journal.close()


async def settled(conductor: Conductor) -> None:
    """No report comes any more: several times as long as the host waits between two attempts."""
    await asyncio.sleep(0.01)
    while not conductor.reports.empty():
        conductor.reports.get_nowait()
    await asyncio.sleep(SETTINGS.report_seconds * 4)
    assert conductor.reports.empty()
