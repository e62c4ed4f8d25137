"""Default policy of the image API, by the community's rule names. A target's project_id is the image's owner."""

from collections.abc import Mapping
from typing import Final

_OWNER: Final = "role:admin or (role:member and project_id:%(project_id)s)"

RULES: Final[Mapping[str, str]] = {
    "get_images": "",
    "get_image": "",
    "download_image": "",
    "add_image": _OWNER,
    "modify_image": _OWNER,
    "delete_image": _OWNER,
    "upload_image": _OWNER,
    "deactivate": _OWNER,
    "reactivate": _OWNER,
    "communitize_image": _OWNER,
    "publicize_image": "role:admin",
}
