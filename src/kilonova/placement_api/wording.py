"""How the placement API words what is wrong with a request: the phrases that its clients look for, within our sentences.

Source: the phrases are those of a JSON schema's validation in Python, which clients of the community's service know.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from kilonova.http.shapes import Flaw
from kilonova.placement_api.uuids import UUID_PATTERN

MALFORMED: Final = "Malformed JSON: {reason}"
BAD_VERSION: Final = "The header asks for an invalid version string: {asked}. It must be two numbers with a dot between them."
UNSERVED_VERSION: Final = "Unacceptable version header: {asked}. The lowest version is {lowest}, the highest {highest}."
_BODY: Final = "JSON does not validate"
_QUERY: Final = "Invalid query string parameters"
_MOST: Final = 300
"""How much of a wrong value is told back, in characters."""


def told(flaw: Flaw) -> str:
    """A flaw of a body or a query. Uuids are checked by a pattern, which lets them be without dashes, and told as a format."""
    if flaw.keyword == "pattern" and flaw.limit == UUID_PATTERN:
        flaw = replace(flaw, keyword="format", limit="uuid")
    if flaw.where:
        return invalid_query(_message(flaw), flaw.keyword)
    return f"{_BODY}: {_message(flaw)}. {_place(flaw)}"


def invalid_query(message: str, keyword: str = "") -> str:
    """What is wrong with a query, and the keyword of its schema that it breaks."""
    return f"{_QUERY}: {message}" + (f". Failed validating '{keyword}'." if keyword else "")


def invalid_name(message: str, keyword: str) -> str:
    """What is wrong with a name that the path gives."""
    return f"{_BODY}: {message}. Failed validating '{keyword}' in schema."


def no_regexes(name: str, patterns: tuple[str, ...]) -> str:
    """That a name is none of those that a schema knows by their patterns."""
    return f"{name!r} does not match any of the regexes: {', '.join(map(repr, patterns))}"


def _place(flaw: Flaw) -> str:
    inside = "".join(f"[{part!r}]" for part in flaw.schema_path)
    at = "".join(f"[{part!r}]" for part in flaw.path)
    return f"Failed validating '{flaw.keyword}' in schema{inside}, at body{at}."


def _message(flaw: Flaw) -> str:
    word = _WORDS.get(flaw.keyword)
    return flaw.message if word is None else word(flaw)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"


def _required(flaw: Flaw) -> str:
    missing = next((name for name in flaw.limit if name not in flaw.value), flaw.limit[0])
    return f"{missing!r} is a required property"


def _unknown(flaw: Flaw) -> str:
    """A property that is neither named nor, where names go by patterns, of one of them."""
    patterns = tuple(flaw.schema.get("patternProperties", ()))
    properties = flaw.schema.get("properties", {})
    unknown = [name for name in flaw.value if name not in properties and not _matches(name, patterns)]
    if patterns:
        return no_regexes(unknown[0], patterns)
    verb = "was" if len(unknown) == 1 else "were"
    return f"Additional properties are not allowed ({', '.join(map(repr, unknown))} {verb} unexpected)"


def _matches(name: str, patterns: Iterable[str]) -> bool:
    # All of them speak of a whole name; Python's "$" alone would let a last line end pass.
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def _kind(flaw: Flaw) -> str:
    kinds = [flaw.limit] if isinstance(flaw.limit, str) else flaw.limit
    return f"{_shown(flaw.value)} is not of type {', '.join(map(repr, kinds))}"


_WORDS: Final[Mapping[str, Callable[[Flaw], str]]] = {
    "required": _required,
    "additionalProperties": _unknown,
    "type": _kind,
    "pattern": lambda flaw: f"{_shown(flaw.value)} does not match {flaw.limit!r}",
    "format": lambda flaw: f"{_shown(flaw.value)} is not a {flaw.limit!r}",
    "enum": lambda flaw: f"{_shown(flaw.value)} is not one of {flaw.limit!r}",
    "minProperties": lambda flaw: f"{_shown(flaw.value)} should be non-empty",
    "minItems": lambda flaw: f"{_shown(flaw.value)} should be non-empty",
    "minLength": lambda flaw: f"{_shown(flaw.value)} is too short",
    "maxLength": lambda flaw: f"{_shown(flaw.value)} is too long",
    "uniqueItems": lambda flaw: f"{_shown(flaw.value)} has non-unique elements",
}
