"""The identity API as an ASGI application, mounted at /identity."""

from collections.abc import Mapping

from kilonova.companions.identity.catalog import Catalog
from kilonova.companions.identity.embedded import EmbeddedIdentity
from kilonova.companions.identity.parts import IdentityParts
from kilonova.companions.identity.policy import RULES
from kilonova.companions.identity.routes import ROUTES
from kilonova.http.errors import identity_form
from kilonova.http.face import Face, FaceSettings
from kilonova.http.policy import Policy
from kilonova.settings import IdentitySettings

PREFIX = "/identity"


def identity_face(
    service: EmbeddedIdentity,
    settings: IdentitySettings,
    public_url: str,
    overrides: Mapping[str, str] | None = None,
) -> Face:
    """The face of `service`. `public_url` ("http://host:port") is what catalogs are made of; `overrides` are policy rules."""
    parts = IdentityParts(service, Catalog(public_url.rstrip("/"), settings.region))
    face = FaceSettings("identity", PREFIX, identity_form, identity_url=f"{public_url.rstrip('/')}{PREFIX}")
    return Face(face, ROUTES, parts, service, Policy(RULES, overrides))
