"""The bus of a cloud that is one process: delivery on the running loop, by dictionary.

It behaves as the broker does for those who use it, so that the same parts run on either.
"""

import asyncio
import itertools
import re
from dataclasses import dataclass

from kilonova.bus import Handler, Message
from kilonova.bus.tasks import Tasks
from kilonova.domain import errors

ROUTES_KEPT = 10_000
"""How many subjects' recipients are remembered; names that come only once must not fill the memory."""


@dataclass(slots=True, eq=False)
class _Subscription:
    """One listener; `matches` is None for a pattern that is a plain subject."""

    bus: "InProcessBus"
    pattern: str
    handler: Handler
    queue: str
    task_name: str
    matches: re.Pattern[str] | None

    async def cancel(self) -> None:
        self.bus.remove(self)


@dataclass(frozen=True, slots=True)
class _Route:
    """Who hears a subject: everybody in `each`, and one of each group."""

    each: tuple[_Subscription, ...]
    groups: tuple[tuple[_Subscription, ...], ...]


class InProcessBus:
    """A Bus for the parts of one process and one event loop."""

    def __init__(self) -> None:
        self._exact: dict[str, list[_Subscription]] = {}
        self._patterns: list[_Subscription] = []
        self._routes: dict[str, _Route] = {}
        self._tasks = Tasks()
        self._turn = itertools.count()

    async def publish(self, subject: str, data: bytes) -> None:
        """Send to whoever listens; returns before anybody has handled it."""
        message = Message(subject, data)
        for subscription in self._recipients(subject):
            self._tasks.start(_handle(subscription.handler, message, None), subscription.task_name)

    async def request(self, subject: str, data: bytes, seconds: float) -> bytes:
        """Ask and wait for the first answer. Raises errors.Unavailable, at once when nobody listens."""
        recipients = self._recipients(subject)
        if not recipients:
            raise errors.Unavailable(f"Nobody listens on {subject}.")
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[bytes] = loop.create_future()
        message = Message(subject, data)
        for subscription in recipients:
            self._tasks.start(_handle(subscription.handler, message, reply), subscription.task_name)
        # A timer instead of wait_for: a requester that gives up must not cancel the handler's work.
        timer = loop.call_later(seconds, _expire, reply, subject, seconds)
        try:
            return await reply
        finally:
            timer.cancel()

    async def subscribe(self, pattern: str, handler: Handler, queue: str = "") -> _Subscription:
        """Call `handler` for each message, each in a task of its own; of one `queue` only one subscriber is called."""
        subscription = _Subscription(self, pattern, handler, queue, f"bus:{pattern}", _compile(pattern))
        if subscription.matches is None:
            self._exact.setdefault(pattern, []).append(subscription)
        else:
            self._patterns.append(subscription)
        self._routes.clear()
        return subscription

    async def close(self) -> None:
        """End all subscriptions and the handlers that still run."""
        self._exact.clear()
        self._patterns.clear()
        self._routes.clear()
        await self._tasks.end()

    def remove(self, subscription: _Subscription) -> None:
        """Forget a subscription; one that is gone already is no error."""
        listeners = self._patterns if subscription.matches else self._exact.get(subscription.pattern, [])
        if subscription in listeners:
            listeners.remove(subscription)
            self._routes.clear()
        if not listeners:
            self._exact.pop(subscription.pattern, None)

    def _recipients(self, subject: str) -> tuple[_Subscription, ...]:
        route = self._routes.get(subject) or self._find_route(subject)
        if not route.groups:
            return route.each
        turn = next(self._turn)
        return route.each + tuple(group[turn % len(group)] for group in route.groups)

    def _find_route(self, subject: str) -> _Route:
        listeners = self._exact.get(subject, []) + [
            entry for entry in self._patterns if entry.matches and entry.matches.fullmatch(subject)
        ]
        groups: dict[str, list[_Subscription]] = {}
        for entry in listeners:
            if entry.queue:
                groups.setdefault(entry.queue, []).append(entry)
        route = _Route(tuple(entry for entry in listeners if not entry.queue), tuple(tuple(group) for group in groups.values()))
        if len(self._routes) >= ROUTES_KEPT:
            self._routes.clear()
        self._routes[subject] = route
        return route


async def _handle(handler: Handler, message: Message, reply: asyncio.Future[bytes] | None) -> None:
    answer = await handler(message)
    if reply is not None and answer is not None and not reply.done():
        reply.set_result(answer)


def _expire(reply: asyncio.Future[bytes], subject: str, seconds: float) -> None:
    if not reply.done():
        reply.set_exception(errors.Unavailable(f"No answer on {subject} in {seconds:g} seconds."))


def _compile(pattern: str) -> re.Pattern[str] | None:
    words = pattern.split(".")
    if "*" not in words and ">" not in words:
        return None
    wild = {"*": r"[^.]+", ">": r".+"}
    return re.compile(r"\.".join(wild.get(word) or re.escape(word) for word in words))
