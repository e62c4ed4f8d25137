"""The placement API as an application: its routes and policy on the kit of all faces."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from kilonova.http.face import Authenticator, Face, FaceSettings
from kilonova.http.policy import Policy
from kilonova.http.versions import Versions
from kilonova.placement_api.errors import placement_form
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.policy import rules
from kilonova.placement_api.root import HIGHEST, OWN
from kilonova.placement_api.routes import ROUTES
from kilonova.placement_api.wording import BAD_VERSION, MALFORMED, UNSERVED_VERSION, told

_BODY_LIMIT: Final = 64 * 2**20
"""A reshape of a large host tells of all its consumers at once."""


@dataclass(frozen=True, slots=True)
class Mounting:
    """Where the face stands. With `own` it advertises our own versions (behaviour.md section 0).

    `policy` has rules by the community's names, in place of the defaults.
    """

    prefix: str = "/placement"
    own: bool = False
    identity_url: str = ""
    policy: Mapping[str, str] = field(default_factory=dict)


def placement_face(parts: PlacementParts, authenticator: Authenticator, mounting: Mounting = Mounting()) -> Face:
    """The face at one place; two of them may share `parts`."""
    versions = Versions("placement", 1, 0, HIGHEST, OWN, lenient=mounting.own, malformed=BAD_VERSION, unserved=UNSERVED_VERSION)
    settings = FaceSettings(
        "placement",
        mounting.prefix,
        placement_form,
        versions,
        body_limit=_BODY_LIMIT,
        identity_url=mounting.identity_url,
        flaws=told,
        malformed=MALFORMED,
        exact_media=True,
    )
    here = replace(parts, advertised=versions.advertised)
    return Face(settings, ROUTES, here, authenticator, Policy(rules(mounting.policy)))
