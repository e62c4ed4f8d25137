"""The drivers' contract kept by a hypervisor that only remembers what it was told."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kilonova.drivers.contract import DriverError, Guest, HostReport
from kilonova.drivers.fake.console import render_console
from kilonova.drivers.fake.guests import GuestStore, HeldGuest, with_event
from kilonova.drivers.fake.shape import FakeShape, describe_host


class FakeDriver:
    """One fake host. With a `state_path` its guests survive the process, as a real hypervisor's do."""

    def __init__(self, host: str, shape: FakeShape | None = None, state_path: Path | None = None) -> None:
        self._host = host
        self._shape = shape or FakeShape()
        self._store = GuestStore(state_path)

    def close(self) -> None:
        """Let go of the file of guests; the guests stay in it."""
        self._store.close()

    async def report(self) -> HostReport:
        """The host as its shape says."""
        return describe_host(self._host, self._shape)

    async def build(self, guest: Guest) -> None:
        """Keep the guest, running. One that was built otherwise for the same server is built anew."""
        # A password is for the guest alone: it is in no file of the host.
        guest = replace(guest, admin_password="")
        held = self._store.find(guest.server)
        if held is not None and held.guest == guest:
            return
        if self._shape.build_seconds:
            await asyncio.sleep(self._shape.build_seconds)
        self._store.put(HeldGuest(guest, "running", ("boot",)))

    async def destroy(self, server: str) -> None:
        """Forget the guest; absent is success."""
        self._store.remove(server)

    async def start(self, server: str) -> None:
        """Switch on; a running guest is success."""
        held = self._get(server)
        if held.power != "running":
            self._store.put(with_event(held, "running", "boot"))

    async def stop(self, server: str) -> None:
        """Switch off; a stopped guest is success."""
        held = self._get(server)
        if held.power != "shutdown":
            self._store.put(with_event(held, "shutdown", "halt"))

    async def reboot(self, server: str, *, hard: bool) -> None:
        """Restart; a hard reboot also starts a stopped guest, a soft one needs a running one."""
        held = self._get(server)
        if held.power == "running":
            held = with_event(held, "shutdown", "halt")
        elif not hard:
            raise DriverError(f"Server {server} is not running, so it cannot be rebooted softly.")
        self._store.put(with_event(held, "running", "boot"))

    async def console_output(self, server: str, lines: int | None) -> str:
        """The last `lines` of the console, all for None."""
        text = render_console(self._get(server))
        if lines is None:
            return text
        return "".join(text.splitlines(keepends=True)[-lines:]) if lines > 0 else ""

    async def guests(self) -> Mapping[str, str]:
        """Every guest that is here: server id -> power state."""
        return self._store.powers()

    def _get(self, server: str) -> HeldGuest:
        held = self._store.find(server)
        if held is None:
            raise DriverError(f"Server {server} has no guest on host {self._host}.")
        return held
