"""Takes a guest off a host for good: repeated until the host says so, or is down and will be told when it returns."""

import asyncio
from itertools import count
from typing import Final

from kilonova.operations.run import Run, StepFailed

FIRST_PAUSE: Final = 0.2
LONGEST_PAUSE: Final = 30.0
TRIES_OF_ONE_HOST: Final = 1_000_000
"""Step numbers that one host may use up, so that every try has a key of its own."""


async def destroy(run: Run, host: str, place: int) -> None:
    """Destroy the server's guest on `host`, the `place`-th host of this operation. Raises errors.LeaseLost."""
    pause = FIRST_PAUSE
    for attempt in count():
        try:
            await run.command("destroy", host, {}, place * TRIES_OF_ONE_HOST + attempt)
        except StepFailed as failure:
            if failure.gone:
                return
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        else:
            return
