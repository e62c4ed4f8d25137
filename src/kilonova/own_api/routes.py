"""Every URL of our own on one page, and who may use it."""

from collections.abc import Mapping, Sequence
from typing import Final

from kilonova.http.calls import Route
from kilonova.http.shapes import Shape
from kilonova.own_api import handlers

RULES: Final[Mapping[str, str]] = {
    "kilonova:admin_api": "role:admin",
    "kilonova:explanations:show": "rule:kilonova:admin_api",
    "kilonova:audit:show": "rule:kilonova:admin_api",
    "kilonova:audit:repair": "rule:kilonova:admin_api",
    "kilonova:chaos": "rule:kilonova:admin_api",
}

KILONOVA: Final[Sequence[Route]] = (
    Route("GET", "/explanations/{server}", handlers.show_explanation, "kilonova:explanations:show"),
    Route("GET", "/audit", handlers.show_audit, "kilonova:audit:show"),
    Route("POST", "/audit/repair", handlers.repair_audit, "kilonova:audit:repair"),
)

# The chaos door knows the fields of a rule itself and names the one that is wrong.
_RULE: Final = Shape(extra=True)

CHAOS: Final[Sequence[Route]] = (
    Route("GET", "/points", handlers.list_points, "kilonova:chaos"),
    Route("GET", "/rules", handlers.list_rules, "kilonova:chaos"),
    Route("POST", "/rules", handlers.create_rule, "kilonova:chaos", body=_RULE),
    Route("DELETE", "/rules", handlers.delete_rules, "kilonova:chaos"),
    Route("DELETE", "/rules/{rule}", handlers.delete_rule, "kilonova:chaos"),
)
