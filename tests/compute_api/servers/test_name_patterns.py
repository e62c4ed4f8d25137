"""How the expressions of filters become patterns."""

import pytest

from kilonova.storage.server_filters import like_patterns


@pytest.mark.parametrize(
    ("expression", "patterns"),
    [
        ("web", ("%web%",)),
        ("^web$", ("web",)),
        ("a.*b", ("%a%b%",)),
        ("a.b", ("%a_b%",)),
        (r"a\.b", ("%a.b%",)),
        ("50%_", (r"%50\%\_%",)),
        ("^(a|b)$", ("a", "b")),
        ("a|^b", ("%a%", "b%")),
        (r"x\$", ("%x$%",)),
    ],
)
def test_expressions_become_patterns(expression: str, patterns: tuple[str, ...]) -> None:
    assert like_patterns(expression) == patterns
