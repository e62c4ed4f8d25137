"""Images, all but their bytes."""

from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from kilonova.companions.image import view
from kilonova.companions.image.attributes import checked_tags, with_attributes
from kilonova.companions.image.handlers.rights import check
from kilonova.companions.image.listing import listing, page
from kilonova.companions.image.parts import ImageParts
from kilonova.companions.image.patch import MEDIA_TYPE, patched
from kilonova.domain.clock import new_uuid, now
from kilonova.domain.errors import Forbidden, NotFound
from kilonova.http.calls import Answer, Call
from kilonova.http.errors import UnsupportedMedia
from kilonova.http.paging import page_limit
from kilonova.storage.images import ImageRecord

_PAGE: Final = 25
"""Images on a page when the client does not say, as the community has it."""


async def index(call: Call, parts: ImageParts) -> Answer:
    """A page of images. Links are paths without the face's prefix, which clients put before them."""
    asked = listing(call.query)
    limit = page_limit(call, parts.max_limit) if "limit" in call.query else _PAGE
    found = page(await parts.service.all_visible(call.caller, asked), call.first("marker"), limit)
    kept = [(name, value) for name, values in call.query.items() if name != "marker" for value in values]
    body: dict[str, object] = {
        "images": [view.image(record) for record in found],
        "first": _link(kept),
        "schema": "/v2/schemas/images",
    }
    if found and len(found) == limit:
        body["next"] = _link([*kept, ("marker", found[-1].id)])
    return Answer(body=body)


async def show(call: Call, parts: ImageParts) -> Answer:
    """One image."""
    return Answer(body=view.image(await parts.service.find_visible(call.caller, call.path["image_id"])))


async def create(call: Call, parts: ImageParts) -> Answer:
    """A new image, which waits for its data."""
    asked = dict(call.body)
    moment = now()
    blank = ImageRecord(
        id=str(asked.pop("id", "") or new_uuid()).lower(),
        name=None,
        owner=call.caller.project_id,
        created_at=moment,
        updated_at=moment,
    )
    record = with_attributes(blank, asked)
    check(call, "add_image", record)
    _check_opening(call, blank, record)
    if not record.owner:
        raise Forbidden("An image needs an owner; use a token of a project or name one.")
    await parts.service.add(record)
    return Answer(201, view.image(record), {"Location": f"{call.root}/v2/images/{record.id}"})


async def update(call: Call, parts: ImageParts) -> Answer:
    """Change an image by a JSON patch: all of it or nothing."""
    if call.headers.get("content-type", "").partition(";")[0].strip().lower() != MEDIA_TYPE:
        raise UnsupportedMedia(f"A change of an image is of the media type {MEDIA_TYPE}.")

    def change(record: ImageRecord) -> ImageRecord:
        check(call, "modify_image", record)
        changed = patched(record, call.body)
        _check_opening(call, record, changed)
        return changed

    return Answer(body=view.image(await parts.service.change(call.caller, call.path["image_id"], change)))


async def delete(call: Call, parts: ImageParts) -> Answer:
    """Delete an image with its data."""
    await parts.service.delete(call.caller, call.path["image_id"], lambda record: check(call, "delete_image", record))
    return Answer(204)


async def tag(call: Call, parts: ImageParts) -> Answer:
    """Put a tag on an image; it may be there already."""

    def change(record: ImageRecord) -> ImageRecord:
        check(call, "modify_image", record)
        return replace(record, tags=checked_tags([*record.tags, call.path["tag"]]))

    await parts.service.change(call.caller, call.path["image_id"], change)
    return Answer(204)


async def untag(call: Call, parts: ImageParts) -> Answer:
    """Take a tag off an image."""

    def change(record: ImageRecord) -> ImageRecord:
        check(call, "modify_image", record)
        if call.path["tag"] not in record.tags:
            raise NotFound(f"Image {record.id} has no tag {call.path['tag']}.")
        return replace(record, tags=tuple(name for name in record.tags if name != call.path["tag"]))

    await parts.service.change(call.caller, call.path["image_id"], change)
    return Answer(204)


async def deactivate(call: Call, parts: ImageParts) -> Answer:
    """Keep everybody but administrators from the data until it is reactivated."""
    return await _switch(call, parts, "active", "deactivated")


async def reactivate(call: Call, parts: ImageParts) -> Answer:
    """Give the data free again."""
    return await _switch(call, parts, "deactivated", "active")


async def _switch(call: Call, parts: ImageParts, present: str, following: str) -> Answer:
    rule = "deactivate" if following == "deactivated" else "reactivate"

    def change(record: ImageRecord) -> ImageRecord:
        check(call, rule, record)
        if record.status not in {present, following}:
            raise Forbidden(f"Not allowed to {rule} image in status '{record.status}'")
        return replace(record, status=following)

    await parts.service.change(call.caller, call.path["image_id"], change)
    return Answer(204)


def _check_opening(call: Call, before: ImageRecord, after: ImageRecord) -> None:
    """Showing an image to everybody and giving it away have rules of their own."""
    if after.visibility == "public" and before.visibility != "public":
        check(call, "publicize_image", after)
    if after.visibility == "community" and before.visibility != "community":
        check(call, "communitize_image", after)
    if after.owner != before.owner and not call.caller.is_admin:
        raise Forbidden("Only an administrator may set the owner of an image.")


def _link(pairs: list[tuple[str, str]]) -> str:
    return f"/v2/images?{urlencode(pairs)}" if pairs else "/v2/images"
