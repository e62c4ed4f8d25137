"""Which versions of the image API there are, and what it can say of itself. Versions are asked before a login."""

from kilonova.companions.image import view
from kilonova.companions.image.parts import ImageParts
from kilonova.http.calls import Answer, Call

_NUMBERS = ("v2.9", "v2.7", "v2.6", "v2.5", "v2.4", "v2.3", "v2.2", "v2.1", "v2.0")


async def choice(call: Call, parts: ImageParts) -> Answer:
    """All versions, as a choice."""
    return Answer(300, _document(call))


async def versions(call: Call, parts: ImageParts) -> Answer:
    """All versions."""
    return Answer(body=_document(call))


async def schema(call: Call, parts: ImageParts) -> Answer:
    """The JSON schema of an image."""
    return Answer(body=view.SCHEMA)


async def list_schema(call: Call, parts: ImageParts) -> Answer:
    """The JSON schema of a list of images."""
    return Answer(body=view.LIST_SCHEMA)


async def import_methods(call: Call, parts: ImageParts) -> Answer:
    """Ways to import data besides an upload: none."""
    methods = {"description": "Import methods available.", "type": "array", "value": []}
    return Answer(body={"import-methods": methods})


def _document(call: Call) -> dict[str, object]:
    link = {"rel": "self", "href": f"{call.root}/v2/"}
    return {
        "versions": [
            {"id": number, "status": "SUPPORTED" if place else "CURRENT", "links": [link]}
            for place, number in enumerate(_NUMBERS)
        ]
    }
