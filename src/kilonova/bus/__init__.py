"""The wire between processes: subjects, requests with a limit, and nothing that must not be lost.

What travels is JSON in bytes. Losing any message is allowed: every sender can send again, every receiver knows what it did.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """What a subscriber gets: the full subject that it was sent to, and the bytes."""

    subject: str
    data: bytes


Handler = Callable[[Message], Awaitable[bytes | None]]
"""Takes one message; the bytes it returns answer a request. It must not raise: an error is its own to tell."""


class Subscription(Protocol):
    """One pattern that somebody listens to, until it is cancelled."""

    async def cancel(self) -> None:
        """Stop listening; messages under way may still be handled."""
        ...


class Bus(Protocol):
    """Publish and ask by subject. Subjects are dotted words; patterns take `*` for a word and `>` for the rest."""

    async def publish(self, subject: str, data: bytes) -> None:
        """Send to whoever listens, which may be nobody."""
        ...

    async def request(self, subject: str, data: bytes, seconds: float) -> bytes:
        """Ask one listener and wait for its answer. Raises errors.Unavailable when none answers in `seconds`."""
        ...

    async def subscribe(self, pattern: str, handler: Handler, queue: str = "") -> Subscription:
        """Call `handler` for each message; of subscribers with the same `queue` only one is called.

        Messages are handled concurrently: a slow handler does not hold up the next message.
        """
        ...

    async def close(self) -> None:
        """End all subscriptions and the connection."""
        ...


def word(name: str) -> str:
    """`name` as one word of a subject: bytes other than letters, digits and "-" become "_" and two hex digits."""
    return "".join(
        chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or byte == 0x2D) else f"_{byte:02x}" for byte in name.encode()
    )
