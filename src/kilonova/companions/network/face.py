"""The network API as a face that can be mounted."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from kilonova.companions.network.parts import NetworkParts
from kilonova.companions.network.policy import RULES
from kilonova.companions.network.routes import ROUTES
from kilonova.http.errors import Refusal, network_form
from kilonova.http.face import Authenticator, Face, FaceSettings
from kilonova.http.policy import Policy

_TYPES: Final[Mapping[str, str]] = {
    "request.bad": "HTTPBadRequest",
    "request.method": "HTTPMethodNotAllowed",
    "request.too_large": "HTTPRequestEntityTooLarge",
    "request.media_type": "HTTPUnsupportedMediaType",
    "resource.not_found": "HTTPNotFound",
    "identity.unauthorized": "HTTPUnauthorized",
    "policy.forbidden": "PolicyNotAuthorized",
    "state.conflict": "Conflict",
    "service.unavailable": "HTTPServiceUnavailable",
    "kilonova.unexpected": "HTTPInternalServerError",
}
"""The kit's codes by the names that clients of this API know."""


def error_form(refusal: Refusal) -> Mapping[str, Any]:
    """The network API's form of an error, with the type that its clients expect."""
    return network_form(replace(refusal, code=_TYPES.get(refusal.code, refusal.code)))


def network_face(
    parts: NetworkParts,
    authenticator: Authenticator,
    *,
    policy: Mapping[str, str] | None = None,
    prefix: str = "/network",
    identity_url: str = "",
) -> Face:
    """The face. `policy` overrides rules by name, `prefix` is where it is mounted."""
    settings = FaceSettings(name="network", prefix=prefix, errors=error_form, body_limit=1_048_576, identity_url=identity_url)
    return Face(settings, ROUTES, parts, authenticator, Policy(RULES, policy))
