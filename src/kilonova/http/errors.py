"""Errors on the wire: which family is which status, and the forms that the community's services give them."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from kilonova.domain import errors
from kilonova.http.versions import NotAcceptable


class MethodNotAllowed(errors.KilonovaError):
    """The path exists, the method does not."""

    code = "request.method"


class TooLarge(errors.KilonovaError):
    """The body is larger than the face takes."""

    code = "request.too_large"


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
    (errors.Conflict, 409),
    (TooLarge, 413),
    (UnsupportedMedia, 415),
    (errors.Unavailable, 503),
)

ErrorForm = Callable[[int, str, str, str], Mapping[str, Any]]
"""Status, stable code, sentence and request id to the JSON body of a face."""


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


def compute_form(status: int, code: str, sentence: str, request_id: str) -> Mapping[str, Any]:
    """The compute API's form: one key that names the kind of fault. Source: compute API guide, "Faults"."""
    return {_COMPUTE_KEYS.get(status, "computeFault"): {"code": status, "message": sentence}}


def errors_form(status: int, code: str, sentence: str, request_id: str) -> Mapping[str, Any]:
    """The form of placement: a list of errors. Source: API working group's errors guideline."""
    title = HTTPStatus(status).phrase
    entry = {"status": status, "title": title, "detail": sentence, "code": code, "request_id": request_id}
    return {"errors": [entry]}


def identity_form(status: int, code: str, sentence: str, request_id: str) -> Mapping[str, Any]:
    """The identity API's form."""
    return {"error": {"code": status, "title": HTTPStatus(status).phrase, "message": sentence}}


def network_form(status: int, code: str, sentence: str, request_id: str) -> Mapping[str, Any]:
    """The network API's form; `type` is the stable code."""
    return {"NeutronError": {"type": code, "message": sentence, "detail": ""}}


def image_form(status: int, code: str, sentence: str, request_id: str) -> Mapping[str, Any]:
    """A plain form for the image API, whose own service answers HTML that no client reads."""
    return {"code": status, "title": HTTPStatus(status).phrase, "message": sentence}
