"""Uuids as clients send them, with dashes or without, and as they are kept."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from kilonova.domain.errors import BadRequest

UUID_PATTERN: Final = "^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$"
ANY_UUID: Final[Mapping[str, Any]] = {"type": "string", "pattern": UUID_PATTERN}


def canonical(uuid: str, what: str) -> str:
    """A uuid in its usual form. Raises BadRequest, whose sentence calls it `what`."""
    try:
        return str(UUID(uuid))
    except ValueError as error:
        raise BadRequest(f"Malformed {what}: {uuid}") from error
