"""Numbers in bodies, within what the database can keep."""

from typing import Any, Final

_LARGEST: Final = 2**63 - 1

ANY_GENERATION: Final[dict[str, Any]] = {"type": "integer", "minimum": -_LARGEST, "maximum": _LARGEST}
"""A generation. One that never was is a conflict, not a bad request."""
