"""Pages of a list: limit and marker as every face of the community has them, and the link to the next page."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from kilonova.domain.errors import BadRequest
from kilonova.http.calls import Call


def page_limit(call: Call, maximum: int) -> int:
    """How many items to give: `limit`, at most `maximum`; 0 and absent mean the maximum. Raises BadRequest."""
    asked = call.first("limit")
    if asked is None:
        return maximum
    if not asked.isascii() or not asked.isdigit():
        raise BadRequest(f"limit must be a whole number of 0 or more, not {asked!r}")
    # Longer numbers than these Python may refuse to read, and they are larger than any maximum.
    return maximum if len(asked) > 18 else min(int(asked) or maximum, maximum)


def next_link(call: Call, items: Sequence[Any], limit: int, marker: str) -> list[dict[str, str]]:
    """The `next` link when the page is full, with `marker` as where to go on; an empty list otherwise."""
    if not items or len(items) < limit:
        return []
    pairs = [(name, value) for name, values in call.query.items() if name != "marker" for value in values]
    address = call.url.partition("?")[0]
    return [{"rel": "next", "href": f"{address}?{urlencode([*pairs, ('marker', marker)])}"}]
