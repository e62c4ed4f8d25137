"""What Kilonova asks of an image service, whichever it is."""

from typing import Protocol

from kilonova.domain.image import Image
from kilonova.http.calls import Caller


class ImageService(Protocol):
    """Ownership is checked when a request is accepted, with the caller; nothing here is asked by operations."""

    async def get(self, caller: Caller, image_id: str) -> Image:
        """The image, if the caller may use it. Raises errors.NotFound, errors.Unavailable."""
        ...
