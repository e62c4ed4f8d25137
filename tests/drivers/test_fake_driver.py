"""What is the fake's own: shapes, and guests that outlive its process."""

from pathlib import Path

from kilonova.drivers.contract import Guest
from kilonova.drivers.fake import FakeDriver, FakeShape


def guest(number: int) -> Guest:
    return Guest(f"server-{number}", "web", vcpus=1, memory_mb=512, disk_gb=1, image_id="", metadata={"a": "b"})


async def test_numa_cells_hold_processors_and_memory_and_the_root_the_disk() -> None:
    report = await FakeDriver("h", FakeShape(vcpus=5, memory_mb=1000, numa_cells=2, cpu_ratio=4.0)).report()
    root, *cells = report.providers
    assert set(root.inventories) == {"DISK_GB"}
    assert [cell.name for cell in cells] == ["h_NUMA0", "h_NUMA1"]
    assert [cell.inventories["VCPU"]["total"] for cell in cells] == [3, 2]
    assert all(cell.traits == ("HW_NUMA_ROOT",) and cell.inventories["VCPU"]["allocation_ratio"] == 4 for cell in cells)


async def test_devices_are_children_of_the_root() -> None:
    shape = FakeShape(pci_devices=(("CUSTOM_GPU", 4, ("CUSTOM_FAST",)), ("VGPU", 2, ())), traits=("CUSTOM_RACK_1",))
    root, fast, slow = (await FakeDriver("h", shape).report()).providers
    assert "CUSTOM_RACK_1" in root.traits
    assert (fast.parent, fast.inventories["CUSTOM_GPU"]["total"], fast.traits) == ("h", 4, ("CUSTOM_FAST",))
    assert slow.name != fast.name


async def test_guests_outlive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "host" / "guests"
    before = FakeDriver("h", state_path=path)
    for number in range(3):
        await before.build(guest(number))
    await before.stop("server-1")
    await before.destroy("server-2")
    console = await before.console_output("server-1", None)

    after = FakeDriver("h", state_path=path)
    assert await after.guests() == {"server-0": "running", "server-1": "shutdown"}
    assert await after.console_output("server-1", None) == console
    before.close()
    after.close()


async def test_a_line_cut_short_by_a_kill_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "guests"
    before = FakeDriver("h", state_path=path)
    await before.build(guest(1))
    await before.build(guest(2))
    before.close()
    path.write_bytes(path.read_bytes()[:-20])

    after = FakeDriver("h", state_path=path)
    await after.build(guest(3))
    after.close()
    again = FakeDriver("h", state_path=path)
    assert await again.guests() == {"server-1": "running", "server-3": "running"}
    again.close()


async def test_the_log_of_guests_does_not_grow_without_end(tmp_path: Path) -> None:
    path = tmp_path / "guests"
    driver = FakeDriver("h", state_path=path)
    for _ in range(1500):
        await driver.build(guest(1))
        await driver.destroy("server-1")
    assert len(path.read_bytes().splitlines()) < 1100
    driver.close()
