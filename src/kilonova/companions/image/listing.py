"""Which images a list shows and in what order: the API's filters and sorting, as values and pure functions."""

import csv
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from kilonova.companions.image.attributes import VISIBILITIES
from kilonova.domain.errors import BadRequest
from kilonova.http.shapes import truth, whole_number
from kilonova.storage.images import ImageRecord

Test = Callable[[ImageRecord], bool]
Query = Mapping[str, tuple[str, ...]]

_NOT_FILTERS: Final = frozenset({"limit", "marker", "sort", "sort_key", "sort_dir", "member_status"})
_TEXTS: Final = {
    "id": "id",
    "name": "name",
    "status": "status",
    "disk_format": "disk_format",
    "container_format": "container_format",
    "owner": "owner",
    "visibility": "visibility",
    "checksum": "checksum",
    "os_hash_algo": "hash_algorithm",
    "os_hash_value": "hash_value",
}
_NUMBERS: Final = {"size": "size", "min_disk": "min_disk", "min_ram": "min_ram", "virtual_size": "virtual_size"}
_MOMENTS: Final = frozenset({"created_at", "updated_at"})
_SORT_KEYS: Final = {
    **{name: name for name in ("name", "status", "container_format", "disk_format", "size", "id", "created_at", "updated_at")},
    **{name: name for name in ("min_disk", "min_ram", "owner", "visibility")},
}
_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "eq": operator.eq,
    "neq": operator.ne,
}


@dataclass(frozen=True, slots=True)
class Listing:
    """One list that was asked for. `ids` and `names` narrow what must be read at all; None where all must.

    `order` is attributes of the record, the first the most important, each with whether it falls.
    """

    tests: Sequence[Test]
    order: Sequence[tuple[str, bool]]
    ids: Sequence[str] | None = None
    names: Sequence[str] | None = None
    community: bool = False

    def arranged(self, records: Sequence[ImageRecord]) -> Sequence[ImageRecord]:
        """Those that pass every test, in order."""
        kept = [record for record in records if all(test(record) for test in self.tests)]
        # Sorting is stable, so sorting by the least important key first gives the whole order.
        for name, falling in reversed(self.order):
            kept.sort(key=_rank_by(name), reverse=falling)
        return kept


def listing(query: Query) -> Listing:
    """The list that a query asks for. Raises errors.BadRequest."""
    tests: list[Test] = [] if "os_hidden" in query else [lambda record: not record.hidden]
    for name, values in query.items():
        if name not in _NOT_FILTERS:
            tests.extend(_test(name, value) for value in values)
    visibility = query.get("visibility", ("",))[0]
    return Listing(
        tests,
        _order(query),
        ids=_alternatives(query["id"][0]) if "id" in query else None,
        names=_alternatives(query["name"][0]) if "name" in query else None,
        community=visibility in {"community", "all"},
    )


def page(records: Sequence[ImageRecord], marker: str | None, limit: int) -> Sequence[ImageRecord]:
    """At most `limit` images after the one that `marker` names. Raises errors.BadRequest where it is not in the list."""
    start = 0
    if marker is not None:
        start = next((place for place, record in enumerate(records, 1) if record.id == marker), 0)
        if not start:
            raise BadRequest(f"Invalid marker: image {marker} is not in this list.")
    return records[start : start + limit]


def _test(name: str, value: str) -> Test:
    if name == "visibility" and value == "all":
        return lambda record: True
    if name == "visibility" and value not in VISIBILITIES:
        raise BadRequest(f"Invalid visibility value: {value}")
    if name in _TEXTS:
        wanted, attribute = frozenset(_alternatives(value)), _TEXTS[name]
        return lambda record: getattr(record, attribute) in wanted
    if name in _MOMENTS:
        return _moment_test(name, value)
    if name.removesuffix("_min").removesuffix("_max") in _NUMBERS:
        return _number_test(name, value)
    if name in {"protected", "os_hidden"}:
        attribute, yes = ("hidden" if name == "os_hidden" else name), _truth(name, value)
        return lambda record: getattr(record, attribute) is yes
    if name == "tag":
        return lambda record: value in record.tags
    return lambda record: record.properties.get(name) == value


def _truth(name: str, value: str) -> bool:
    if value.lower() not in {"true", "false", "1", "0"}:
        raise BadRequest(f"Invalid value for filter {name}: {value!r} is neither true nor false")
    return truth(value)


def _number_test(name: str, value: str) -> Test:
    bound = whole_number(value)
    if bound is None:
        raise BadRequest(f"Invalid value for filter {name}: {value!r} is not a whole number of 0 or more")
    bare = name.removesuffix("_min").removesuffix("_max")
    compare = operator.ge if name.endswith("_min") else operator.le if name.endswith("_max") else operator.eq
    attribute = _NUMBERS[bare]

    def test(record: ImageRecord) -> bool:
        present = getattr(record, attribute)
        return present is not None and compare(present, bound)

    return test


def _moment_test(name: str, value: str) -> Test:
    word, colon, text = value.partition(":")
    if not colon or word not in _COMPARE:
        word, text = "eq", value
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequest(f"Invalid value for filter {name}: {text!r} is not a time") from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    compare, seconds = _COMPARE[word], int(moment.timestamp())
    # Times are shown in whole seconds, so they are compared in whole seconds.
    return lambda record: compare(getattr(record, name) // 1_000_000, seconds)


def _alternatives(value: str) -> Sequence[str]:
    """The values that a filter lets pass: one, or those of `in:a,b,"c,d"`."""
    if not value.startswith("in:"):
        return [value]
    try:
        return next(csv.reader([value[3:]], strict=True), [])
    except csv.Error as error:
        raise BadRequest(f"Invalid filter value {value!r}: {error}") from error


def _order(query: Query) -> Sequence[tuple[str, bool]]:
    if "sort" in query:
        if "sort_key" in query or "sort_dir" in query:
            raise BadRequest("The parameter sort does not go with sort_key and sort_dir.")
        pairs = [part.strip().partition(":") for part in query["sort"][0].split(",")]
        asked = [(key, direction or "desc") for key, _, direction in pairs]
    else:
        keys = query.get("sort_key", ("created_at",))
        directions = query.get("sort_dir", ("desc",))
        if len(directions) not in {1, len(keys)}:
            raise BadRequest("There must be one sort_dir, or one for each sort_key.")
        asked = list(zip(keys, directions * len(keys) if len(directions) == 1 else directions, strict=True))
    for key, direction in asked:
        if key not in _SORT_KEYS or direction not in {"asc", "desc"}:
            raise BadRequest(f"Images cannot be sorted by {key}:{direction}.")
    falling = asked[-1][1] == "desc"
    # The id makes the order whole, so that no page repeats or leaves out an image.
    return [*((_SORT_KEYS[key], direction == "desc") for key, direction in asked), ("id", falling)]


def _rank_by(name: str) -> Callable[[ImageRecord], tuple[bool, Any]]:
    """A key to sort by; images that lack the attribute come first when it rises."""

    def rank(record: ImageRecord) -> tuple[bool, Any]:
        value = getattr(record, name)
        return (False, 0) if value is None else (True, value)

    return rank
