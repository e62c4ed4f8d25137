"""Child processes of a measured cloud: started with a log, waited for, asked for their CPU, ended."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
POLL_SECONDS = 0.02
START_SECONDS = 60.0
STOP_SECONDS = 20.0


class Child:
    """One process of ours with a name to be shown by."""

    def __init__(self, name: str, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self._log = log
        with log.open("wb") as file:
            self._process = subprocess.Popen(command, stdout=file, stderr=file, env=environment, start_new_session=True)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def wait_ready(self) -> str:
        """Wait for its line that begins `ready`; that line. Raises RuntimeError with what it wrote when none comes."""
        begun = time.monotonic()
        while time.monotonic() - begun < START_SECONDS and self._process.poll() is None:
            for line in self._log.read_text().splitlines(keepends=True):
                if line.startswith("ready") and line.endswith("\n"):
                    return line.strip()
            time.sleep(POLL_SECONDS)
        raise RuntimeError(f"{self.name} is not ready:\n{self._log.read_text()[-4000:]}")

    def stop(self) -> None:
        """End it in good order, or else at once."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_SECONDS)


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    """Run a command to its end. Raises RuntimeError with what it wrote where it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


def own_cpu(pid: int) -> float:
    """CPU seconds, user and system, of a process with all its threads; 0 for one that is gone."""
    return _cpu(pid, ended_children=False)


def tree_cpu(pid: int) -> float:
    """CPU seconds of a process, its children that live and those that ended. PostgreSQL has a child for each connection."""
    return _cpu(pid, ended_children=True) + sum(own_cpu(child) for child in _children(pid))


def _cpu(pid: int, *, ended_children: bool) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    # proc(5): 14 utime, 15 stime, 16 cutime, 17 cstime; the name's two fields before ")" are cut off here.
    last = 15 if ended_children else 13
    return sum(int(value) for value in fields[11:last]) / TICKS


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []
