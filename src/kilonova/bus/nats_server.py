"""A NATS broker of our own as a child process, for tests and for a cloud on one machine.

It also says which subjects a host's credentials reach, for this broker and for any other.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from kilonova.bus import chaos, word
from kilonova.bus.messages import beat_subject, hello_subject
from kilonova.domain import errors

START_SECONDS: Final = 10.0
POLL_SECONDS: Final = 0.01
MAX_PAYLOAD: Final = 8 * 1024 * 1024
"""A batch of commands may carry user data of 64 KB each; the broker's own default is 1 MB."""


@dataclass(frozen=True, slots=True)
class NatsUser:
    """One login; without permissions it may do everything (the control plane's)."""

    name: str
    password: str
    permissions: Mapping[str, Any] | None = None


def inbox_prefix(host: str) -> str:
    """Under which subjects a host gets answers; no other host's credentials reach them."""
    return f"_INBOX.host.{word(host)}"


def permissions(host: str, *, chaotic: bool = False) -> Mapping[str, Any]:
    """What a host may do on the bus, in the form of the broker's configuration: hear and speak under its own name only.

    `chaotic` adds the subjects of chaos rules, which all processes share.
    """
    publish = [f"report.{word(host)}.*", hello_subject(host), beat_subject(host)]
    subscribe = [f"host.{word(host)}.>", f"{inbox_prefix(host)}.>"]
    if chaotic:
        publish += [chaos.FIRED_SUBJECT, chaos.SYNC_SUBJECT]
        subscribe += [chaos.RULES_SUBJECT, chaos.FIRED_SUBJECT, chaos.SYNC_SUBJECT]
    return {"publish": {"allow": publish}, "subscribe": {"allow": subscribe}, "allow_responses": True}


class NatsServer:
    """The broker's process. Its directory holds configuration and log; nothing in it needs to be kept."""

    def __init__(self, directory: Path, port: int = 0, users: tuple[NatsUser, ...] = ()) -> None:
        self.port = port
        self._directory = directory
        self._users = users
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Where clients connect, once it has started."""
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Run it and wait until it listens; a free port that was chosen stays the same on later starts.

        Raises errors.Unavailable when the program is not installed or does not come up.
        """
        self._directory.mkdir(parents=True, exist_ok=True)
        config = self._directory / "nats.conf"
        # Passwords stand in it.
        config.touch(mode=0o600)
        config.write_bytes(orjson.dumps(self._config(), option=orjson.OPT_INDENT_2))
        self._process = await asyncio.create_subprocess_exec(_find_program(), "-c", str(config))
        try:
            async with asyncio.timeout(START_SECONDS):
                self.port = await self._wait_for_port()
        except TimeoutError:
            await self.stop()
            raise errors.Unavailable(f"The message broker did not start; see {self._log}.") from None

    async def stop(self) -> None:
        """End it at once, as a crash would; one that does not run is no error."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        await process.wait()

    @property
    def _log(self) -> Path:
        return self._directory / "nats.log"

    def _config(self) -> dict[str, Any]:
        config: dict[str, Any] = {
            "host": "127.0.0.1",
            "port": self.port or -1,
            "ports_file_dir": str(self._directory),
            "log_file": str(self._log),
            "max_payload": MAX_PAYLOAD,
        }
        if self._users:
            config["authorization"] = {"users": [_user_config(user) for user in self._users]}
        return config

    async def _wait_for_port(self) -> int:
        process = self._process
        assert process is not None
        ports = self._directory / f"nats-server_{process.pid}.ports"
        while True:
            if process.returncode is not None:
                raise errors.Unavailable(f"The message broker ended at once; see {self._log}.")
            if ports.exists() and (content := ports.read_bytes()):
                ports.unlink()
                return int(orjson.loads(content)["nats"][0].rsplit(":", 1)[1])
            await asyncio.sleep(POLL_SECONDS)


def _user_config(user: NatsUser) -> dict[str, Any]:
    config: dict[str, Any] = {"user": user.name, "password": user.password}
    if user.permissions is not None:
        config["permissions"] = user.permissions
    return config


def _find_program() -> str:
    """The broker of this environment first, then whatever is on the path."""
    near = str(Path(sys.executable).parent)
    found = shutil.which("nats-server", path=os.pathsep.join([near, os.environ.get("PATH", os.defpath)]))
    if found is None:
        raise errors.Unavailable("The program nats-server is not installed.")
    return found
