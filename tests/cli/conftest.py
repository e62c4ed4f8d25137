"""One real `kilonova up` for the tests of the command line, driven by HTTP as its users drive it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

KILONOVA = str(Path(sys.executable).parent / "kilonova")
SECONDS = 60.0


@dataclass
class Running:
    """A cloud that runs, or ran, in `state`."""

    state: Path
    process: "subprocess.Popen[bytes] | None" = None
    http: httpx.Client = field(default_factory=httpx.Client)

    def start(self, *flags: str) -> None:
        """Run `kilonova up` until it is ready."""
        log = self.state.parent / "up.log"
        shape = {"FAKE__VCPUS": "4", "FAKE__MEMORY_MB": "4096", "QUOTA__CORES": "-1", "QUOTA__INSTANCES": "-1"}
        environment = {**os.environ, **{f"KILONOVA_{name}": value for name, value in shape.items()}}
        with log.open("wb") as file:
            command = [KILONOVA, "up", "--port", "0", "--state", str(self.state), "--hosts", "2", *flags]
            self.process = subprocess.Popen(command, stdout=file, stderr=file, env=environment)
        until = time.monotonic() + SECONDS
        while not log.read_text().startswith("ready ") and time.monotonic() < until and self.process.poll() is None:
            time.sleep(0.02)
        assert log.read_text().startswith("ready "), log.read_text()
        url, token = (self.state / "url").read_text(), (self.state / "token").read_text()
        self.http = httpx.Client(base_url=url, headers={"x-auth-token": token}, timeout=SECONDS)

    def stop(self) -> None:
        """End it in good order."""
        self.http.close()
        if self.process is not None:
            self.process.terminate()
            assert self.process.wait(SECONDS) == 0
            self.process = None

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of `kilonova` to its end."""
        return subprocess.run([KILONOVA, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """The JSON of an answer that must have this status."""
        answer = self.http.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def flavor(self, vcpus: int) -> str:
        """A new flavor's id."""
        flavor = {"name": f"v{vcpus}-{time.monotonic_ns()}", "vcpus": vcpus, "ram": 64, "disk": 1}
        return str(self.ask("POST", "/compute/v2.1/flavors", {"flavor": flavor})["flavor"]["id"])

    def image(self) -> str:
        """A new image's id, its data uploaded."""
        made = self.ask("POST", "/image/v2/images", {"name": "i", "disk_format": "raw", "container_format": "bare"}, 201)
        answer = self.http.put(
            f"/image/v2/images/{made['id']}/file", content=b"x", headers={"content-type": "application/octet-stream"}
        )
        assert answer.status_code == 204, answer.text
        return str(made["id"])

    def server(self, vcpus: int, name: str = "s") -> str:
        """A new server's id, once it is ACTIVE or ERROR."""
        body = {"server": {"name": name, "flavorRef": self.flavor(vcpus), "imageRef": self.image(), "networks": "none"}}
        answer = self.http.post("/compute/v2.1/servers", json=body, headers={"openstack-api-version": "compute 2.37"})
        assert answer.status_code == 202, answer.text
        server_id = str(answer.json()["server"]["id"])
        until = time.monotonic() + SECONDS
        while self.show(server_id)["status"] == "BUILD" and time.monotonic() < until:
            time.sleep(0.02)
        return server_id

    def show(self, server_id: str) -> dict[str, Any]:
        """The server as administrators see it."""
        found: dict[str, Any] = self.ask("GET", f"/compute/v2.1/servers/{server_id}")["server"]
        return found


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("cloud") / "state")
    running.start("--chaos")
    yield running
    running.stop()
