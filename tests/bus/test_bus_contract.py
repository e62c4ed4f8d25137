"""What every bus does, whichever carries the messages."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kilonova.bus import Bus, Message
from kilonova.domain import errors

Buses = tuple[Bus, Bus]


def collect(into: asyncio.Queue[str], label: str = "") -> Callable[[Message], Awaitable[bytes]]:
    async def handler(message: Message) -> bytes:
        into.put_nowait(f"{label}{message.subject}={message.data.decode()}")
        return label.encode() + message.data

    return handler


async def heard(queue: asyncio.Queue[str], count: int) -> list[str]:
    async with asyncio.timeout(5):
        return sorted([await queue.get() for _ in range(count)])


async def test_a_request_is_answered_by_the_listener(buses: Buses) -> None:
    near, far = buses
    await far.subscribe("host.a.command", collect(asyncio.Queue(), "re:"))
    assert await near.request("host.a.command", b"build", 5) == b"re:build"


async def test_a_request_that_nobody_hears_fails_at_once(buses: Buses) -> None:
    async with asyncio.timeout(5):
        with pytest.raises(errors.Unavailable):
            await buses[0].request("nobody.there", b"", 60)


async def test_a_request_without_an_answer_fails_after_its_limit(buses: Buses) -> None:
    async def silent(message: Message) -> None:
        return None

    await buses[1].subscribe("quiet", silent)
    with pytest.raises(errors.Unavailable, match=r"0\.05 seconds"):
        await buses[0].request("quiet", b"", 0.05)


async def test_what_is_published_reaches_all_listeners_and_one_of_each_queue(buses: Buses) -> None:
    near, far = buses
    queue: asyncio.Queue[str] = asyncio.Queue()
    await far.subscribe("wake.*", collect(queue, "one:"))
    await near.subscribe("wake.now", collect(queue, "two:"))
    await far.subscribe("wake.>", collect(queue, "group:"), queue="group")
    await near.subscribe("wake.>", collect(queue, "group:"), queue="group")
    await near.publish("wake.now", b"x")
    assert await heard(queue, 3) == ["group:wake.now=x", "one:wake.now=x", "two:wake.now=x"]
    await asyncio.sleep(0.01)
    assert queue.empty()


async def test_a_queue_shares_the_work(buses: Buses) -> None:
    near, far = buses
    queue: asyncio.Queue[str] = asyncio.Queue()
    await near.subscribe("work", collect(queue, "near:"), queue="workers")
    await far.subscribe("work", collect(queue, "far:"), queue="workers")
    for number in range(60):
        await near.publish("work", str(number).encode())
    labels = {line.split(":")[0] for line in await heard(queue, 60)}
    assert labels == {"near", "far"}


@pytest.mark.parametrize(
    ("pattern", "subject", "hears"),
    [
        ("a.*.c", "a.b.c", True),
        ("a.*.c", "a.b.d", False),
        ("a.*", "a.b.c", False),
        ("a.>", "a.b.c", True),
        ("a.>", "a", False),
        ("a.b", "a.b", True),
    ],
)
async def test_patterns_take_a_word_or_the_rest(buses: Buses, pattern: str, subject: str, hears: bool) -> None:
    near, far = buses
    queue: asyncio.Queue[str] = asyncio.Queue()
    await far.subscribe(pattern, collect(queue))
    await far.subscribe("end", collect(queue))
    await near.publish(subject, b"")
    await near.publish("end", b"")
    expected = sorted([f"{subject}=", "end="] if hears else ["end="])
    assert await heard(queue, len(expected)) == expected


async def test_a_slow_handler_does_not_hold_up_the_next_message(buses: Buses) -> None:
    near, far = buses
    release = asyncio.Event()

    async def handler(message: Message) -> bytes:
        if message.data == b"slow":
            await release.wait()
        return message.data

    await far.subscribe("work", handler)
    slow = asyncio.create_task(near.request("work", b"slow", 5))
    assert await near.request("work", b"quick", 5) == b"quick"
    release.set()
    assert await slow == b"slow"


async def test_a_requester_that_gives_up_does_not_stop_the_handler(buses: Buses) -> None:
    near, far = buses
    release, done = asyncio.Event(), asyncio.Event()

    async def handler(message: Message) -> bytes:
        await release.wait()
        done.set()
        return b""

    await far.subscribe("work", handler)
    with pytest.raises(errors.Unavailable):
        await near.request("work", b"", 0.02)
    release.set()
    async with asyncio.timeout(5):
        await done.wait()


async def test_a_cancelled_subscription_hears_nothing_more(buses: Buses) -> None:
    near, far = buses
    subscription = await far.subscribe("work", collect(asyncio.Queue()))
    await near.request("work", b"", 5)
    await subscription.cancel()
    await subscription.cancel()
    # The other connection's cancellation has reached the broker once the broker has carried another message for it.
    await near.subscribe("end", collect(asyncio.Queue()))
    await far.request("end", b"", 5)
    with pytest.raises(errors.Unavailable):
        await near.request("work", b"", 5)


async def test_a_handler_that_raises_takes_nothing_down(buses: Buses) -> None:
    near, far = buses

    async def handler(message: Message) -> bytes:
        if message.data == b"bad":
            raise ValueError("boom")
        return b"fine"

    await far.subscribe("work", handler)
    with pytest.raises(errors.Unavailable):
        await near.request("work", b"bad", 0.05)
    assert await near.request("work", b"good", 5) == b"fine"


async def test_closing_ends_handlers_under_way(buses: Buses) -> None:
    near, far = buses
    started, ended = asyncio.Event(), asyncio.Event()

    async def handler(message: Message) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    await far.subscribe("work", handler)
    await near.publish("work", b"")
    async with asyncio.timeout(5):
        await started.wait()
        await far.close()
        await ended.wait()
