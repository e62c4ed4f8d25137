"""A microversion is data: each field says once when it came and went, and the JSON schema of a version is compiled from that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import jsonschema_rs

from kilonova.domain.errors import BadRequest

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """One property of an object: its JSON schema (or a Shape of its own), and the versions that know it."""

    name: str
    schema: "Schema | Shape"
    since: int = 0
    until: int | None = None
    required: bool = False

    def lives_at(self, version: int) -> bool:
        """Whether the property exists at this version."""
        return version >= self.since and (self.until is None or version <= self.until)


@dataclass(frozen=True, slots=True)
class Shape:
    """An object whose properties depend on the version. `extra` lets unknown properties pass, `more` adds schema keywords.

    `array` makes it a list of such objects; `nullable` also lets null pass.
    """

    fields: Sequence[Field] = ()
    extra: bool = False
    array: bool = False
    nullable: bool = False
    more: Schema = field(default_factory=dict)

    def schema(self, version: int) -> dict[str, Any]:
        """The JSON schema of one version."""
        alive = [entry for entry in self.fields if entry.lives_at(version)]
        properties = {
            entry.name: entry.schema.schema(version) if isinstance(entry.schema, Shape) else dict(entry.schema) for entry in alive
        }
        made: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": self.extra}
        needed = [entry.name for entry in alive if entry.required]
        if needed:
            made["required"] = needed
        made.update(self.more)
        if self.array:
            made = {"type": "array", "items": made}
        if self.nullable:
            made = {"anyOf": [made, {"type": "null"}]}
        return made


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with a value. `where` is "query" or, for a body, "".

    `path` leads to the part that is wrong, whose value is `value`; `keyword` of the schema is what it breaks, with the value
    `limit`; `schema_path` leads to that part of the schema, which is `schema`; `message` is the validator's own sentence.
    """

    where: str
    path: tuple[str | int, ...]
    value: Any
    keyword: str
    limit: Any
    schema_path: tuple[str | int, ...]
    schema: Schema
    message: str


def flaw_sentence(flaw: Flaw) -> str:
    """A flaw as the compute API tells it."""
    place = "/".join(str(part) for part in (flaw.where, *flaw.path) if part != "")
    return f"Invalid input for field/attribute {place}. {flaw.message}" if place else f"Invalid input: {flaw.message}"


class Checker:
    """Compiles shapes at versions, once each, and checks values against them. `told` words what is wrong."""

    def __init__(self, told: Callable[[Flaw], str] = flaw_sentence) -> None:
        self._told = told
        self._compiled: dict[tuple[int, int], tuple[Shape, jsonschema_rs.Validator]] = {}

    def check(self, shape: Shape, version: int, value: Any, where: str = "") -> None:
        """Raises errors.BadRequest with a sentence that names the field."""
        key = (id(shape), version)
        known = self._compiled.get(key)
        if known is None:
            # The shape is kept beside its validator so that its id cannot be given to another one.
            known = (shape, jsonschema_rs.validator_for(shape.schema(version), validate_formats=True))
            self._compiled[key] = known
        validator = known[1]
        if validator.is_valid(value):
            return
        raise BadRequest(self._told(_flaw(next(iter(validator.iter_errors(value))), where, shape.schema(version))))


def _flaw(error: jsonschema_rs.ValidationError, where: str, schema: Any) -> Flaw:
    *path, keyword = error.schema_path
    for part in path:
        schema = schema[part]
    limit = schema.get(keyword) if isinstance(schema, Mapping) else None
    return Flaw(where, tuple(error.instance_path), error.instance, str(keyword), limit, tuple(path), schema, error.message)


def either(*schemas: Schema) -> Schema:
    """A value that fits one of several schemas."""
    return {"anyOf": list(schemas)}


def text(minimum: int = 0, maximum: int = 255, pattern: str = "") -> Schema:
    """A string of so many characters, and of a form where `pattern` is given."""
    made: dict[str, Any] = {"type": "string", "minLength": minimum, "maxLength": maximum}
    return {**made, "pattern": pattern} if pattern else made


NULL: Schema = {"type": "null"}
UUID: Schema = {"type": "string", "format": "uuid"}
BOOLEAN: Schema = {
    "enum": [
        True,
        "True",
        "TRUE",
        "true",
        "1",
        "ON",
        "On",
        "on",
        "YES",
        "Yes",
        "yes",
        "y",
        "t",
        False,
        "False",
        "FALSE",
        "false",
        "0",
        "OFF",
        "Off",
        "off",
        "NO",
        "No",
        "no",
        "n",
        "f",
    ]
}
NAME: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 255,
    "pattern": r"^(?! )[^\u0000-\u001f\u007f]*[^\s\u0000-\u001f\u007f]$",
}
"""A name without control characters and without white space at its ends."""
METADATA: Schema = {
    "type": "object",
    "propertyNames": {"pattern": r"^[a-zA-Z0-9\-_:. ]{1,255}$"},
    "additionalProperties": {"type": "string", "maxLength": 255},
}


LARGEST: Final = 2**31 - 1


def integer(minimum: int = 0, maximum: int = LARGEST) -> Schema:
    """A whole number, also as a string of digits, as older clients send it (read it with `int`).

    Digits are held to `maximum` and, where `minimum` is not 0, to be more than 0.
    """
    number = {"type": "integer", "minimum": minimum, "maximum": maximum}
    positive = "(?=0*[1-9])" if minimum else ""
    return {"anyOf": [number, {"type": "string", "maxLength": 64, "pattern": f"^{positive}0*({_digits(maximum)})$"}]}


def _digits(maximum: int) -> str:
    """An expression for the digits of the whole numbers up to `maximum`: fewer digits, or as many with a lower one, or itself."""
    text = str(maximum)
    rest = range(len(text) - 1, -1, -1)
    lower = [f"{text[:place]}[0-{int(digit) - 1}][0-9]{{{rest[place]}}}" for place, digit in enumerate(text) if digit != "0"]
    return "|".join([f"[0-9]{{1,{max(rest[0], 1)}}}" if rest[0] else text, *lower, text])


def whole_number(text: str) -> int | None:
    """The whole number of 0 or more that a path or a query writes; None for other text.

    Also None for one of more digits than any column holds: Python may even refuse to read those.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def truth(value: Any) -> bool:
    """The meaning of a value that passed BOOLEAN."""
    return value is True or (isinstance(value, str) and value.lower() in {"true", "1", "on", "yes", "y", "t"})


def nullable(schema: Schema) -> Schema:
    """The schema, or null."""
    return either(schema, NULL)


def queries(names: Mapping[str, Schema], *, extra: bool = False, since: Mapping[str, int] | None = None) -> Shape:
    """The shape of a query string: each parameter is a list of its values, each of which must fit its schema."""
    started = since or {}
    return Shape(
        fields=[
            Field(name, {"type": "array", "items": dict(schema)}, since=started.get(name, 0)) for name, schema in names.items()
        ],
        extra=extra,
    )
