"""The version documents: of the root, which lists the one major version, and of that version itself. Nobody needs a token."""

from collections.abc import Mapping
from typing import Any, Final

from kilonova.http.calls import Answer, Call, Route
from kilonova.http.versions import Versions

_UPDATED: Final = "2013-07-23T11:33:21Z"
"""When 2.1 was defined: clients have always been told so."""


def _document(versions: Versions, address: str) -> dict[str, Any]:
    return {
        "id": f"v{versions.major}.{versions.lowest}",
        "status": "CURRENT",
        "version": f"{versions.major}.{versions.advertised}",
        "min_version": f"{versions.major}.{versions.lowest}",
        "updated": _UPDATED,
        "links": [{"rel": "self", "href": address}],
    }


def root_routes(versions: Versions) -> list[Route]:
    """The rows of the face above the version: "/" lists what there is."""

    async def show(call: Call, parts: object) -> Answer:
        address = f"{call.root}/v{versions.major}.{versions.lowest}/"
        return Answer(300, {"versions": [_document(versions, address)]})

    return [Route("GET", "/", show, "")]


def version_routes(versions: Versions) -> list[Route]:
    """The rows of the face of the version itself: "/" describes it."""

    async def show(call: Call, parts: object) -> Answer:
        document = _document(versions, f"{call.root}/")
        media: Mapping[str, str] = {
            "base": "application/json",
            "type": f"application/vnd.openstack.compute+json;version={versions.major}.{versions.lowest}",
        }
        return Answer(body={"version": {**document, "media-types": [media]}})

    return [Route("GET", "/", show, "")]
