"""The image API as an ASGI application, mounted at /image."""

from collections.abc import Mapping

from kilonova.companions.image.parts import ImageParts
from kilonova.companions.image.policy import RULES
from kilonova.companions.image.routes import ROUTES
from kilonova.http.errors import image_form
from kilonova.http.face import Authenticator, Face, FaceSettings
from kilonova.http.policy import Policy

PREFIX = "/image"


def image_face(
    parts: ImageParts, authenticator: Authenticator, identity_url: str, overrides: Mapping[str, str] | None = None
) -> Face:
    """The face of the image service. `identity_url` tells strangers where to log in; `overrides` are policy rules."""
    settings = FaceSettings("image", PREFIX, image_form, identity_url=identity_url)
    return Face(settings, ROUTES, parts, authenticator, Policy(RULES, overrides))
