"""What every handler of the image API is handed."""

from dataclasses import dataclass

from kilonova.companions.image.embedded import EmbeddedImages


@dataclass(frozen=True, slots=True)
class ImageParts:
    """The service itself, and the most images that one page of a list has."""

    service: EmbeddedImages
    max_limit: int
