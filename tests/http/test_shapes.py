"""Schemas and views by version."""

import pytest

from kilonova.domain.errors import BadRequest
from kilonova.http.shapes import Checker, Field, Shape, integer, text
from kilonova.http.views import Shown, View

SHAPE = Shape(
    [
        Field("server", Shape([
            Field("name", text(1), required=True),
            Field("tags", {"type": "array", "items": text()}, since=52),
            Field("personality", {"type": "array"}, until=56),
            Field("count", integer(1)),
        ]), required=True),
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("version", "server"),
    [
        (1, {"name": "a"}),
        (52, {"name": "a", "tags": ["t"]}),
        (56, {"name": "a", "personality": []}),
        (1, {"name": "a", "count": "3"}),
    ],
)
def test_a_version_takes_the_fields_that_live_then(version, server):
    Checker().check(SHAPE, version, {"server": server})


@pytest.mark.parametrize(
    ("version", "server", "named"),
    [
        (51, {"name": "a", "tags": []}, "tags"),
        (57, {"name": "a", "personality": []}, "personality"),
        (1, {}, "name"),
        (1, {"name": ""}, "server/name"),
        (1, {"name": "a", "count": 0}, "server/count"),
    ],
)
def test_what_a_version_does_not_take_is_named(version, server, named):
    with pytest.raises(BadRequest, match=named):
        Checker().check(SHAPE, version, {"server": server})


def test_a_view_shows_what_lives_at_the_version_and_what_the_rules_open():
    view = View(
        [Shown("id", lambda item: item), Shown("new", lambda item: 1, since=9), Shown("secret", lambda item: 2, rule="see")]
    )

    assert view.at(1, lambda rule, target: False)("a") == {"id": "a"}
    assert view.at(9, lambda rule, target: True)("a") == {"id": "a", "new": 1, "secret": 2}
