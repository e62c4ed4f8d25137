"""The bus over a NATS broker: core messages only, nothing stored, connected again for ever.

It knows the broker's client library and hides it; who speaks on which subject is not its business.
"""

import asyncio
import itertools
import uuid
from dataclasses import dataclass
from typing import Final

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as NatsSubscription
from nats.errors import Error as NatsError
from nats.errors import MaxPayloadError

from kilonova.bus import Handler, Message
from kilonova.bus.tasks import Tasks
from kilonova.domain import errors

INBOX: Final = "_INBOX"
RECONNECT_SECONDS: Final = 0.5
PING_SECONDS: Final = 10
"""A connection that is dead without saying so is noticed after three of these."""
SETTLE_SECONDS: Final = 2
NO_RESPONDERS: Final = "503"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Login:
    """All that is needed to connect, and to do it again."""

    url: str
    name: str
    user: str | None
    password: str | None


@dataclass(slots=True, eq=False)
class _Subscription:
    """One listener. It outlives the connection: `inner` is what the present client holds for it."""

    bus: "NatsBus"
    pattern: str
    handler: Handler
    queue: str
    task_name: str
    inner: NatsSubscription | None = None

    async def cancel(self) -> None:
        await self.bus.remove(self)

    async def deliver(self, msg: Msg) -> None:
        # A task for each message: the client calls one subscription's messages one after another.
        self.bus.tasks.start(self.bus.handle(self.handler, msg), self.task_name)


class NatsBus:
    """A Bus on a broker. While there is no connection, what is published is lost and requests fail at once."""

    def __init__(self, login: _Login, inbox_prefix: str) -> None:
        self.tasks = Tasks()
        self._login = login
        self._inbox = f"{inbox_prefix}.{uuid.uuid4().hex}"
        self._client = Client()
        self._subscriptions: list[_Subscription] = []
        self._replies: dict[str, asyncio.Future[bytes]] = {}
        self._numbers = itertools.count()
        self._closing = False

    @classmethod
    async def connect(
        cls,
        url: str,
        name: str,
        user: str | None = None,
        password: str | None = None,
        inbox_prefix: str | None = None,
    ) -> "NatsBus":
        """A connected bus; waits for ever for a broker that is not there yet.

        `url` is nats://host:port, several joined by commas; `name` is shown in the broker's monitoring. A host whose
        permissions are narrow gives its own `inbox_prefix`.
        """
        bus = cls(_Login(url, name, user, password), inbox_prefix or INBOX)
        await bus._open()
        return bus

    async def publish(self, subject: str, data: bytes) -> None:
        """Send to whoever listens; lost when the broker cannot be reached. Raises errors.Unavailable when too large."""
        if self._client.is_connected:
            await self._send(subject, data, "")

    async def request(self, subject: str, data: bytes, seconds: float) -> bytes:
        """Ask and wait for the first answer. Raises errors.Unavailable: at once without listeners or a connection."""
        if not self._client.is_connected:
            raise errors.Unavailable("The message broker cannot be reached.")
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[bytes] = loop.create_future()
        number = str(next(self._numbers))
        self._replies[number] = reply
        timer = loop.call_later(seconds, _fail, reply, f"No answer on {subject} in {seconds:g} seconds.")
        try:
            await self._send(subject, data, f"{self._inbox}.{number}")
            return await reply
        finally:
            timer.cancel()
            self._replies.pop(number, None)

    async def subscribe(self, pattern: str, handler: Handler, queue: str = "") -> _Subscription:
        """Call `handler` for each message; when this returns the broker knows of it, if it can be reached."""
        subscription = _Subscription(self, pattern, handler, queue, f"bus:{pattern}")
        self._subscriptions.append(subscription)
        await self._bind(subscription)
        await self._settle()
        return subscription

    async def remove(self, subscription: _Subscription) -> None:
        """Forget a subscription; one that is gone already is no error."""
        if subscription not in self._subscriptions:
            return
        self._subscriptions.remove(subscription)
        try:
            if subscription.inner is not None:
                await subscription.inner.unsubscribe()
        except NatsError as error:
            log.debug("bus_unsubscribe_failed", pattern=subscription.pattern, error=str(error))

    async def close(self) -> None:
        """End all subscriptions, the handlers that still run and the connection."""
        self._closing = True
        self._subscriptions.clear()
        await self.tasks.end()
        await self._settle()
        await self._client.close()
        self._fail_replies("The connection to the message broker was closed.")

    async def handle(self, handler: Handler, msg: Msg) -> None:
        """Run a handler on one message and send what it answers to whoever asked."""
        answer = await handler(Message(msg.subject, msg.data))
        if answer is not None and msg.reply and self._client.is_connected:
            await self._send(msg.reply, answer, "")

    async def _open(self) -> None:
        self._client = Client()
        await self._client.connect(
            self._login.url.split(","),
            name=self._login.name,
            user=self._login.user,
            password=self._login.password,
            max_reconnect_attempts=-1,
            reconnect_time_wait=RECONNECT_SECONDS,  # type: ignore[arg-type]
            ping_interval=PING_SECONDS,
            error_cb=self._on_error,
            disconnected_cb=self._on_disconnect,
            reconnected_cb=self._on_reconnect,
            closed_cb=self._on_closed,
        )
        await self._client.subscribe(f"{self._inbox}.*", cb=self._on_reply)
        for subscription in self._subscriptions:
            await self._bind(subscription)
        await self._settle()

    async def _bind(self, subscription: _Subscription) -> None:
        if not self._client.is_closed:
            subscription.inner = await self._client.subscribe(
                subscription.pattern, queue=subscription.queue, cb=subscription.deliver
            )

    async def _settle(self) -> None:
        """Wait until the broker has taken all that was sent; not at all while it cannot be reached."""
        try:
            # Twice: the library writes its ping ahead of what it still gathers, so only the second one comes after it.
            for _ in range(2):
                if self._client.is_connected:
                    await self._client.flush(timeout=SETTLE_SECONDS)
        except NatsError as error:
            log.warning("bus_flush_failed", error=str(error))

    async def _send(self, subject: str, data: bytes, reply: str) -> None:
        try:
            await self._client.publish(subject, data, reply=reply)
        except MaxPayloadError:
            raise errors.Unavailable(f"A message of {len(data)} bytes is more than the broker takes.") from None
        except NatsError as error:
            raise errors.Unavailable(f"The message broker cannot be reached: {error}") from None

    async def _on_reply(self, msg: Msg) -> None:
        number = msg.subject[len(self._inbox) + 1 :]
        reply = self._replies.get(number)
        if reply is None or reply.done():
            return
        if msg.headers and msg.headers.get("Status") == NO_RESPONDERS:
            reply.set_exception(errors.Unavailable("Nobody listens at the other end."))
        else:
            reply.set_result(msg.data)

    async def _on_error(self, error: Exception) -> None:
        log.warning("bus_error", name=self._login.name, error=str(error) or type(error).__name__)

    async def _on_disconnect(self) -> None:
        self._fail_replies("The connection to the message broker was lost.")

    async def _on_reconnect(self) -> None:
        log.info("bus_reconnected", name=self._login.name)

    async def _on_closed(self) -> None:
        # The library closes for good on some of the broker's complaints; only our own close() may end it.
        if not self._closing:
            log.warning("bus_closed_by_broker", name=self._login.name)
            self.tasks.start(self._open(), "bus:reopen")

    def _fail_replies(self, sentence: str) -> None:
        for reply in self._replies.values():
            _fail(reply, sentence)


def _fail(reply: asyncio.Future[bytes], sentence: str) -> None:
    if not reply.done():
        reply.set_exception(errors.Unavailable(sentence))
