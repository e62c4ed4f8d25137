"""Keypairs as rows: public halves only, one name once a user."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import BigInteger, bindparam, delete, func, insert, select

from kilonova.domain.errors import Conflict
from kilonova.storage.database import Duplicate, Row, Transaction
from kilonova.storage.statement import Statement
from kilonova.storage.tables import keypairs

_COLUMNS: Final[Sequence[str]] = ("name", "type", "fingerprint", "public_key", "user_id", "created_at", "id")
"""The order of Keypair's fields."""

_SELECT: Final = select(*[keypairs.c[name] for name in _COLUMNS])
_OF_USER: Final = keypairs.c.user_id == bindparam("user_id")
_NAMED: Final = keypairs.c.name == bindparam("name")
_ONE: Final = Statement(_SELECT.where(_OF_USER, _NAMED))
_PAGE: Final = Statement(
    _SELECT.where(_OF_USER, keypairs.c.name > bindparam("after"))
    .order_by(keypairs.c.name)
    .limit(bindparam("limit", type_=BigInteger))
)
_COUNT: Final = Statement(select(func.count()).select_from(keypairs).where(_OF_USER))
_INSERT: Final = Statement(insert(keypairs).values({name: bindparam(name) for name in _COLUMNS[:-1]}).returning(keypairs.c.id))
_DELETE: Final = Statement(delete(keypairs).where(_OF_USER, _NAMED))


@dataclass(frozen=True, slots=True)
class Keypair:
    """`type` is "ssh" or "x509"; `created_at` in microseconds; `id` is 0 until it is stored."""

    name: str
    type: str
    fingerprint: str
    public_key: str
    user_id: str
    created_at: int
    id: int = 0


def _keypair_of(row: Row) -> Keypair:
    return Keypair(*row)


async def find_keypair(tx: Transaction, user_id: str, name: str) -> Keypair | None:
    """The user's keypair of this name."""
    row = await tx.one(_ONE, {"user_id": user_id, "name": name})
    return None if row is None else _keypair_of(row)


async def list_keypairs(tx: Transaction, user_id: str, after: str, limit: int) -> list[Keypair]:
    """The user's keypairs by name, those after `after` ("" for all), at most `limit`."""
    rows = await tx.rows(_PAGE, {"user_id": user_id, "after": after, "limit": limit})
    return [_keypair_of(row) for row in rows]


async def count_keypairs(tx: Transaction, user_id: str) -> int:
    """How many keypairs the user has."""
    row = await tx.one(_COUNT, {"user_id": user_id})
    return int(row[0]) if row else 0


async def insert_keypair(tx: Transaction, keypair: Keypair) -> Keypair:
    """Store it and give it back with its id. Raises errors.Conflict for a taken name."""
    try:
        row = await tx.one(_INSERT, {name: getattr(keypair, name) for name in _COLUMNS[:-1]})
    except Duplicate as error:
        raise Conflict(f"Key pair '{keypair.name}' already exists.") from error
    assert row is not None
    return replace(keypair, id=int(row[0]))


async def delete_keypair(tx: Transaction, user_id: str, name: str) -> bool:
    """Remove it; False when there is none."""
    return await tx.run(_DELETE, {"user_id": user_id, "name": name}) > 0
