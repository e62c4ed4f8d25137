"""The placement API as an application: its routes and policy on the kit of all faces."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from kilonova.http.face import Authenticator, Face, FaceSettings
from kilonova.http.policy import Policy
from kilonova.http.versions import Versions
from kilonova.placement_api.errors import placement_form
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.policy import RULES
from kilonova.placement_api.root import HIGHEST, OWN
from kilonova.placement_api.routes import ROUTES

_BODY_LIMIT: Final = 64 * 2**20
"""A reshape of a large host tells of all its consumers at once."""


@dataclass(frozen=True, slots=True)
class Mounting:
    """Where the face stands. With `own` it advertises our own versions (behaviour.md section 0)."""

    prefix: str = "/placement"
    own: bool = False
    identity_url: str = ""
    policy: Mapping[str, str] = field(default_factory=dict)


def placement_face(parts: PlacementParts, authenticator: Authenticator, mounting: Mounting = Mounting()) -> Face:
    """The face at one place; two of them may share `parts`."""
    versions = Versions("placement", 1, 0, HIGHEST, OWN, lenient=mounting.own)
    settings = FaceSettings(
        "placement",
        mounting.prefix,
        placement_form,
        versions,
        body_limit=_BODY_LIMIT,
        identity_url=mounting.identity_url,
    )
    here = replace(parts, advertised=versions.advertised)
    return Face(settings, ROUTES, here, authenticator, Policy(RULES, mounting.policy))
