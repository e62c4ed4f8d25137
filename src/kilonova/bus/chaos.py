"""Faults on demand: rules that make named points of the program fail, wait or die.

Tests and outsiders use the same door. Off unless a process was started for it; what a point does is not known here.
"""

import asyncio
import os
import signal
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from kilonova.bus import Bus, Message
from kilonova.domain import errors

RULES_SUBJECT: Final = "chaos.rules"
FIRED_SUBJECT: Final = "chaos.fired"
SYNC_SUBJECT: Final = "chaos.sync"
ASK_SECONDS: Final = 1.0

ACTIONS: Final = ("fail", "delay", "hold", "crash")
FIELDS: Final = frozenset({"id", "point", "when", "host", "server", "action", "seconds", "times", "cell", "fired"})


class ChaosFailure(Exception):
    """A rule made this point fail."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One fault: where (`point`, `when`, and only for `host` or `server` where given), what, how often.

    `cell` is set only with the action `cut`, which makes that cell unreachable. `times` None is without end.
    """

    id: str
    action: str
    point: str = ""
    when: str = ""
    host: str = ""
    server: str = ""
    seconds: float = 0.0
    times: int | None = None
    cell: int | None = None
    fired: int = 0

    def as_json(self) -> dict[str, Any]:
        """The rule as it was asked for, with its id and how often it fired."""
        given = {name: getattr(self, name) for name in ("point", "when", "host", "server", "seconds", "times")}
        content: dict[str, Any] = {"id": self.id, "action": self.action, "fired": self.fired}
        if self.cell is not None:
            return content | {"cell": self.cell}
        return content | {name: value for name, value in given.items() if value not in ("", None, 0.0)}

    def is_for(self, host: str, server: str) -> bool:
        """Whether it means this host and this server, at its point."""
        return (not self.host or self.host == host) and (not self.server or self.server == server)

    @property
    def is_spent(self) -> bool:
        """Whether it has fired as often as it may."""
        return self.times is not None and self.fired >= self.times


def parse_rule(content: Mapping[str, Any]) -> Rule:
    """A rule from JSON; it gets an id if it has none. Raises errors.BadRequest naming the field."""
    for name in content:
        if name not in FIELDS:
            raise errors.BadRequest(f"{name}: a rule has no such field.")
    number = str(content.get("id") or uuid.uuid4().hex[:12])
    fired = int(content.get("fired", 0))
    action = content.get("action")
    if action == "cut":
        return Rule(id=number, action="cut", cell=_whole(content, "cell", 0), fired=fired)
    if action not in ACTIONS:
        raise errors.BadRequest(f"action: must be one of {', '.join(ACTIONS)}, or cut with a cell.")
    if content.get("when") not in ("before", "after"):
        raise errors.BadRequest("when: must be before or after.")
    seconds = content.get("seconds", 0.0)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
        raise errors.BadRequest("seconds: must be a number that is not negative.")
    words = {name: content.get(name, "") for name in ("point", "when", "host", "server")}
    for name, value in words.items():
        if not isinstance(value, str):
            raise errors.BadRequest(f"{name}: must be a string.")
    if not words["point"]:
        raise errors.BadRequest("point: is missing.")
    times = None if content.get("times") is None else _whole(content, "times", 1)
    return Rule(id=number, action=action, seconds=float(seconds), times=times, fired=fired, **words)


def _whole(content: Mapping[str, Any], name: str, least: int) -> int:
    value = content.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise errors.BadRequest(f"{name}: must be a whole number of at least {least}.")
    return value


class ChaosRules:
    """The rules of one process, kept the same in all processes that are attached to one bus.

    Disabled, it has no rules, hears of none and takes none.
    """

    def __init__(self, *, enabled: bool = True, points: Iterable[str] = ()) -> None:
        self._enabled = enabled
        self._points = set(points)
        self._rules: dict[str, Rule] = {}
        self._at: dict[tuple[str, str], tuple[str, ...]] = {}
        self._cut: frozenset[str] = frozenset()
        self._gone: dict[str, asyncio.Event] = {}
        self._removed: set[str] = set()
        self._bus: Bus | None = None
        self._process = uuid.uuid4().hex

    @property
    def is_enabled(self) -> bool:
        """Whether rules are taken at all."""
        return self._enabled

    def know(self, points: Iterable[str]) -> None:
        """Add the names of a part's points to those that rules may use."""
        self._points.update(points)

    def points(self) -> tuple[str, ...]:
        """All known names, sorted."""
        return tuple(sorted(self._points))

    async def hit(self, point: str, when: str, host: str = "", server: str = "") -> None:
        """Called by a part at each of its points; does what a rule for it says. Raises ChaosFailure."""
        for number in self._at.get((point, when), ()):
            rule = self._rules.get(number)
            if rule is not None and not rule.is_spent and rule.is_for(host, server):
                await self._fire(rule)

    def is_cut(self, cell: str | int) -> bool:
        """Whether a rule makes the cell unreachable. A rule's number N means the cell that is named cellN, as `up` names them."""
        return str(cell).removeprefix("cell") in self._cut

    def add(self, content: Mapping[str, Any]) -> Rule:
        """Take a rule from JSON. Raises errors.BadRequest naming the field; errors.Forbidden where chaos is off."""
        if not self._enabled:
            raise errors.Forbidden("Chaos is off here; it is switched on at start with --chaos.")
        rule = parse_rule(content)
        if self._points and rule.action != "cut" and rule.point not in self._points:
            raise errors.BadRequest(f"point: {rule.point} is not known.")
        self._replace([*self._rules.values(), rule])
        return rule

    def remove(self, number: str) -> None:
        """Delete a rule; what it holds goes on. Raises errors.NotFound."""
        if number not in self._rules:
            raise errors.NotFound(f"There is no rule {number}.")
        self._removed.add(number)
        self._replace([rule for rule in self._rules.values() if rule.id != number])

    def clear(self) -> None:
        """Delete all rules."""
        self._removed.update(self._rules)
        self._replace([])

    def list(self) -> tuple[Rule, ...]:
        """All rules, oldest first, with how often each fired."""
        return tuple(self._rules.values())

    async def attach(self, bus: Bus) -> None:
        """Take the present rules from any process that has them, and from now on hear of changes."""
        if not self._enabled:
            return
        with suppress(errors.Unavailable):
            self._take(await bus.request(SYNC_SUBJECT, b"", ASK_SECONDS))
        self._bus = bus
        await bus.subscribe(RULES_SUBJECT, self._on_rules)
        await bus.subscribe(FIRED_SUBJECT, self._on_fired)
        await bus.subscribe(SYNC_SUBJECT, self._on_sync, queue="chaos")

    async def share(self, bus: Bus) -> None:
        """Tell all other attached processes which rules there are and which are gone.

        They join both to what they know, so that two processes that change something at the same moment lose neither change.
        """
        if self._enabled:
            await bus.publish(RULES_SUBJECT, self._dump())

    async def _fire(self, rule: Rule) -> None:
        self._rules[rule.id] = replace(rule, fired=rule.fired + 1)
        gone = self._gone.setdefault(rule.id, asyncio.Event())
        await self._tell(rule)
        if rule.action == "fail":
            raise ChaosFailure(f"A chaos rule made {rule.point} fail.")
        if rule.action == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        elif rule.action == "delay":
            await asyncio.sleep(rule.seconds)
        else:
            await gone.wait()

    async def _tell(self, rule: Rule) -> None:
        """Let the others count this firing."""
        if self._bus is None:
            return
        data = orjson.dumps({"id": rule.id, "process": self._process})
        if rule.action == "crash":
            # An answer proves that the broker has it. Without that the restarted process would find the rule
            # unfired and die again.
            with suppress(errors.Unavailable):
                await self._bus.request(FIRED_SUBJECT, data, ASK_SECONDS)
        else:
            await self._bus.publish(FIRED_SUBJECT, data)

    async def _on_rules(self, message: Message) -> None:
        self._take(message.data)

    async def _on_fired(self, message: Message) -> bytes:
        content = orjson.loads(message.data)
        rule = self._rules.get(content["id"])
        if rule is not None and content["process"] != self._process:
            self._rules[rule.id] = replace(rule, fired=rule.fired + 1)
        return b""

    async def _on_sync(self, message: Message) -> bytes:
        return self._dump()

    def _dump(self) -> bytes:
        rules = [rule.as_json() for rule in self._rules.values()]
        return orjson.dumps({"rules": rules, "removed": sorted(self._removed)})

    def _take(self, data: bytes) -> None:
        told = orjson.loads(data)
        self._removed.update(told["removed"])
        joined = dict(self._rules)
        for fresh in (parse_rule(content) for content in told["rules"]):
            known = joined.get(fresh.id)
            joined[fresh.id] = fresh if known is None else replace(fresh, fired=max(fresh.fired, known.fired))
        self._replace([rule for rule in joined.values() if rule.id not in self._removed])

    def _replace(self, rules: Iterable[Rule]) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._cut = frozenset(str(rule.cell) for rule in self._rules.values() if rule.action == "cut")
        at: dict[tuple[str, str], list[str]] = {}
        for rule in self._rules.values():
            if rule.action != "cut":
                at.setdefault((rule.point, rule.when), []).append(rule.id)
        self._at = {place: tuple(numbers) for place, numbers in at.items()}
        for number in self._gone.keys() - self._rules.keys():
            self._gone.pop(number).set()
