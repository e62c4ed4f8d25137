"""Every URL of the image API on one page."""

from collections.abc import Sequence

from kilonova.companions.image import schema
from kilonova.companions.image.handlers import data, images, versions
from kilonova.http.calls import Route

_IMAGE = "/v2/images/{image_id}"

ROUTES: Sequence[Route] = (
    Route("GET", "/", versions.choice, ""),
    Route("GET", "/versions", versions.versions, ""),
    Route("GET", "/v2/images", images.index, "get_images", query=schema.LIST),
    Route("POST", "/v2/images", images.create, "add_image", schema.NEW_IMAGE),
    Route("GET", _IMAGE, images.show, "get_image"),
    Route("PATCH", _IMAGE, images.update, "modify_image", schema.CHANGES),
    Route("DELETE", _IMAGE, images.delete, "delete_image"),
    Route("PUT", f"{_IMAGE}/file", data.upload, "upload_image", stream=True),
    Route("GET", f"{_IMAGE}/file", data.download, "download_image"),
    Route("PUT", f"{_IMAGE}/tags/{{tag}}", images.tag, "modify_image"),
    Route("DELETE", f"{_IMAGE}/tags/{{tag}}", images.untag, "modify_image"),
    Route("POST", f"{_IMAGE}/actions/deactivate", images.deactivate, "deactivate"),
    Route("POST", f"{_IMAGE}/actions/reactivate", images.reactivate, "reactivate"),
    Route("GET", "/v2/schemas/image", versions.schema, "get_image"),
    Route("GET", "/v2/schemas/images", versions.list_schema, "get_images"),
    Route("GET", "/v2/info/import", versions.import_methods, "get_images"),
)
