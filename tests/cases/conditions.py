"""What tests put before themselves."""

from collections.abc import Callable
from typing import Any

import pytest


def with_settings(**changes: dict[str, Any]) -> Callable[..., Any]:
    """The test's cloud has some settings otherwise: `quota={"instances": 1}`."""
    return pytest.mark.parametrize("changes", [changes], ids=["set"])
