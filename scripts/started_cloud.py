"""A `kilonova up` of one's own as a child process with an empty home, and the commands of users run against it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from child_processes import POLL_SECONDS, STOP_SECONDS, end, ready_address

BIN = Path(sys.executable).parent


class CloudDied(RuntimeError):
    """`kilonova up` did not come up in time or ended; the sentence ends with what it wrote."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended. `code` is None when it was ended because its time was up."""

    code: int | None
    output: str
    errors: str
    seconds: float


class StartedCloud:
    """One cloud in `directory`, which must be empty: state in `state`, home in `home`."""

    def __init__(self, directory: Path, *flags: str) -> None:
        self.state = directory / "state"
        self.url = ""
        self._home = directory / "home"
        self._home.mkdir()
        self._flags = flags
        self._log = directory / "up.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def clouds_yaml(self) -> Path:
        """The file that clients find this cloud by."""
        return self.state / "clouds.yaml"

    @property
    def token(self) -> str:
        """The administrator's token that `up` leaves for scripts."""
        return (self.state / "token").read_text()

    def start(self) -> float:
        """Run it; seconds until it said that it is ready. Raises CloudDied."""
        begun = time.monotonic()
        command = [str(BIN / "kilonova"), "up", "--port", "0", "--state", str(self.state), *self._flags]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=self._environment(), start_new_session=True)
        address = ready_address(self._process, self._log)
        if address is not None:
            self.url = address
            return time.monotonic() - begun
        self.stop()
        raise CloudDied(f"kilonova up is not ready:\n{self.log_tail()}")

    def stop(self) -> None:
        """End it, and the PostgreSQL of its own that it may have left behind."""
        process, self._process = self._process, None
        if process is None:
            return
        end(process)
        end_postgres(self.state / "postgresql")

    def cpu_seconds(self) -> float:
        """CPU, user and system, that the process has spent so far."""
        if self._process is None:
            return 0.0
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def log_tail(self, lines: int = 20) -> str:
        """The last lines that `up` wrote."""
        return "\n".join(self._log.read_text().splitlines()[-lines:])

    def openstack(self, *arguments: str, cloud: str = "kilonova", seconds: float = 60.0) -> Outcome:
        """Run the community's client, unpatched."""
        return self._run("openstack", ("--os-cloud", cloud, *arguments), seconds)

    def kilonova(self, *arguments: str, seconds: float = 60.0) -> Outcome:
        """Run our own command."""
        return self._run("kilonova", arguments, seconds)

    def _run(self, program: str, arguments: tuple[str, ...], seconds: float) -> Outcome:
        begun = time.monotonic()
        try:
            done = subprocess.run(
                [str(BIN / program), *arguments],
                capture_output=True,
                text=True,
                timeout=seconds,
                stdin=subprocess.DEVNULL,
                cwd=self._home,
                env=self._environment(),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            return Outcome(None, _text(error.stdout), _text(error.stderr), time.monotonic() - begun)
        return Outcome(done.returncode, done.stdout, done.stderr, time.monotonic() - begun)

    def _environment(self) -> dict[str, str]:
        # Nothing of the caller's environment: what works here works for a newcomer.
        return {
            "HOME": str(self._home),
            "PATH": f"{BIN}{os.pathsep}{os.defpath}",
            "LANG": "C.UTF-8",
            "OS_CLIENT_CONFIG_FILE": str(self.clouds_yaml),
        }


def _text(part: str | bytes | None) -> str:
    return part.decode(errors="replace") if isinstance(part, bytes) else part or ""


def end_postgres(data: Path) -> None:
    """End the PostgreSQL whose data are in `data`, if one runs there: a crashed owner leaves it running."""
    pid_file = data / "postmaster.pid"
    if not pid_file.exists():
        return
    pid = int(pid_file.read_text().split()[0])
    for number in (signal.SIGINT, signal.SIGQUIT):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        begun = time.monotonic()
        while pid_file.exists() and time.monotonic() - begun < STOP_SECONDS:
            time.sleep(POLL_SECONDS)


def remove(directory: Path) -> None:
    """Remove what a cloud left; files that vanish meanwhile are no error."""
    shutil.rmtree(directory, ignore_errors=True)
