"""The bytes of an image, up and down, never as a whole in memory."""

from kilonova.companions.image.handlers.rights import check
from kilonova.companions.image.parts import ImageParts
from kilonova.domain.errors import Forbidden
from kilonova.http.calls import Answer, Call
from kilonova.http.errors import UnsupportedMedia

_OCTETS = "application/octet-stream"


async def upload(call: Call, parts: ImageParts) -> Answer:
    """Take the bytes of a queued image."""
    if call.headers.get("content-type", "").partition(";")[0].strip().lower() != _OCTETS:
        raise UnsupportedMedia(f"The data of an image is of the media type {_OCTETS}.")
    record = await parts.service.find_visible(call.caller, call.path["image_id"])
    check(call, "upload_image", record)
    await parts.service.store(record.id, call.body)
    return Answer(204)


async def download(call: Call, parts: ImageParts) -> Answer:
    """Give the bytes; 204 where there are none yet."""
    record = await parts.service.find_visible(call.caller, call.path["image_id"])
    check(call, "download_image", record)
    if record.status == "deactivated" and not call.caller.is_admin:
        raise Forbidden("The requested image has been deactivated. Image data download is forbidden.")
    if record.status not in {"active", "deactivated"}:
        return Answer(204)
    headers = {"Content-MD5": record.checksum or "", "Content-Length": str(record.size)}
    return Answer(200, await parts.service.open(record), headers, _OCTETS)
