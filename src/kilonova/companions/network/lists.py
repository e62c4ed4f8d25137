"""Lists of the network API: filters, order, pages and the choice of fields, alike for every resource."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from kilonova.companions.network.faults import InvalidInput
from kilonova.http.calls import Call
from kilonova.http.paging import next_link
from kilonova.http.shapes import truth

Item = dict[str, Any]

_COLUMNS: Final = ("id", "name", "network_id", "device_id", "mac_address", "security_group_id")
_CONTROL: Final = frozenset({"fields", "limit", "marker", "page_reverse", "sort_key", "sort_dir"})


def narrowing(call: Call, columns: Sequence[str]) -> dict[str, list[str]]:
    """The filters of the query that the database can apply, for a table that has `columns`."""
    found = {name: list(call.query[name]) for name in _COLUMNS if name in columns and name in call.query}
    projects = [*call.query.get("project_id", ()), *call.query.get("tenant_id", ())]
    if projects:
        found["project_id"] = projects
    if "mac_address" in found:
        found["mac_address"] = [value.lower() for value in found["mac_address"]]
    return found


def chosen(call: Call, item: Item) -> Item:
    """The fields that the caller asked for; all where none were named."""
    wanted = call.query.get("fields")
    return {name: item[name] for name in wanted if name in item} if wanted else item


def listed(call: Call, items: Sequence[Item], name: str) -> dict[str, Any]:
    """The body of a list called `name`: what passes the filters, in the order and of the page that were asked for.

    `items` come in the order that is usual.
    Raises InvalidInput for a sort key or marker that is none.
    """
    passing = _ordered(call, [item for item in items if _passes(call.query, item)])
    asked = call.first("limit") or "0"
    # Longer numbers Python may refuse to read; like 0 they mean everything.
    limit = 0 if len(asked) > 18 else int(asked)
    reverse = truth(call.first("page_reverse"))
    page = _page(passing, call.first("marker"), limit, reverse)
    body: dict[str, Any] = {name: [chosen(call, item) for item in page]}
    if limit and page:
        links = _links(call, page, limit, reverse)
        if links:
            body[f"{name}_links"] = links
    return body


def _passes(query: Mapping[str, Sequence[str]], item: Item) -> bool:
    return all(
        _FILTERS.get(name, _equals)(item.get(name), values, item) for name, values in query.items() if name not in _CONTROL
    )


def _equals(value: Any, wanted: Sequence[str], item: Item) -> bool:
    if isinstance(value, bool):
        return any(truth(text) is value for text in wanted)
    if value is None:
        return "" in wanted or "null" in wanted
    return str(value) in wanted


def _holds_mac(value: Any, wanted: Sequence[str], item: Item) -> bool:
    return value in {text.lower() for text in wanted}


def _holds_one(value: Any, wanted: Sequence[str], item: Item) -> bool:
    return any(text in value for text in wanted)


def _holds_address(value: Any, wanted: Sequence[str], item: Item) -> bool:
    """`ip_address=A`, `subnet_id=S` and `ip_address_substr=T`: one of the values of each kind must fit one address."""
    kinds: dict[str, list[str]] = {}
    for text in wanted:
        kind, _, asked = text.partition("=")
        kinds.setdefault(kind, []).append(asked)
    return any(all(_fits_address(entry, kind, asked) for kind, asked in kinds.items()) for entry in value)


def _fits_address(entry: Mapping[str, str], kind: str, asked: Sequence[str]) -> bool:
    if kind == "ip_address_substr":
        return any(part in entry["ip_address"] for part in asked)
    return entry.get(kind) in asked


def _tags(wanted: Sequence[str]) -> set[str]:
    return {tag for text in wanted for tag in text.split(",")}


_FILTERS: Final[Mapping[str, Callable[[Any, Sequence[str], Item], bool]]] = {
    "mac_address": _holds_mac,
    "security_groups": _holds_one,
    "subnets": _holds_one,
    "fixed_ips": _holds_address,
    "tags": lambda value, wanted, item: _tags(wanted) <= set(item.get("tags", ())),
    "tags-any": lambda value, wanted, item: bool(_tags(wanted) & set(item.get("tags", ()))),
    "not-tags": lambda value, wanted, item: not _tags(wanted) <= set(item.get("tags", ())),
    "not-tags-any": lambda value, wanted, item: not _tags(wanted) & set(item.get("tags", ())),
}


def _ordered(call: Call, items: list[Item]) -> list[Item]:
    """By the sort keys; what is alike in these stays in the order it came in, so that pages have no gaps."""
    keys = call.query.get("sort_key", ())
    directions = call.query.get("sort_dir", ())
    for place, key in reversed(list(enumerate(keys))):
        if items and key not in items[0]:
            raise InvalidInput(f"sort_key: {key} is no attribute to sort by.")
        backwards = place < len(directions) and directions[place] == "desc"
        items.sort(key=lambda item: _rank(item[key]), reverse=backwards)
    return items


def _rank(value: Any) -> tuple[bool, Any]:
    """Numbers and truths by size, anything else by its text; what is missing comes first."""
    if value is None:
        return (False, "")
    return (True, value if isinstance(value, (int, str)) else str(value))


def _page(items: list[Item], marker: str | None, limit: int, reverse: bool) -> list[Item]:
    """Up to `limit` items behind the marker, or before it with `reverse`; always in the list's own order."""
    begin, end = 0, len(items)
    if marker is not None:
        place = next((number for number, item in enumerate(items) if item["id"] == marker), None)
        if place is None:
            raise InvalidInput(f"marker: there is no {marker} in this list.")
        begin, end = (0, place) if reverse else (place + 1, end)
    if limit and reverse:
        begin = max(begin, end - limit)
    elif limit:
        end = min(end, begin + limit)
    return items[begin:end]


def _links(call: Call, page: Sequence[Item], limit: int, reverse: bool) -> list[dict[str, str]]:
    links = [] if reverse else next_link(call, page, limit, page[-1]["id"])
    if call.first("marker") is not None or reverse:
        kept = [(name, value) for name, values in call.query.items() if name not in _MOVES for value in values]
        back = urlencode([*kept, ("marker", page[0]["id"]), ("page_reverse", "True")])
        links.append({"rel": "previous", "href": f"{call.url.partition('?')[0]}?{back}"})
    return links


_MOVES: Final = frozenset({"marker", "page_reverse"})
