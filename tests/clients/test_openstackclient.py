"""The community's command line, unpatched: the commands that a newcomer tries first."""

import json
from pathlib import Path
from typing import Any

import pytest
from started_cloud import StartedCloud


class Terminal:
    """Runs commands that must succeed."""

    def __init__(self, cloud: StartedCloud) -> None:
        self._cloud = cloud

    def run(self, command: str, *more: str) -> str:
        outcome = self._cloud.openstack(*command.split(), *more)
        assert outcome.code == 0, f"{command}: {outcome.errors}\n{self._cloud.log_tail()}"
        return outcome.output

    def read(self, command: str, *more: str) -> Any:
        return json.loads(self.run(command, *more, "-f", "json"))


@pytest.fixture(scope="module")
def terminal(cloud: StartedCloud) -> Terminal:
    return Terminal(cloud)


@pytest.fixture(scope="module")
def image(terminal: Terminal, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("images") / "disk.raw"
    Path(file).write_bytes(b"\0" * 4096)
    created = terminal.read("image create --disk-format raw --container-format bare cli-image --file", str(file))
    assert created["status"] == "active"
    return "cli-image"


def test_a_server_on_a_network_lives_from_create_to_delete(terminal: Terminal, image: str) -> None:
    terminal.run("flavor create --vcpus 1 --ram 512 --disk 1 cli-small")
    terminal.run("network create cli-net")
    terminal.run("subnet create --network cli-net --subnet-range 10.9.0.0/24 cli-subnet")
    made = terminal.read(f"server create --image {image} --flavor cli-small --network cli-net --wait cli-web")
    assert made["status"] == "ACTIVE"
    assert made["addresses"]["cli-net"][0].startswith("10.9.0.")
    [listed] = terminal.read("server list --name cli-web")
    assert (listed["Status"], listed["Image"], listed["Flavor"]) == ("ACTIVE", image, "cli-small")
    assert "login:" in terminal.run("console log show cli-web")
    [event] = terminal.read("server event list cli-web")
    assert event["Action"] == "create"
    [provider] = terminal.read("resource provider list --name", made["OS-EXT-SRV-ATTR:hypervisor_hostname"])
    used = terminal.read("resource provider usage show", provider["uuid"])
    assert {entry["resource_class"]: entry["usage"] for entry in used}["MEMORY_MB"] >= 512
    terminal.run("server delete --wait cli-web")
    assert terminal.read("server list --name cli-web") == []


def test_a_server_that_fits_nowhere_says_why(terminal: Terminal, image: str) -> None:
    terminal.run("flavor create --vcpus 1 --ram 512 --disk 8192 cli-huge")
    terminal.run(f"server create --image {image} --flavor cli-huge --no-network cli-nowhere")
    shown = terminal.read("server show cli-nowhere")
    assert shown["status"] == "ERROR"
    assert shown["fault"]["message"].startswith("No valid host was found. 3 hosts were looked at: 3 ")
    assert "8192 asked, the most free is 4096" in shown["fault"]["message"]
    assert "host-1" in shown["fault"]["details"]
