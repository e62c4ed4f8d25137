"""Networks and subnets as rows, and the shape that all tables of the embedded network service share: the columns that are
searched or must be unique, and one document with the rest. It knows no rule of networks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import orjson
from sqlalchemy import ColumnElement, Select, Table, bindparam, delete, insert, or_, select, update

from kilonova.storage.database import Transaction
from kilonova.storage.statement import BulkInsert, Statement, any_of
from kilonova.storage.tables import networks, subnets

Hold = Literal["", "use", "change", "remove"]
"""How long rows that are read must stay as they are: not at all; they must not vanish; nobody else may change them; they will
be removed, so that nobody may even use them. SQLite has one writer and needs none of it.
"""


@dataclass(frozen=True, slots=True)
class Record:
    """One resource: what every resource has, and `fields` with the rest by the names that the API gives them."""

    id: str
    project_id: str
    name: str
    fields: Mapping[str, Any]
    created_at: int
    updated_at: int

    def changed(self, moment: int, name: str | None = None, **changes: Any) -> "Record":
        """The record after a change at `moment`; its revision number rises."""
        fields = {**self.fields, **changes, "revision_number": self.fields["revision_number"] + 1}
        return replace(self, name=self.name if name is None else name, fields=fields, updated_at=moment)

    def showing(self, **derived: Any) -> "Record":
        """The record with values that are not its own but belong to what is shown of it."""
        return replace(self, fields={**self.fields, **derived})


class Collection:
    """The rows of one table. `columns` are the fields that have columns of their own."""

    def __init__(self, table: Table, columns: Sequence[str] = ()) -> None:
        self.table = table
        self._named = "name" in table.c
        self._columns = tuple(columns)
        head = ("id", "project_id", *(("name",) if self._named else ()), *columns)
        self._order = (*head, "document", "created_at", "updated_at")
        self.query: Select[Any] = select(*[table.c[column] for column in self._order])
        self._insert = Statement(insert(table).values({column: bindparam(column) for column in self._order}))
        self._insert_missing = BulkInsert(table, self._order, on_conflict="nothing")
        changed = [column for column in self._order if column not in {"id", "project_id", "created_at"}]
        self._update = Statement(
            update(table).where(table.c.id == bindparam("key")).values({column: bindparam(column) for column in changed})
        )
        self._changed = changed
        self._delete = Statement(delete(table).where(any_of(table.c.id, "ids")))
        self._finds: dict[tuple[Hold, tuple[str, ...]], Statement] = {}

    async def find(self, transaction: Transaction, resource_id: str, hold: Hold = "") -> Record | None:
        """The resource, or None."""
        found = await self.select(transaction, {"id": [resource_id]}, hold)
        return found[0] if found else None

    async def select(self, transaction: Transaction, match: Mapping[str, Sequence[str]], hold: Hold = "") -> list[Record]:
        """All resources whose columns have one of the values given for each, in the order of their ids."""
        key = (hold, tuple(match))
        statement = self._finds.get(key)
        if statement is None:
            query = self.query.where(*[any_of(self.table.c[column], column) for column in match])
            statement = self._finds[key] = Statement(_held(query.order_by(self.table.c.id), hold))
        parameters = {column: list(values) for column, values in match.items()}
        return [self.record(row) for row in await transaction.rows(statement, parameters)]

    async def exists(self, transaction: Transaction, column: str, value: str) -> bool:
        """Whether any resource has this value."""
        key: tuple[Hold, tuple[str, ...]] = ("", (column, "limit"))
        statement = self._finds.get(key)
        if statement is None:
            condition = self.table.c[column] == bindparam("value")
            statement = self._finds[key] = Statement(select(self.table.c.id).where(condition).limit(1))
        return await transaction.one(statement, {"value": value}) is not None

    async def insert(self, transaction: Transaction, record: Record) -> None:
        """Write a new resource. Raises Duplicate."""
        await transaction.run(self._insert, self._values(record))

    async def insert_missing(self, transaction: Transaction, records: Sequence[Record]) -> None:
        """Write those of the resources whose ids are not there yet."""
        rows = [self._values(record) for record in records]
        await transaction.many(self._insert_missing, [[row[column] for column in self._order] for row in rows])

    async def save(self, transaction: Transaction, record: Record) -> None:
        """Write a resource that was changed. Raises Duplicate."""
        values = self._values(record)
        await transaction.run(self._update, {"key": record.id, **{column: values[column] for column in self._changed}})

    async def delete(self, transaction: Transaction, ids: Sequence[str]) -> None:
        """Remove the resources; those that are not there are no fault."""
        if ids:
            await transaction.run(self._delete, {"ids": list(ids)})

    def record(self, row: Any) -> Record:
        """A row of `query` as a record."""
        named = 3 if self._named else 2
        fields = orjson.loads(row[-3])
        for place, column in enumerate(self._columns, named):
            fields[column] = row[place]
        return Record(row[0], row[1], row[2] if self._named else "", fields, row[-2], row[-1])

    def _values(self, record: Record) -> dict[str, Any]:
        document = {key: value for key, value in record.fields.items() if key not in self._columns}
        values = {column: record.fields[column] for column in self._columns}
        values.update(
            id=record.id,
            project_id=record.project_id,
            document=orjson.dumps(document).decode(),
            created_at=record.created_at,
            updated_at=record.updated_at,
        )
        if self._named:
            values["name"] = record.name
        return values


def _held(query: Select[Any], hold: Hold) -> Select[Any]:
    if hold == "use":
        return query.with_for_update(read=True, key_share=True)
    return query.with_for_update(key_share=hold == "change") if hold else query


NETWORKS: Final = Collection(networks)
SUBNETS: Final = Collection(subnets, ("network_id",))


def _marked(key: str) -> ColumnElement[bool]:
    """True for documents that say `"key":true`, and perhaps for some whose texts merely look so."""
    return networks.c.document.like(f'%"{key}":true%')


_REACHABLE: Final = Statement(
    NETWORKS.query.where(
        or_(networks.c.project_id == bindparam("project_id"), _marked("shared"), _marked("router:external"))
    ).order_by(networks.c.id)
)


async def reachable_networks(transaction: Transaction, project_id: str) -> list[Record]:
    """The networks that a project may see: its own, shared ones and external ones."""
    found = [NETWORKS.record(row) for row in await transaction.rows(_REACHABLE, {"project_id": project_id})]
    # The text search cannot tell a mark from a description that spells one.
    return [
        record
        for record in found
        if record.project_id == project_id or record.fields["shared"] or record.fields["router:external"]
    ]
