"""The version document, and the answer for a method that came later than its path."""

from typing import Final

from kilonova.http.calls import Answer, Call
from kilonova.http.errors import MethodNotAllowed
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.replies import reply

HIGHEST: Final = 39
OWN: Final = 1002


async def versions(call: Call, parts: PlacementParts) -> Answer:
    """GET /: what is served here; nobody needs a token for it."""
    document = {
        "id": "v1.0",
        "min_version": "1.0",
        "max_version": f"1.{parts.advertised}",
        "status": "CURRENT",
        "links": [{"rel": "self", "href": ""}],
    }
    return reply(call, {"versions": [document]})


async def no_delete_yet(call: Call, parts: PlacementParts) -> Answer:
    """DELETE of all inventories before 1.5: the path is there, the method is not. Raises MethodNotAllowed."""
    raise MethodNotAllowed(call.method, ("GET", "POST", "PUT"))
