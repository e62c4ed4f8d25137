"""Programs that run as processes of their own and may be killed, stopped and started again."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

KILONOVA: Final = str(Path(sys.executable).parent / "kilonova")
READY_SECONDS: Final = 60.0
"""How long a process may take to come up while a machine of two cores starts a dozen of them."""
END_SECONDS: Final = 15.0


class Program:
    """One process at a time of one command. What it says is appended to a file in its directory."""

    def __init__(self, name: str, command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self.log = directory / f"{name}.log"
        self._command = list(command)
        self._environment = {**os.environ, **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._said = 0

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        assert not self.is_running
        self._said = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as file:
            self._process = subprocess.Popen(self._command, stdout=file, stderr=file, env=self._environment)

    async def came_up(self) -> bool:
        """Wait until it says that it is ready, or ends; whether it is ready."""
        await until(lambda: bool(self._ready_line()) or not self.is_running, READY_SECONDS, f"see {self.log}")
        return bool(self._ready_line())

    async def ready(self) -> str:
        """Wait until it says that it is; the rest of that line."""
        assert await self.came_up(), f"{self.name} ended at once:\n{self._new_lines()[-3000:]}"
        return self._ready_line().removeprefix("ready").strip()

    def _new_lines(self) -> str:
        return self.log.read_bytes()[self._said :].decode(errors="replace")

    def _ready_line(self) -> str:
        lines = self._new_lines().splitlines(keepends=True)
        return next((line for line in lines if line.startswith("ready") and line.endswith("\n")), "")

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def freeze(self) -> None:
        """SIGSTOP."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        """SIGCONT."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    async def end(self) -> int:
        """Ask it to end; its exit code. One that does not is killed, and that is an error."""
        if self._process is None or self._process.poll() is not None:
            return 0
        self._process.terminate()
        try:
            return await asyncio.to_thread(self._process.wait, END_SECONDS)
        finally:
            self.kill()


async def until(holds: Callable[[], bool], seconds: float, otherwise: str) -> None:
    """Wait for something that is asked for again and again, with a bound."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not holds():
        assert asyncio.get_running_loop().time() < deadline, otherwise
        await asyncio.sleep(0.01)


async def run(*arguments: str, seconds: float = 60.0) -> tuple[int, str]:
    """Run a command of `kilonova` to its end: exit code and what it said."""
    done = await asyncio.to_thread(
        subprocess.run,
        [KILONOVA, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=seconds,
        check=False,
    )
    return done.returncode, done.stdout.decode()
