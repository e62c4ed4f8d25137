"""What the serial console of a fake guest shows: the log of a small Linux that boots, is told things and halts."""

import base64
import binascii
from collections.abc import Iterator

from kilonova.drivers.contract import Guest
from kilonova.drivers.fake.guests import HeldGuest


def render_console(held: HeldGuest) -> str:
    """The whole console since the guest was built; the same guest gives the same text."""
    lines: list[str] = []
    for event in held.history:
        lines.extend(_boot(held.guest) if event == "boot" else _halt())
    return "".join(f"{line}\n" for line in lines)


def _boot(guest: Guest) -> Iterator[str]:
    """One boot; lines begin with seconds since power-on as the kernel prints them."""
    clock = 0.0

    def stamp(text: str, step: float = 0.137) -> str:
        nonlocal clock
        clock += step
        return f"[{clock:12.6f}] {text}"

    yield stamp("Linux version 6.1.0-kilonova (fake) #1 SMP PREEMPT_DYNAMIC", 0.0)
    yield stamp("Command line: root=/dev/vda1 ro console=tty1 console=ttyS0", 0.0)
    yield stamp(f"smp: Brought up 1 node, {guest.vcpus} CPUs")
    yield stamp(f"Memory: {guest.memory_mb * 1024}K/{guest.memory_mb * 1024}K available")
    yield stamp(f"virtio_blk virtio1: [vda] {guest.disk_gb * 2_097_152} 512-byte logical blocks ({guest.disk_gb} GiB)")
    for number, port in enumerate(guest.ports):
        yield stamp(f"virtio_net virtio{2 + number} eth{number}: link up, address {port.mac_address}")
    yield stamp("EXT4-fs (vda1): mounted filesystem with ordered data mode")
    yield stamp("systemd[1]: Reached target Multi-User System.", 1.9)
    source = "ConfigDrive" if guest.config_drive else "OpenStack metadata service"
    yield f"cloud-init: Datasource {source}, instance-id {guest.server}"
    for number, port in enumerate(guest.ports):
        for address in port.fixed_ips:
            yield f"cloud-init: eth{number} {port.mac_address} {address.get('ip_address', '')}"
    for key, value in sorted(guest.metadata.items()):
        yield f"cloud-init: metadata {key}={value}"
    if guest.key_data:
        yield f"cloud-init: authorized key {guest.key_data.strip()}"
    for line in _user_data(guest.user_data):
        yield f"cloud-init: user-data: {line}"
    yield ""
    yield f"{guest.hostname or guest.name} login: "


def _halt() -> Iterator[str]:
    yield "systemd[1]: Reached target System Power Off."
    yield "reboot: Power down"


def _user_data(encoded: str) -> list[str]:
    """The lines of user data, which the API carries in base64; what is not text is only counted."""
    try:
        content = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return encoded.splitlines()
    try:
        return content.decode().splitlines()
    except UnicodeDecodeError:
        return [f"({len(content)} bytes)"]
