"""What the embedded identity service keeps: projects, users, roles, who has which role where, and revoked tokens."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import Table, Text, bindparam, delete, insert, or_, select, update

from kilonova.domain.errors import Conflict, NotFound
from kilonova.storage.database import Duplicate, Transaction
from kilonova.storage.statement import BulkInsert, Statement
from kilonova.storage.tables import (
    identity_assignments,
    identity_projects,
    identity_roles,
    identity_users,
    revoked_tokens,
)

SYSTEM: Final = "system"
"""The target of a role that is given on the whole cloud and not on a project."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project; the only domain there is has the id `default`."""

    id: str
    name: str
    domain_id: str = "default"
    description: str = ""
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class User:
    """A user; `password_hash` is "" for one that cannot log in with a password."""

    id: str
    name: str
    domain_id: str = "default"
    email: str | None = None
    description: str = ""
    default_project_id: str | None = None
    enabled: bool = True
    password_hash: str = ""


@dataclass(frozen=True, slots=True)
class Role:
    """A role by its name."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """A user's role on a project or on the system, with the names of all three; `target` is a project's id or SYSTEM."""

    user_id: str
    target: str
    role_id: str
    user_name: str
    project_name: str | None
    role_name: str


Record = TypeVar("Record", bound=Project | User | Role)


class Noun(Generic[Record]):
    """The rows of one table whose records have an id and a unique name. `word` names one of them in sentences."""

    def __init__(self, table: Table, made_of: Callable[..., Record], word: str) -> None:
        self._made_of = made_of
        self._word = word
        columns = [column.name for column in table.columns]
        self._all = Statement(select(table).order_by(table.c.name, table.c.id))
        self._by_id = Statement(select(table).where(table.c.id == bindparam("id")))
        self._by_name = Statement(select(table).where(table.c.name == bindparam("name")))
        self._insert = Statement(insert(table))
        self._keep = BulkInsert(table, columns, on_conflict="nothing")
        values: dict[str, Any] = {name: bindparam(name) for name in columns if name != "id"}
        self._update = Statement(update(table).where(table.c.id == bindparam("key")).values(values))
        self._delete = Statement(delete(table).where(table.c.id == bindparam("id")))

    async def find(self, transaction: Transaction, record_id: str) -> Record | None:
        """The record with this id, or None."""
        row = await transaction.one(self._by_id, {"id": record_id})
        return None if row is None else self._made_of(*row)

    async def get(self, transaction: Transaction, record_id: str) -> Record:
        """The record with this id. Raises errors.NotFound."""
        record = await self.find(transaction, record_id)
        if record is None:
            raise NotFound(f"Could not find {self._word}: {record_id}.")
        return record

    async def find_named(self, transaction: Transaction, name: str) -> Record | None:
        """The record with this name, or None."""
        row = await transaction.one(self._by_name, {"name": name})
        return None if row is None else self._made_of(*row)

    async def all(self, transaction: Transaction) -> Sequence[Record]:
        """Every record, by name."""
        return [self._made_of(*row) for row in await transaction.rows(self._all)]

    async def add(self, transaction: Transaction, record: Record) -> None:
        """Write a new record. Raises errors.Conflict where its name is taken."""
        try:
            await transaction.run(self._insert, asdict(record))
        except Duplicate as error:
            raise self._taken(record) from error

    async def ensure(self, transaction: Transaction, record: Record) -> Record:
        """The record with this name as it is, or this one written anew; two processes that do it at once agree."""
        await transaction.many(self._keep, [tuple(asdict(record).values())])
        found = await self.find_named(transaction, record.name)
        return record if found is None else found

    async def save(self, transaction: Transaction, record: Record) -> None:
        """Write a changed record. Raises errors.NotFound, errors.Conflict where its new name is taken."""
        values = asdict(record)
        key = values.pop("id")
        try:
            touched = await transaction.run(self._update, {**values, "key": key})
        except Duplicate as error:
            raise self._taken(record) from error
        if not touched:
            raise NotFound(f"Could not find {self._word}: {key}.")

    async def remove(self, transaction: Transaction, record_id: str) -> None:
        """Delete the record and nothing that refers to it. Raises errors.NotFound."""
        if not await transaction.run(self._delete, {"id": record_id}):
            raise NotFound(f"Could not find {self._word}: {record_id}.")

    def _taken(self, record: Record) -> Conflict:
        return Conflict(f"Conflict occurred attempting to store {self._word}: the name {record.name} is taken.")


PROJECTS: Final = Noun(identity_projects, Project, "project")
USERS: Final = Noun(identity_users, User, "user")
ROLES: Final = Noun(identity_roles, Role, "role")

_A: Final = identity_assignments
_GRANTED: Final = Statement(select(_A.c.role_id).where(_A.c.user_id == bindparam("user"), _A.c.target == bindparam("target")))
_ASSIGNMENTS: Final = Statement(
    select(
        _A.c.user_id,
        _A.c.target,
        _A.c.role_id,
        identity_users.c.name.label("user_name"),
        identity_projects.c.name.label("project_name"),
        identity_roles.c.name.label("role_name"),
    )
    .select_from(
        _A.join(identity_users, identity_users.c.id == _A.c.user_id)
        .join(identity_roles, identity_roles.c.id == _A.c.role_id)
        .outerjoin(identity_projects, identity_projects.c.id == _A.c.target)
    )
    .where(
        or_(bindparam("user", type_=Text) == "", _A.c.user_id == bindparam("user")),
        or_(bindparam("target", type_=Text) == "", _A.c.target == bindparam("target")),
        or_(bindparam("role", type_=Text) == "", _A.c.role_id == bindparam("role")),
    )
    .order_by(_A.c.user_id, _A.c.target, _A.c.role_id)
)
_GRANT: Final = BulkInsert(_A, ["user_id", "target", "role_id"], on_conflict="nothing")
_REVOKE: Final = Statement(
    delete(_A).where(_A.c.user_id == bindparam("user"), _A.c.target == bindparam("target"), _A.c.role_id == bindparam("role"))
)
_FORGET: Final = Statement(
    delete(_A).where(or_(_A.c.user_id == bindparam("id"), _A.c.target == bindparam("id"), _A.c.role_id == bindparam("id")))
)
_PROJECTS_OF: Final = Statement(
    select(identity_projects)
    .where(identity_projects.c.id.in_(select(_A.c.target).where(_A.c.user_id == bindparam("user"))))
    .order_by(identity_projects.c.name, identity_projects.c.id)
)

_REVOKED: Final = Statement(select(revoked_tokens.c.audit_id).where(revoked_tokens.c.audit_id == bindparam("audit_id")))
_EXPIRED: Final = Statement(delete(revoked_tokens).where(revoked_tokens.c.expires_at < bindparam("moment")))
_REVOCATION: Final = BulkInsert(revoked_tokens, ["audit_id", "expires_at"], on_conflict="nothing")


async def granted(transaction: Transaction, user_id: str, target: str) -> frozenset[str]:
    """Ids of the roles that the user was given on a project or on SYSTEM."""
    return frozenset(row[0] for row in await transaction.rows(_GRANTED, {"user": user_id, "target": target}))


async def assignments(transaction: Transaction, user_id: str = "", target: str = "", role_id: str = "") -> Sequence[Assignment]:
    """Assignments, narrowed by whatever is not ""."""
    parameters: dict[str, Any] = {"user": user_id, "target": target, "role": role_id}
    return [Assignment(*row) for row in await transaction.rows(_ASSIGNMENTS, parameters)]


async def grant(transaction: Transaction, user_id: str, target: str, role_id: str) -> None:
    """Give the role; having it already is success."""
    await transaction.many(_GRANT, [(user_id, target, role_id)])


async def take_back(transaction: Transaction, user_id: str, target: str, role_id: str) -> None:
    """Take the role away. Raises errors.NotFound where it was never given."""
    if not await transaction.run(_REVOKE, {"user": user_id, "target": target, "role": role_id}):
        raise NotFound(f"Could not find role assignment with role: {role_id}, user: {user_id}, target: {target}.")


async def forget_assignments(transaction: Transaction, record_id: str) -> None:
    """Delete every assignment of a user, project or role that goes away."""
    await transaction.run(_FORGET, {"id": record_id})


async def projects_of(transaction: Transaction, user_id: str) -> Sequence[Project]:
    """The projects that the user has a role on, by name."""
    return [Project(*row) for row in await transaction.rows(_PROJECTS_OF, {"user": user_id})]


async def is_revoked(transaction: Transaction, audit_id: str) -> bool:
    """Whether the token with this audit id was revoked."""
    return await transaction.one(_REVOKED, {"audit_id": audit_id}) is not None


async def revoke(transaction: Transaction, audit_id: str, expires_at: int, moment: int) -> None:
    """Note that a token is revoked, and drop the notes of those that expired before `moment` (both in microseconds)."""
    await transaction.run(_EXPIRED, {"moment": moment})
    await transaction.many(_REVOCATION, [(audit_id, expires_at)])
