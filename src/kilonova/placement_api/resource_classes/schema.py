"""What requests about resource classes look like."""

from typing import Final

from kilonova.http.shapes import Field, Shape

CUSTOM_PATTERN: Final = "^CUSTOM_[A-Z0-9_]+$"
NAMED: Final = Shape([Field("name", {"type": "string", "maxLength": 255, "pattern": CUSTOM_PATTERN}, required=True)])
