"""Loops that must not die in silence."""

import asyncio

from structlog.testing import capture_logs

from kilonova.bus.tasks import keep_going


async def test_a_loop_that_breaks_is_told_and_begun_again() -> None:
    begun = 0
    going_on = asyncio.Event()

    async def work() -> None:
        nonlocal begun
        begun += 1
        if begun == 1:
            raise ZeroDivisionError
        going_on.set()
        await asyncio.Event().wait()

    with capture_logs() as logs:
        task = asyncio.create_task(keep_going(work, "test", 0.001))
        async with asyncio.timeout(5):
            await going_on.wait()
        task.cancel()

    assert begun == 2
    assert [entry["loop"] for entry in logs if entry["event"] == "loop_broke"] == ["test"]
