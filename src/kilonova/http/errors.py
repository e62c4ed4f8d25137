"""Errors on the wire: which family is which status, and the forms that the community's services give them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from kilonova.domain import errors
from kilonova.http.versions import NotAcceptable


class MethodNotAllowed(errors.KilonovaError):
    """The path exists, the method does not; `allowed` are those that do."""

    code = "request.method"

    def __init__(self, method: str, allowed: Sequence[str]) -> None:
        super().__init__(f"The method {method} is not allowed for this resource.")
        self.allowed = tuple(allowed)


class TooLarge(errors.KilonovaError):
    """The body is larger than the face takes."""

    code = "request.too_large"


class NotAccepted(errors.KilonovaError):
    """The client takes none of the media types that the answer could have."""

    code = "request.accept"


class UnsupportedMedia(errors.KilonovaError):
    """The body is of a media type that the face does not read."""

    code = "request.media_type"


_STATUSES: Final[tuple[tuple[type[errors.KilonovaError], int], ...]] = (
    (errors.BadRequest, 400),
    (errors.Unauthorized, 401),
    (errors.Forbidden, 403),
    (errors.NotFound, 404),
    (MethodNotAllowed, 405),
    (NotAcceptable, 406),
    (NotAccepted, 406),
    (errors.Conflict, 409),
    (TooLarge, 413),
    (UnsupportedMedia, 415),
    (errors.Unavailable, 503),
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is told of an error: status, stable code, sentence and request id.

    `version` is the minor that was asked for, None where it could not be read; `served` are the lowest and the highest version
    where the one that was asked for is not among them.
    """

    status: int
    code: str
    sentence: str
    request_id: str
    version: int | None = None
    served: tuple[str, str] | None = None

    @property
    def title(self) -> str:
        """The status in words."""
        return HTTPStatus(self.status).phrase


ErrorForm = Callable[[Refusal], Mapping[str, Any]]
"""What is told to the JSON body of a face."""


def status_of(error: errors.KilonovaError) -> int:
    """The status of an error's family; 500 for one that should never reach a caller."""
    return next((status for family, status in _STATUSES if isinstance(error, family)), 500)


_COMPUTE_KEYS: Final = {
    400: "badRequest",
    401: "unauthorized",
    403: "forbidden",
    404: "itemNotFound",
    405: "badMethod",
    409: "conflictingRequest",
    413: "overLimit",
    415: "badMediaType",
    429: "overLimit",
    501: "notImplemented",
    503: "serviceUnavailable",
}


def compute_form(refusal: Refusal) -> Mapping[str, Any]:
    """The compute API's form: one key that names the kind of fault. Source: compute API guide, "Faults"."""
    return {_COMPUTE_KEYS.get(refusal.status, "computeFault"): {"code": refusal.status, "message": refusal.sentence}}


def errors_form(refusal: Refusal) -> Mapping[str, Any]:
    """The form of placement: a list of errors. Source: API working group's guidelines, "Errors" and "Microversions"."""
    entry = {
        "status": refusal.status,
        "title": refusal.title,
        "detail": refusal.sentence,
        "code": refusal.code,
        "request_id": refusal.request_id,
    }
    if refusal.served is not None:
        entry["min_version"], entry["max_version"] = refusal.served
    return {"errors": [entry]}


def identity_form(refusal: Refusal) -> Mapping[str, Any]:
    """The identity API's form."""
    return {"error": {"code": refusal.status, "title": refusal.title, "message": refusal.sentence}}


def network_form(refusal: Refusal) -> Mapping[str, Any]:
    """The network API's form; `type` is the stable code."""
    return {"NeutronError": {"type": refusal.code, "message": refusal.sentence, "detail": ""}}


def image_form(refusal: Refusal) -> Mapping[str, Any]:
    """A plain form for the image API, whose own service answers HTML that no client reads."""
    return {"code": refusal.status, "title": refusal.title, "message": refusal.sentence}
