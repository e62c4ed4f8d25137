"""What users write to a server without an operation: names, metadata, tags, locks, a state set by hand.

Every edit locks the server's row first, so that two edits of one column never lose one of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, delete, func, select, update

from kilonova.domain import lifecycle
from kilonova.domain.clock import now
from kilonova.domain.errors import Conflict, NotFound
from kilonova.storage import servers as records
from kilonova.storage.database import Transaction
from kilonova.storage.statement import BulkInsert, Statement
from kilonova.storage.tables import server_tags, servers

_METADATA: Final = Statement(
    select(servers.c.metadata).where(servers.c.id == bindparam("id"), ~servers.c.deleted).with_for_update(key_share=True)
)
_SYSTEM: Final = Statement(
    select(servers.c.system_metadata).where(servers.c.id == bindparam("id"), ~servers.c.deleted).with_for_update(key_share=True)
)
_TAGS: Final = Statement(select(server_tags.c.tag).where(server_tags.c.server_id == bindparam("id")).order_by(server_tags.c.tag))
_COUNT: Final = Statement(select(func.count()).select_from(server_tags).where(server_tags.c.server_id == bindparam("id")))
_HAS: Final = Statement(
    select(server_tags.c.tag).where(server_tags.c.server_id == bindparam("id"), server_tags.c.tag == bindparam("tag"))
)
_ADD: Final = BulkInsert(server_tags, ("server_id", "tag", "project_id"), "nothing")
_REMOVE: Final = Statement(
    delete(server_tags).where(server_tags.c.server_id == bindparam("server"), server_tags.c.tag == bindparam("word"))
)
_CLEAR: Final = Statement(delete(server_tags).where(server_tags.c.server_id == bindparam("server")))


@lru_cache(maxsize=256)
def _update(columns: tuple[str, ...]) -> Statement:
    values = {name: bindparam(f"v_{name}", type_=servers.c[name].type) for name in (*columns, "updated_at")}
    return Statement(update(servers).where(servers.c.id == bindparam("server"), ~servers.c.deleted).values(**values))


async def edit(transaction: Transaction, server_id: str, values: Mapping[str, Any]) -> None:
    """Set columns of a live server by name. Raises errors.NotFound."""
    columns = tuple(sorted(values))
    parameters = {f"v_{name}": values[name] for name in columns}
    if not await transaction.run(_update(columns), {**parameters, "v_updated_at": now(), "server": server_id}):
        raise _gone(server_id)


async def edit_metadata(
    transaction: Transaction, server_id: str, change: Callable[[dict[str, str]], dict[str, str]]
) -> dict[str, str]:
    """Replace a server's metadata by what `change` makes of it, and return that. Raises errors.NotFound."""
    row = await transaction.one(_METADATA, {"id": server_id})
    if row is None:
        raise _gone(server_id)
    changed = change(orjson.loads(row[0]))
    await edit(transaction, server_id, {"metadata": orjson.dumps(changed).decode()})
    return changed


async def edit_system_metadata(transaction: Transaction, server_id: str, items: Mapping[str, str]) -> None:
    """Add items to a server's system metadata. Raises errors.NotFound."""
    row = await transaction.one(_SYSTEM, {"id": server_id})
    if row is None:
        raise _gone(server_id)
    await edit(transaction, server_id, {"system_metadata": orjson.dumps({**orjson.loads(row[0]), **items}).decode()})


async def tags(transaction: Transaction, server_id: str) -> list[str]:
    """A server's tags, sorted."""
    return [row[0] for row in await transaction.rows(_TAGS, {"id": server_id})]


async def has_tag(transaction: Transaction, server_id: str, tag: str) -> bool:
    """Whether the server has the tag."""
    return await transaction.one(_HAS, {"id": server_id, "tag": tag}) is not None


async def count_tags(transaction: Transaction, server_id: str) -> int:
    """How many tags the server has."""
    row = await transaction.one(_COUNT, {"id": server_id})
    return int(row[0]) if row else 0


async def set_tags(transaction: Transaction, server_id: str, project_id: str, wanted: Sequence[str]) -> None:
    """Give a server exactly these tags."""
    await edit(transaction, server_id, {})
    await transaction.run(_CLEAR, {"server": server_id})
    await add_tags(transaction, server_id, project_id, wanted)


async def add_tags(transaction: Transaction, server_id: str, project_id: str, more: Sequence[str]) -> None:
    """Give a server more tags; one that it has stays."""
    await transaction.many(_ADD, [(server_id, tag, project_id) for tag in dict.fromkeys(more)])


async def remove_tag(transaction: Transaction, server_id: str, tag: str) -> bool:
    """Take a tag away; whether there was one."""
    return await transaction.run(_REMOVE, {"server": server_id, "word": tag}) > 0


async def reset_state(transaction: Transaction, server_id: str, event: str) -> None:
    """Set a state by hand (an event of the lifecycle). Raises errors.NotFound, errors.Conflict for active without a host."""
    standing = (await records.lock(transaction, [server_id])).get(server_id)
    if standing is None or standing.deleted:
        raise _gone(server_id)
    if event == "reset-active" and standing.host is None:
        raise Conflict(f"Instance {server_id} has no host, so it cannot be set active.")
    state = lifecycle.after(event, standing.state, server_id)
    changed = replace(standing, vm_state=state.vm, task_state=state.task, power_state=state.power, updated_at=now())
    await records.save(transaction, [changed])


def _gone(server_id: str) -> NotFound:
    return NotFound(f"Instance {server_id} could not be found.")
