"""Time and new ids. Times are integers everywhere: microseconds since the epoch, UTC."""

import os
import time
from datetime import UTC, datetime
from uuid import UUID, uuid4


def now() -> int:
    """This process's time in microseconds. Leases are timed by the database's clock instead."""
    return time.time_ns() // 1000


def new_uuid() -> str:
    """A random id, as the community's APIs show them."""
    return str(uuid4())


def new_ordered_id() -> str:
    """An id whose text sorts by the time it was made (to the millisecond), so that lock order is age (RFC 9562, version 7)."""
    milliseconds = time.time_ns() // 1_000_000
    tail = int.from_bytes(os.urandom(10))
    value = (milliseconds << 80) | (0x7 << 76) | ((tail >> 68 & 0xFFF) << 64) | (0x2 << 62) | (tail & (2**62 - 1))
    return str(UUID(int=value))


def iso_z(moment: int | None) -> str | None:
    """`2026-11-30T13:00:00Z`, the form of servers and images; None stays None."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_micro(moment: int | None) -> str | None:
    """`2026-11-30T13:00:00.000000`, the form without a zone that most other resources of the compute API have."""
    if moment is None:
        return None
    return (
        datetime.fromtimestamp(moment // 1_000_000, UTC)
        .replace(tzinfo=None, microsecond=moment % 1_000_000)
        .isoformat(timespec="microseconds")
    )
