"""What a resource looks like: one list of fields, each with the versions and the policy that show it, compiled once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Shown(Generic[Item]):
    """One key of the answer: how its value is got, the versions that show it, and the rule that a caller needs to see it."""

    name: str
    get: Callable[[Item], Any]
    since: int = 0
    until: int | None = None
    rule: str = ""

    def lives_at(self, version: int) -> bool:
        """Whether this version shows the key."""
        return version >= self.since and (self.until is None or version <= self.until)


class View(Generic[Item]):
    """A resource's keys. `at` gives a function that renders one item; it is made once per version and set of rules."""

    def __init__(self, fields: Sequence[Shown[Item]]) -> None:
        self._fields = tuple(fields)
        self.rules = tuple(sorted({entry.rule for entry in fields if entry.rule}))
        self._made: dict[tuple[int, tuple[bool, ...]], Callable[[Item], dict[str, Any]]] = {}

    def at(self, version: int, allows: Callable[[str, Mapping[str, Any]], bool]) -> Callable[[Item], dict[str, Any]]:
        """The renderer for one version and caller; rules are asked once, for the caller's own project."""
        verdicts = tuple(allows(rule, {}) for rule in self.rules)
        key = (version, verdicts)
        made = self._made.get(key)
        if made is None:
            open_rules = {rule for rule, verdict in zip(self.rules, verdicts, strict=True) if verdict}
            pairs = tuple(
                (entry.name, entry.get)
                for entry in self._fields
                if entry.lives_at(version) and (not entry.rule or entry.rule in open_rules)
            )

            def render(item: Item) -> dict[str, Any]:
                return {name: get(item) for name, get in pairs}

            made = self._made[key] = render
        return made
