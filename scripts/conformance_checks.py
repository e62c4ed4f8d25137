"""What is expected of a command's output: each check gives sentences, none when all is well."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command printed: as text, as errors, and as a value where it printed JSON."""

    text: str
    errors: str
    value: Any


Check = Callable[[Answer], list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Like:
    """Expects text in which `pattern` is found."""

    pattern: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.search(self.pattern, other) is not None


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Expects anything but nothing: no null, no empty text, list or object. Zero and false are something."""

    def __eq__(self, other: object) -> bool:
        return other is not None and other not in ("", [], {})


GIVEN = Given()
UUID = Like(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
TIME = Like(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def _differences(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    absent = [f"{key} is absent" for key in expected if key not in found]
    wrong = [
        f"{key} is {found[key]!r} instead of {wanted!r}"
        for key, wanted in expected.items()
        if key in found and not wanted == found[key]  # noqa: SIM201 - the expectation decides what equals it
    ]
    return absent + wrong


def has(**expected: Any) -> Check:
    """The object printed has these fields with these values."""
    return has_fields(expected)


def has_fields(expected: Mapping[str, Any]) -> Check:
    """The object printed has these fields with these values; for names that are no words."""

    def check(answer: Answer) -> list[str]:
        if not isinstance(answer.value, dict):
            return ["no object was printed"]
        return _differences(answer.value, expected)

    return check


def holds(field: str, expected: Mapping[str, Any]) -> Check:
    """The object in a field of the object printed has these fields with these values."""

    def check(answer: Answer) -> list[str]:
        inner = answer.value.get(field) if isinstance(answer.value, dict) else None
        if not isinstance(inner, dict):
            return [f"{field} is no object but {inner!r}"]
        return [f"{field}: {sentence}" for sentence in _differences(inner, expected)]

    return check


def lists(expected: Mapping[str, Any]) -> Check:
    """Some item of the list printed has these fields with these values."""

    def check(answer: Answer) -> list[str]:
        if not isinstance(answer.value, list):
            return ["no list was printed"]
        if any(not _differences(item, expected) for item in answer.value):
            return []
        return [f"no item with {dict(expected)} in {answer.value!r:.300}"]

    return check


def omits(expected: Mapping[str, Any]) -> Check:
    """No item of the list printed has these fields with these values."""

    def check(answer: Answer) -> list[str]:
        if not isinstance(answer.value, list):
            return ["no list was printed"]
        return [f"there is {item!r:.300}" for item in answer.value if not _differences(item, expected)]

    return check


def at(expected: Any, *place: str | int) -> Check:
    """What stands at a place of the value printed: keys of objects, and numbers of items."""

    def check(answer: Answer) -> list[str]:
        value = answer.value
        for step in place:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                return [f"there is no {step!r} of {place} in {answer.value!r:.300}"]
        return [] if expected == value else [f"{place} is {value!r:.300} instead of {expected!r}"]

    return check


def empty(answer: Answer) -> list[str]:
    """The list printed has no items."""
    return [] if answer.value == [] else [f"printed {answer.value!r:.300}"]


def counts(least: int) -> Check:
    """The list printed has at least so many items."""

    def check(answer: Answer) -> list[str]:
        count = len(answer.value) if isinstance(answer.value, list) else -1
        return [] if count >= least else [f"{count} items instead of {least} or more"]

    return check


def says(*patterns: str) -> Check:
    """Each pattern is found in what was printed, errors included."""

    def check(answer: Answer) -> list[str]:
        printed = f"{answer.text}\n{answer.errors}"
        return [f"{pattern!r} is not in the output" for pattern in patterns if not re.search(pattern, printed)]

    return check


def is_silent(answer: Answer) -> list[str]:
    """Nothing was printed, as with most commands that change something."""
    return [f"printed {answer.text!r:.200}"] if answer.text.strip() else []
