"""Start, stop and reboot: one command to the server's host, and the state that follows from its report."""

from kilonova.domain.operation import ERROR
from kilonova.operations.end import End
from kilonova.operations.run import Run, StepFailed

START_STEPS = ("start", "finish")
STOP_STEPS = ("stop", "finish")
REBOOT_STEPS = ("reboot", "finish")


async def start(run: Run) -> None:
    """Input: `host`."""
    await _power(run, "start", "started")


async def stop(run: Run) -> None:
    """Input: `host`."""
    await _power(run, "stop", "stopped")


async def reboot(run: Run) -> None:
    """Input: `host`, and whether it is `hard`."""
    await _power(run, "reboot", "rebooted")


async def fail(run: Run, sentence: str) -> None:
    """End a power operation that did not come through: the server stays as it was and the action says why."""
    fault = {"code": 500, "message": sentence, "details": ""}
    await run.end(End("unchanged", ERROR, sentence, fault))


async def _power(run: Run, command: str, event: str) -> None:
    content = {"hard": bool(run.input.get("hard"))} if command == "reboot" else {}
    try:
        await run.command(command, run.input["host"], content)
    except StepFailed as failure:
        await fail(run, str(failure))
    else:
        await run.end(End(event))
