"""Group commit: each item gets its own verdict, whatever happens to the others."""

import asyncio
from collections.abc import Sequence

import pytest

from kilonova.storage.group_commit import GroupCommit


async def test_items_that_come_together_are_written_together():
    groups: list[Sequence[int]] = []

    async def work(items: Sequence[int]) -> list[int | Exception]:
        groups.append(items)
        await asyncio.sleep(0)
        return [item * 2 for item in items]

    group: GroupCommit[int, int] = GroupCommit("test", work, most=3)
    answers = await asyncio.gather(*(group.submit(number) for number in range(5)))

    assert answers == [0, 2, 4, 6, 8]
    assert [len(items) for items in groups] == [3, 2]


async def test_an_error_as_a_verdict_is_raised_for_its_item_alone():
    async def work(items: Sequence[int]) -> list[int | Exception]:
        return [ValueError("odd") if item % 2 else item for item in items]

    group: GroupCommit[int, int] = GroupCommit("test", work)
    answers = await asyncio.gather(*(group.submit(number) for number in range(4)), return_exceptions=True)

    assert answers[0::2] == [0, 2]
    assert all(isinstance(answer, ValueError) for answer in answers[1::2])


async def test_a_group_that_breaks_is_written_one_by_one_so_that_only_the_guilty_item_fails():
    async def work(items: Sequence[int]) -> list[int | Exception]:
        if 2 in items:
            raise ZeroDivisionError
        return list(items)

    group: GroupCommit[int, int] = GroupCommit("test", work)
    answers = await asyncio.gather(*(group.submit(number) for number in range(4)), return_exceptions=True)

    assert [answers[0], answers[1], answers[3]] == [0, 1, 3]
    assert isinstance(answers[2], ZeroDivisionError)


async def test_a_waiter_that_goes_away_costs_the_others_nothing():
    started = asyncio.Event()

    async def work(items: Sequence[int]) -> list[int | Exception]:
        started.set()
        await asyncio.sleep(0.01)
        return list(items)

    group: GroupCommit[int, int] = GroupCommit("test", work)
    first, second = (asyncio.create_task(group.submit(number)) for number in (1, 2))
    await started.wait()
    first.cancel()

    assert await second == 2
    with pytest.raises(asyncio.CancelledError):
        await first
