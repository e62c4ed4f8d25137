"""What the embedded image service keeps of an image, besides its bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import orjson
from sqlalchemy import Boolean, bindparam, delete, insert, or_, select, update

from kilonova.domain.errors import Conflict, NotFound
from kilonova.storage.database import Duplicate, Row, Transaction
from kilonova.storage.statement import Statement, any_of
from kilonova.storage.tables import images


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """One image. `min_disk` is in GB, `min_ram` in MB, sizes in bytes; what comes with an upload is None before it."""

    id: str
    name: str | None
    owner: str
    status: str = "queued"
    visibility: str = "shared"
    protected: bool = False
    hidden: bool = False
    disk_format: str | None = None
    container_format: str | None = None
    min_disk: int = 0
    min_ram: int = 0
    size: int | None = None
    virtual_size: int | None = None
    checksum: str | None = None
    hash_algorithm: str | None = None
    hash_value: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    created_at: int = 0
    updated_at: int = 0


@dataclass(frozen=True, slots=True)
class Visible:
    """Whose images a list may show: all, or those of one project and what others show to everybody."""

    project_id: str
    everything: bool


_NAMES: Final = [column.name for column in images.columns]
_PROPERTIES: Final = _NAMES.index("properties")
_TAGS: Final = _NAMES.index("tags")
_SEEN: Final = or_(
    bindparam("everything", type_=Boolean),
    images.c.owner == bindparam("project_id"),
    images.c.visibility == "public",
    images.c.visibility == "community",
)
_ONE: Final = Statement(select(images).where(images.c.id == bindparam("id")))
_LOCKED: Final = Statement(select(images).where(images.c.id == bindparam("id")).with_for_update())
_ALL: Final = Statement(select(images).where(_SEEN))
_NAMED: Final = Statement(select(images).where(_SEEN, images.c.name == bindparam("name")))
_AMONG: Final = Statement(select(images).where(_SEEN, any_of(images.c.id, "ids")))
_INSERT: Final = Statement(insert(images))
_UPDATE: Final = Statement(
    update(images).where(images.c.id == bindparam("key")).values({name: bindparam(name) for name in _NAMES if name != "id"})
)
_DELETE: Final = Statement(delete(images).where(images.c.id == bindparam("id")))
_MOVE: Final = Statement(
    update(images)
    .where(images.c.id == bindparam("key"), images.c.status == bindparam("present"))
    .values(status=bindparam("next"))
)
_REQUEUE: Final = Statement(update(images).where(images.c.status == "saving").values(status="queued"))


def _record_of(row: Row) -> ImageRecord:
    values = list(row)
    values[_PROPERTIES] = orjson.loads(values[_PROPERTIES])
    values[_TAGS] = tuple(orjson.loads(values[_TAGS]))
    return ImageRecord(*values)


def _values_of(record: ImageRecord) -> dict[str, Any]:
    values = asdict(record)
    values["properties"] = orjson.dumps(record.properties).decode()
    values["tags"] = orjson.dumps(record.tags).decode()
    return values


async def find(transaction: Transaction, image_id: str) -> ImageRecord | None:
    """The image with this id, whoever owns it, or None."""
    row = await transaction.one(_ONE, {"id": image_id})
    return None if row is None else _record_of(row)


async def get_locked(transaction: Transaction, image_id: str) -> ImageRecord:
    """The image, held until the transaction ends so that a change is made to what was read. Raises errors.NotFound."""
    row = await transaction.one(_LOCKED, {"id": image_id})
    if row is None:
        raise NotFound(f"Failed to find image {image_id}")
    return _record_of(row)


async def visible(transaction: Transaction, seen: Visible) -> Sequence[ImageRecord]:
    """Every image that may be seen, in no order."""
    return [_record_of(row) for row in await transaction.rows(_ALL, asdict(seen))]


async def visible_named(transaction: Transaction, seen: Visible, name: str) -> Sequence[ImageRecord]:
    """Images of this name that may be seen, in no order."""
    return [_record_of(row) for row in await transaction.rows(_NAMED, {**asdict(seen), "name": name})]


async def visible_among(transaction: Transaction, seen: Visible, ids: Sequence[str]) -> Sequence[ImageRecord]:
    """Those of these images that may be seen, in no order."""
    return [_record_of(row) for row in await transaction.rows(_AMONG, {**asdict(seen), "ids": list(ids)})]


async def add(transaction: Transaction, record: ImageRecord) -> None:
    """Write a new image. Raises errors.Conflict where its id is taken."""
    try:
        await transaction.run(_INSERT, _values_of(record))
    except Duplicate as error:
        raise Conflict(f"Image ID {record.id} already exists!") from error


async def save(transaction: Transaction, record: ImageRecord) -> None:
    """Write a changed image. Raises errors.NotFound."""
    values = _values_of(record)
    key = values.pop("id")
    if not await transaction.run(_UPDATE, {**values, "key": key}):
        raise NotFound(f"Failed to find image {key}")


async def move(transaction: Transaction, image_id: str, present: str, following: str) -> bool:
    """Set the status, if it is still `present`; whether it was."""
    return await transaction.run(_MOVE, {"key": image_id, "present": present, "next": following}) == 1


async def remove(transaction: Transaction, image_id: str) -> None:
    """Delete the image's row. Raises errors.NotFound."""
    if not await transaction.run(_DELETE, {"id": image_id}):
        raise NotFound(f"Failed to find image {image_id}")


async def requeue_saving(transaction: Transaction) -> int:
    """Put images whose upload was cut off by the end of its process back to `queued`; how many."""
    return await transaction.run(_REQUEUE)
