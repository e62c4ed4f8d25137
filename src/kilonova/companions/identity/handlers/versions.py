"""Which versions of the identity API there are; asked before a login, so nobody needs a token."""

from typing import Any

from kilonova.companions.identity.parts import IdentityParts
from kilonova.http.calls import Answer, Call


def _version(call: Call) -> dict[str, Any]:
    return {
        "id": "v3.14",
        "status": "stable",
        "updated": "2020-04-07T00:00:00Z",
        "links": [{"rel": "self", "href": f"{call.root}/v3/"}],
        "media-types": [{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}],
    }


async def versions(call: Call, parts: IdentityParts) -> Answer:
    """All versions, as a choice."""
    return Answer(300, {"versions": {"values": [_version(call)]}})


async def version(call: Call, parts: IdentityParts) -> Answer:
    """The only version."""
    return Answer(body={"version": _version(call)})
