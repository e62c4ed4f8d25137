"""The question that every change of an image begins with."""

from kilonova.domain.errors import Forbidden
from kilonova.http.calls import Call
from kilonova.storage.images import ImageRecord


def check(call: Call, rule: str, record: ImageRecord) -> None:
    """Raises errors.Forbidden where the rule does not let the caller do this to the image."""
    if not call.allows(rule, {"project_id": record.owner}):
        raise Forbidden(f"You are not authorized to complete {rule} on image {record.id}.")
