"""What only a broker can show: permissions of hosts, lost connections, large messages."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kilonova.bus import Message, messages
from kilonova.bus.nats import NatsBus
from kilonova.bus.nats_server import NatsServer, NatsUser, inbox_prefix, permissions
from kilonova.domain import errors


async def echo(message: Message) -> bytes:
    return message.data


async def answered(bus: NatsBus, subject: str) -> bytes:
    """Ask again until somebody answers."""
    async with asyncio.timeout(10):
        while True:
            try:
                return await bus.request(subject, b"hello", 1)
            except errors.Unavailable:
                await asyncio.sleep(0.05)


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[NatsServer]:
    hosts = tuple(NatsUser(host, f"secret-{host}", permissions(host)) for host in ("host-1", "host-2"))
    server = NatsServer(tmp_path / "nats", users=(NatsUser("control", "secret"), *hosts))
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def control(guarded: NatsServer) -> AsyncIterator[NatsBus]:
    bus = await NatsBus.connect(guarded.url, "control", "control", "secret")
    yield bus
    await bus.close()


@pytest.fixture
async def host_1(guarded: NatsServer) -> AsyncIterator[NatsBus]:
    bus = await NatsBus.connect(guarded.url, "host-1", "host-1", "secret-host-1", inbox_prefix("host-1"))
    yield bus
    await bus.close()


async def test_a_host_takes_commands_and_reports_with_its_own_login(control: NatsBus, host_1: NatsBus) -> None:
    await host_1.subscribe(messages.command_subject("host-1"), echo)
    assert await control.request(messages.command_subject("host-1"), b"build", 5) == b"build"
    for subject in (messages.hello_subject("host-1"), messages.report_subject("host-1", "conductor-1")):
        await control.subscribe(subject, echo)
        assert await host_1.request(subject, b"me", 5) == b"me"


@pytest.mark.parametrize(
    "pattern",
    ["host.host-2.>", "host.>", ">", "_INBOX.>", "_INBOX.host.host-2.>", "hello.*", "report.>", "chaos.rules"],
)
async def test_a_host_hears_nothing_that_is_not_its_own(control: NatsBus, host_1: NatsBus, pattern: str) -> None:
    heard: list[str] = []

    async def spy(message: Message) -> None:
        heard.append(message.subject)

    async def command(message: Message) -> bytes:
        return b"ok"

    await host_1.subscribe(pattern, spy)
    await host_1.subscribe(messages.command_subject("host-1"), command)
    for subject in ("host.host-2.command", "_INBOX.x.y", "_INBOX.host.host-2.y", "hello.host-2", "report.host-2.c"):
        await control.publish(subject, b"secret")
    await control.publish("chaos.rules", b"[]")
    # The broker keeps the order, so once this is answered the others would have been delivered.
    assert await control.request(messages.command_subject("host-1"), b"", 5) == b"ok"
    assert not heard


@pytest.mark.parametrize("subject", ["host.host-2.command", "hello.host-2", "beat.host-2", "report.host-2.c", "chaos.rules"])
async def test_a_host_cannot_speak_as_another(control: NatsBus, host_1: NatsBus, subject: str) -> None:
    heard: list[str] = []

    async def listen(message: Message) -> bytes:
        heard.append(message.subject)
        return b"taken"

    await control.subscribe(">", listen)
    await host_1.publish(subject, b"forged")
    assert await host_1.request(messages.hello_subject("host-1"), b"", 5) == b"taken"
    assert subject not in heard


async def test_a_host_may_share_chaos_rules_where_that_is_allowed(tmp_path: Path) -> None:
    user = NatsUser("host-1", "secret", permissions("host-1", chaotic=True))
    server = NatsServer(tmp_path / "nats", users=(user,))
    await server.start()
    bus = await NatsBus.connect(server.url, "host-1", "host-1", "secret", inbox_prefix("host-1"))
    await bus.subscribe("chaos.fired", echo)
    assert await bus.request("chaos.fired", b"1", 5) == b"1"
    await bus.close()
    await server.stop()


async def test_after_the_broker_was_killed_everybody_listens_again(broker: NatsServer) -> None:
    near, far = await NatsBus.connect(broker.url, "near"), await NatsBus.connect(broker.url, "far")
    await far.subscribe("work", echo)
    assert await near.request("work", b"1", 5) == b"1"
    await broker.stop()
    with pytest.raises(errors.Unavailable):
        await near.request("work", b"2", 5)
    await near.publish("work", b"lost")
    await broker.start()
    assert await answered(near, "work") == b"hello"
    await near.close()
    await far.close()


async def test_a_request_under_way_fails_when_the_broker_dies(broker: NatsServer) -> None:
    near, far = await NatsBus.connect(broker.url, "near"), await NatsBus.connect(broker.url, "far")
    started = asyncio.Event()

    async def hang(message: Message) -> None:
        started.set()

    await far.subscribe("work", hang)
    asking = asyncio.create_task(near.request("work", b"", 60))
    async with asyncio.timeout(5):
        await started.wait()
        await broker.stop()
        with pytest.raises(errors.Unavailable, match="lost"):
            await asking
    await near.close()
    await far.close()


async def test_a_message_that_is_too_large_is_told_to_the_sender(broker: NatsServer) -> None:
    bus = await NatsBus.connect(broker.url, "near")
    await bus.subscribe("work", echo)
    with pytest.raises(errors.Unavailable, match="more than the broker takes"):
        await bus.request("work", bytes(9 * 1024 * 1024), 5)
    assert len(await bus.request("work", bytes(2 * 1024 * 1024), 5)) == 2 * 1024 * 1024
    await bus.close()


# The library forgets to close the sockets on which it was refused.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_broker_that_refused_for_a_while_is_joined_again(guarded: NatsServer, tmp_path: Path) -> None:
    bus = await NatsBus.connect(guarded.url, "control", "control", "secret")
    await bus.subscribe("work", echo)
    await guarded.stop()
    stranger = NatsServer(tmp_path / "other", guarded.port, users=(NatsUser("somebody", "else"),))
    await stranger.start()
    async with asyncio.timeout(10):
        while "authentication error" not in (tmp_path / "other" / "nats.log").read_text():  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.02)
    await stranger.stop()
    await guarded.start()
    assert await answered(bus, "work") == b"hello"
    await bus.close()


async def test_a_bus_can_be_closed_while_the_broker_is_gone(broker: NatsServer) -> None:
    bus = await NatsBus.connect(broker.url, "near")
    await broker.stop()
    async with asyncio.timeout(5):
        await bus.close()
    with pytest.raises(errors.Unavailable):
        await bus.request("work", b"", 1)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_login_that_was_revoked_and_given_back_is_used_again(guarded: NatsServer, tmp_path: Path) -> None:
    bus = await NatsBus.connect(guarded.url, "control", "control", "secret")
    await bus.subscribe("work", echo)
    config, pid = tmp_path / "nats" / "nats.conf", guarded.pid
    assert pid is not None
    right = config.read_text()
    config.write_text(right.replace('"secret"', '"other"'))
    os.kill(pid, signal.SIGHUP)
    async with asyncio.timeout(5):
        while True:
            try:
                await bus.request("work", b"", 0.05)
            except errors.Unavailable:
                break
    config.write_text(right)
    os.kill(pid, signal.SIGHUP)
    assert await answered(bus, "work") == b"hello"
    await bus.close()
