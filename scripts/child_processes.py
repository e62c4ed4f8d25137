"""Services that scripts start: waiting for the line that says where they are, and ending them."""

import subprocess
import time
from pathlib import Path

START_SECONDS = 120.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.01

Child = subprocess.Popen[bytes]


def ready_address(process: Child, log: Path) -> str | None:
    """The address in the line `ready …` that a process writes to `log`; None where it ended, or START_SECONDS passed, before."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        for line in log.read_text().splitlines(keepends=True):
            if line.startswith("ready ") and line.endswith("\n"):
                return line.split()[1]
        if process.poll() is not None:
            return None
        time.sleep(POLL_SECONDS)
    return None


def end(process: Child) -> None:
    """End a process, by force after STOP_SECONDS."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_SECONDS)
