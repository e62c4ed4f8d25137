"""The image service that comes with Kilonova: what an image is in a table, its bytes in files."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Final

from kilonova.companions.image.files import ImageFiles
from kilonova.companions.image.listing import Listing
from kilonova.domain.clock import now
from kilonova.domain.errors import Conflict, Forbidden, NotFound
from kilonova.domain.image import Image
from kilonova.http.calls import Caller
from kilonova.storage import images as rows
from kilonova.storage.database import Database, Transaction
from kilonova.storage.images import ImageRecord

_OPEN: Final = frozenset({"public", "community"})
Change = Callable[[ImageRecord], ImageRecord]


def may_see(caller: Caller, record: ImageRecord) -> bool:
    """Whether the caller may know of the image: its owner, administrators, and everybody where it is open."""
    return caller.is_admin or record.owner == caller.project_id or record.visibility in _OPEN


class EmbeddedImages:
    """Keeps images. Who may change one is the face's question; who may know of one is answered here."""

    def __init__(self, database: Database, files: ImageFiles) -> None:
        self._database = database
        self._files = files

    async def recover(self) -> None:
        """Undo uploads that the end of a process cut off. Call it once, before requests are taken."""
        self._files.drop_drafts()
        await self._database.transact(rows.requeue_saving)

    async def get(self, caller: Caller, image_id: str) -> Image:
        """See ImageService."""
        record = await self.find_visible(caller, image_id)
        return Image(
            id=record.id,
            name=record.name or "",
            status=record.status,
            owner=record.owner,
            visibility=record.visibility,
            min_disk_gb=record.min_disk,
            min_ram_mb=record.min_ram,
            size_bytes=record.size,
            disk_format=record.disk_format,
            container_format=record.container_format,
            checksum=record.checksum,
            properties=record.properties,
        )

    async def find_visible(self, caller: Caller, image_id: str) -> ImageRecord:
        """The image, if the caller may know of it. Raises errors.NotFound."""
        async with self._database.read() as transaction:
            return _seen(caller, await rows.find(transaction, image_id), image_id)

    async def all_visible(self, caller: Caller, listing: Listing) -> Sequence[ImageRecord]:
        """The images of a list. Open ones of the community are in it only when they are asked for by visibility."""
        seen = rows.Visible(caller.project_id, caller.is_admin)
        async with self._database.read() as transaction:
            if listing.ids is not None:
                found = await rows.visible_among(transaction, seen, listing.ids)
            elif listing.names is not None and len(listing.names) == 1:
                found = await rows.visible_named(transaction, seen, listing.names[0])
            else:
                found = await rows.visible(transaction, seen)
        if not listing.community:
            found = [item for item in found if item.visibility != "community" or item.owner == caller.project_id]
        return listing.arranged(found)

    async def add(self, record: ImageRecord) -> None:
        """Keep a new image, without bytes. Raises errors.Conflict where its id is taken."""
        await self._database.transact(lambda transaction: rows.add(transaction, record))

    async def change(self, caller: Caller, image_id: str, change: Change) -> ImageRecord:
        """Write what `change` makes of the image. It may raise to refuse; then nothing is written. Raises errors.NotFound."""

        async def work(transaction: Transaction) -> ImageRecord:
            present = _seen(caller, await rows.get_locked(transaction, image_id), image_id)
            changed = replace(change(present), updated_at=now())
            await rows.save(transaction, changed)
            return changed

        return await self._database.transact(work)

    async def delete(self, caller: Caller, image_id: str, check: Callable[[ImageRecord], None]) -> None:
        """Delete the image and its bytes, if `check` does not raise. Raises errors.NotFound, errors.Forbidden if protected."""

        async def work(transaction: Transaction) -> None:
            present = _seen(caller, await rows.get_locked(transaction, image_id), image_id)
            check(present)
            if present.protected:
                raise Forbidden(f"Image {image_id} is protected and cannot be deleted.")
            await rows.remove(transaction, image_id)

        await self._database.transact(work)
        # Bytes without a row harm nobody; a row without bytes would promise an image that is not there.
        await self._files.remove(image_id)

    async def store(self, image_id: str, chunks: AsyncIterator[bytes]) -> None:
        """Take the image's bytes: queued, saving, active. An upload that breaks off leaves it queued again.

        Raises errors.Conflict if it is not queued, errors.NotFound if it is deleted meanwhile.
        """
        if not await self._move(image_id, "queued", "saving"):
            raise Conflict(f"Image {image_id} has data already or takes some; only a queued image can be uploaded to.")
        try:
            written = await self._files.write(image_id, chunks)
        except BaseException:
            await self._move(image_id, "saving", "queued")
            raise

        async def work(transaction: Transaction) -> None:
            present = await rows.get_locked(transaction, image_id)
            stored = replace(
                present,
                status="active",
                size=written.size,
                checksum=written.md5,
                hash_algorithm="sha512",
                hash_value=written.sha512,
                updated_at=now(),
            )
            await rows.save(transaction, stored)

        try:
            await self._database.transact(work)
        except NotFound:
            await self._files.remove(image_id)
            raise

    async def open(self, record: ImageRecord) -> AsyncIterator[bytes]:
        """The image's bytes, piece by piece. Raises errors.NotFound if they are gone."""
        try:
            return await self._files.open(record.id)
        except FileNotFoundError as error:
            raise NotFound(f"The data of image {record.id} is gone.") from error

    async def _move(self, image_id: str, present: str, following: str) -> bool:
        return await self._database.transact(lambda transaction: rows.move(transaction, image_id, present, following))


def _seen(caller: Caller, record: ImageRecord | None, image_id: str) -> ImageRecord:
    if record is None or not may_see(caller, record):
        raise NotFound(f"No image found with ID {image_id}")
    return record
