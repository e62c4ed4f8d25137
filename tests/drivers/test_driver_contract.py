"""What every driver does; parametrised over the drivers that can run here."""

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import os_resource_classes
import os_traits
import pytest

from kilonova.drivers.contract import Driver, DriverError, Guest, GuestPort
from kilonova.drivers.fake import FakeDriver

PORT = GuestPort("port-1", "net-1", "fa:16:3e:00:00:01", ({"subnet_id": "sub-1", "ip_address": "10.0.0.5"},))
GUEST = Guest("server-1", "web", vcpus=2, memory_mb=512, disk_gb=3, image_id="image-1", hostname="web", ports=(PORT,))


@pytest.fixture(params=["fake in memory", "fake on file"])
async def driver(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Driver]:
    made = FakeDriver("host-1", state_path=tmp_path / "guests" if request.param == "fake on file" else None)
    yield made
    made.close()


async def test_a_built_guest_runs(driver: Driver) -> None:
    await driver.build(GUEST)
    assert await driver.guests() == {"server-1": "running"}


async def test_every_call_may_be_repeated(driver: Driver) -> None:
    await driver.build(GUEST)
    await driver.build(GUEST)
    for _ in range(2):
        await driver.stop("server-1")
    assert await driver.guests() == {"server-1": "shutdown"}
    for _ in range(2):
        await driver.start("server-1")
    assert await driver.guests() == {"server-1": "running"}
    for _ in range(2):
        await driver.destroy("server-1")
    assert await driver.guests() == {}


async def test_a_guest_that_is_asked_otherwise_is_made_anew(driver: Driver) -> None:
    await driver.build(GUEST)
    await driver.stop("server-1")
    await driver.build(replace(GUEST, vcpus=4))
    assert await driver.guests() == {"server-1": "running"}
    assert "4 CPUs" in await driver.console_output("server-1", None)


async def test_only_a_hard_reboot_starts_a_stopped_guest(driver: Driver) -> None:
    await driver.build(GUEST)
    await driver.reboot("server-1", hard=False)
    await driver.stop("server-1")
    with pytest.raises(DriverError):
        await driver.reboot("server-1", hard=False)
    await driver.reboot("server-1", hard=True)
    assert await driver.guests() == {"server-1": "running"}


@pytest.mark.parametrize("call", ["start", "stop"])
async def test_an_unknown_guest_is_an_error_that_names_it(driver: Driver, call: str) -> None:
    with pytest.raises(DriverError, match="server-9"):
        await getattr(driver, call)("server-9")
    with pytest.raises(DriverError, match="server-9"):
        await driver.reboot("server-9", hard=True)
    with pytest.raises(DriverError, match="server-9"):
        await driver.console_output("server-9", None)


async def test_the_console_shows_what_the_guest_was_told(driver: Driver) -> None:
    user_data = base64.b64encode(b"#!/bin/sh\necho hello\n").decode()
    await driver.build(replace(GUEST, user_data=user_data, metadata={"role": "web"}, key_data="ssh-ed25519 AAAA me"))
    output = await driver.console_output("server-1", None)
    for shown in ("server-1", "10.0.0.5", PORT.mac_address, "role=web", "echo hello", "ssh-ed25519", "web login:"):
        assert shown in output
    last = await driver.console_output("server-1", 2)
    assert output.endswith(last)
    assert len(last.splitlines()) == 2
    assert await driver.console_output("server-1", 0) == ""


async def test_the_report_is_a_tree_of_known_classes_and_traits(driver: Driver) -> None:
    report = await driver.report()
    root, *children = report.providers
    assert root.name == "host-1"
    assert root.parent == ""
    names = {provider.name for provider in report.providers}
    assert all(child.parent in names for child in children)
    for provider in report.providers:
        assert set(provider.traits) <= set(os_traits.get_traits())
        assert set(provider.inventories) <= set(os_resource_classes.STANDARDS)
        for inventory in provider.inventories.values():
            assert inventory.keys() == {
                "total",
                "reserved",
                "min_unit",
                "max_unit",
                "step_size",
                "allocation_ratio",
            }
    assert report.hypervisor.keys() >= {"type", "version", "arch", "cpu_info", "hostname", "host_ip"}
