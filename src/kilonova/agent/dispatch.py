"""The one table from a command's name to the driver's call, and from a read's name to its answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from kilonova.bus.messages import JSON, Command
from kilonova.drivers.contract import Driver, DriverError, Guest, GuestPort

GUEST_FIELDS: Final = frozenset(entry.name for entry in fields(Guest))
NEEDED_FIELDS: Final = tuple(
    entry.name for entry in fields(Guest) if entry.default is MISSING and entry.default_factory is MISSING
)
PORT_FIELDS: Final = frozenset(entry.name for entry in fields(GuestPort))


def guest_from(content: JSON) -> Guest:
    """A guest from a command's input, whose keys are the guest's fields; others are ignored.

    Raises DriverError for one that is missing.
    """
    for name in NEEDED_FIELDS:
        if name not in content:
            raise DriverError(f"The host was not told the guest's {name}.")
    known = {name: value for name, value in content.items() if name in GUEST_FIELDS}
    known["ports"] = tuple(_port_from(port) for port in content.get("ports") or ())
    return Guest(**known)


def _port_from(content: JSON) -> GuestPort:
    known: dict[str, Any] = {name: value for name, value in content.items() if name in PORT_FIELDS}
    known["fixed_ips"] = tuple(content.get("fixed_ips") or ())
    return GuestPort(**known)


async def build(driver: Driver, command: Command) -> JSON:
    """Make and start a guest; the input is the guest."""
    await driver.build(guest_from({"server": command.server, **command.input}))
    return {"power_state": "running"}


async def destroy(driver: Driver, command: Command) -> JSON:
    """Remove a guest."""
    await driver.destroy(command.server)
    return {}


async def start(driver: Driver, command: Command) -> JSON:
    """Switch a guest on."""
    await driver.start(command.server)
    return {"power_state": "running"}


async def stop(driver: Driver, command: Command) -> JSON:
    """Switch a guest off."""
    await driver.stop(command.server)
    return {"power_state": "shutdown"}


async def reboot(driver: Driver, command: Command) -> JSON:
    """Restart a guest; the input says whether `hard`."""
    await driver.reboot(command.server, hard=bool(command.input.get("hard", False)))
    return {"power_state": "running"}


COMMANDS: Final[Mapping[str, Callable[[Driver, Command], Awaitable[JSON]]]] = {
    "build": build,
    "destroy": destroy,
    "start": start,
    "stop": stop,
    "reboot": reboot,
}

CHAOS_POINTS: Final = tuple(f"agent.{name}" for name in COMMANDS)


async def read_console(driver: Driver, question: JSON) -> JSON:
    """The last `lines` of a server's console, all without it."""
    return {"output": await driver.console_output(str(question["server"]), question.get("lines"))}


async def read_guests(driver: Driver, question: JSON) -> JSON:
    """Every guest and its power state."""
    return {"guests": dict(await driver.guests())}


READS: Final[Mapping[str, Callable[[Driver, JSON], Awaitable[JSON]]]] = {
    "console": read_console,
    "guests": read_guests,
}
