"""The conditions that a list of servers can be narrowed by, each a piece of SQL for both databases. It knows no HTTP."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Boolean, ColumnElement, Text, and_, bindparam, exists, false, func, not_, or_, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import BindParameter

from kilonova.domain.lifecycle import tasks_with_status
from kilonova.storage.statement import any_of
from kilonova.storage.tables import server_tags, servers


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition: a name of CONDITIONS, what shapes its SQL, and the values of its parameters in order."""

    name: str
    values: tuple[Any, ...] = ()
    shape: tuple[Any, ...] = ()


class address_like(ColumnElement[bool]):
    """Whether any address in the JSON of `column` is LIKE the parameter `name`."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.parameter: BindParameter[Any] = BindParameter(name, required=True, type_=Text())


@compiles(address_like, "sqlite")
def _address_like_sqlite(element: address_like, compiler: Any, **options: Any) -> str:
    column, parameter = compiler.process(element.column, **options), compiler.process(element.parameter, **options)
    return f"EXISTS (SELECT 1 FROM json_tree({column}) AS a WHERE a.key = 'ip_address' AND a.value LIKE {parameter} ESCAPE '\\')"


@compiles(address_like, "postgresql")
def _address_like_postgresql(element: address_like, compiler: Any, **options: Any) -> str:
    column, parameter = compiler.process(element.column, **options), compiler.process(element.parameter, **options)
    found = f"jsonb_path_query({column}::jsonb, '$[*].fixed_ips[*].ip_address') AS a(v)"
    return f"EXISTS (SELECT 1 FROM {found} WHERE a.v #>> '{{}}' LIKE {parameter} ESCAPE '\\')"


class has_item(ColumnElement[bool]):
    """Whether the JSON object in `column` has the key and the value of the two parameters."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], key: str, value: str) -> None:
        self.column = column
        self.word: BindParameter[Any] = BindParameter(key, required=True, type_=Text())
        self.value: BindParameter[Any] = BindParameter(value, required=True, type_=Text())


@compiles(has_item, "sqlite")
def _has_item_sqlite(element: has_item, compiler: Any, **options: Any) -> str:
    parts = (compiler.process(part, **options) for part in (element.column, element.word, element.value))
    return "EXISTS (SELECT 1 FROM json_each({}) AS m WHERE m.key = {} AND m.value = {})".format(*parts)


@compiles(has_item, "postgresql")
def _has_item_postgresql(element: has_item, compiler: Any, **options: Any) -> str:
    parts = (compiler.process(part, **options) for part in (element.column, element.word, element.value))
    return "({}::jsonb ->> {}) = {}".format(*parts)


class json_text(ColumnElement[str]):
    """The text under `key`, a fixed word, of the JSON object in `column`."""

    inherit_cache = False
    type = Text()

    def __init__(self, column: ColumnElement[Any], key: str) -> None:
        self.column = column
        self.word = key


@compiles(json_text, "sqlite")
def _json_text_sqlite(element: json_text, compiler: Any, **options: Any) -> str:
    return f"json_extract({compiler.process(element.column, **options)}, '$.{element.word}')"


@compiles(json_text, "postgresql")
def _json_text_postgresql(element: json_text, compiler: Any, **options: Any) -> str:
    return f"({compiler.process(element.column, **options)}::jsonb ->> '{element.word}')"


Condition = Callable[[str, Filter], ColumnElement[bool]]
"""Takes the prefix of the parameters' names (numbered from 0) and the filter."""


def _equal(column: ColumnElement[Any]) -> Condition:
    return lambda prefix, entry: column == bindparam(f"{prefix}0", type_=column.type)


def _at_least(column: ColumnElement[Any]) -> Condition:
    return lambda prefix, entry: column >= bindparam(f"{prefix}0", type_=column.type)


def _at_most(column: ColumnElement[Any]) -> Condition:
    return lambda prefix, entry: column <= bindparam(f"{prefix}0", type_=column.type)


def _within(column: ColumnElement[Any]) -> Condition:
    def made(prefix: str, entry: Filter) -> ColumnElement[bool]:
        low, high = (bindparam(f"{prefix}{place}", type_=column.type) for place in (0, 1))
        return and_(column >= low, column < high)

    return made


def _like(column: ColumnElement[Any]) -> Condition:
    # Case does not matter, as in the community's service on its usual database.
    def made(prefix: str, entry: Filter) -> ColumnElement[bool]:
        values = [bindparam(f"{prefix}{place}", type_=Text()) for place in range(len(entry.values))]
        return or_(*[func.lower(column).like(func.lower(value), escape="\\") for value in values])

    return made


def _addresses(prefix: str, entry: Filter) -> ColumnElement[bool]:
    return or_(*[address_like(servers.c.addresses, f"{prefix}{place}") for place in range(len(entry.values))])


def _metadata(prefix: str, entry: Filter) -> ColumnElement[bool]:
    pairs = range(0, len(entry.values), 2)
    return and_(*[has_item(servers.c.metadata, f"{prefix}{place}", f"{prefix}{place + 1}") for place in pairs])


def _all_tags(prefix: str, entry: Filter) -> ColumnElement[bool]:
    held = select(func.count()).where(server_tags.c.server_id == servers.c.id, any_of(server_tags.c.tag, f"{prefix}0"))
    return held.scalar_subquery() == bindparam(f"{prefix}1", type_=servers.c.launch_index.type)


def _any_tag(prefix: str, entry: Filter) -> ColumnElement[bool]:
    return exists().where(server_tags.c.server_id == servers.c.id, any_of(server_tags.c.tag, f"{prefix}0"))


def _states(prefix: str, entry: Filter) -> ColumnElement[bool]:
    """`shape` has (vm_state, task_state) pairs; task None means any task that does not read as another status."""
    wanted = []
    for vm, task in entry.shape:
        named = sorted(tasks_with_status(vm))
        if task is not None:
            wanted.append(and_(servers.c.vm_state == vm, servers.c.task_state == task))
        elif named:
            usual = or_(servers.c.task_state.is_(None), and_(*[servers.c.task_state != word for word in named]))
            wanted.append(and_(servers.c.vm_state == vm, usual))
        else:
            wanted.append(servers.c.vm_state == vm)
    return or_(*wanted)


CONDITIONS: Final[Mapping[str, Condition]] = {
    "project": _equal(servers.c.project_id),
    "user": _equal(servers.c.user_id),
    "id": _equal(servers.c.id),
    "name": _like(servers.c.name),
    "hostname": _like(servers.c.hostname),
    "description": _like(servers.c.description),
    "states": _states,
    "vm_state": _equal(servers.c.vm_state),
    "task_state": _equal(servers.c.task_state),
    "power_state": _equal(servers.c.power_state),
    "flavor": lambda prefix, entry: json_text(servers.c.flavor, "flavorid") == bindparam(f"{prefix}0", type_=Text()),
    "image": _equal(servers.c.image_id),
    "host": _equal(servers.c.host),
    "zone": _equal(servers.c.availability_zone),
    "key_name": _equal(servers.c.key_name),
    "config_drive": _equal(servers.c.config_drive),
    "deleted": _equal(servers.c.deleted),
    "changed_since": _at_least(servers.c.updated_at),
    "changed_before": _at_most(servers.c.updated_at),
    "created": _within(servers.c.created_at),
    "launched": _within(servers.c.launched_at),
    "terminated": _within(servers.c.terminated_at),
    "address": _addresses,
    "access_ip_v4": _equal(servers.c.access_ip_v4),
    "access_ip_v6": _equal(servers.c.access_ip_v6),
    "reservation_id": _equal(servers.c.reservation_id),
    "launch_index": _equal(servers.c.launch_index),
    "root_device_name": _equal(servers.c.root_device_name),
    "metadata": _metadata,
    "locked": lambda prefix, entry: servers.c.locked_by.is_not(None),
    "unlocked": lambda prefix, entry: servers.c.locked_by.is_(None),
    "tags": _all_tags,
    "tags-any": _any_tag,
    "not-tags": lambda prefix, entry: not_(_all_tags(prefix, entry)),
    "not-tags-any": lambda prefix, entry: not_(_any_tag(prefix, entry)),
    "nothing": lambda prefix, entry: false(),
}


def like_patterns(expression: str) -> tuple[str, ...]:
    """LIKE patterns (escape "\\") for the part of regular expressions that people use in filters, to be joined by OR.

    Known are ^ and $, ".", ".*", ".+", "\\" before a character, and alternatives of the whole; all else is itself.
    A full engine is left out because a user's expression could hold up the process for ever.
    """
    start, end = expression.startswith("^"), expression.endswith("$") and not expression.endswith("\\$")
    inner = expression[int(start) : len(expression) - int(end)]
    if inner.startswith("(") and inner.endswith(")") and inner.count("(") == 1:
        parts: Sequence[str] = [f"{'^' * start}{part}{'$' * end}" for part in inner[1:-1].split("|")]
    else:
        parts = expression.split("|")
    return tuple(_like_pattern(part) for part in parts)


def _like_pattern(part: str) -> str:
    start, end = part.startswith("^"), part.endswith("$") and not part.endswith("\\$")
    rest = part[int(start) : len(part) - int(end)]
    made, place = [], 0
    while place < len(rest):
        character, following = rest[place], rest[place + 1 : place + 2]
        place += 1
        if character == "." and following in {"*", "+"}:
            made.append("%" if following == "*" else "_%")
            place += 1
        elif character == ".":
            made.append("_")
        else:
            if character == "\\" and following:
                character = following
                place += 1
            made.append(f"\\{character}" if character in "%_\\" else character)
    return f"{'' if start else '%'}{''.join(made)}{'' if end else '%'}"
