"""The identity that believes everybody, for tests of the placement API."""

from collections.abc import Mapping

import pytest

from kilonova.companions.identity.noauth import NoAuthIdentity
from kilonova.domain.errors import Unauthorized
from kilonova.http.calls import Caller


@pytest.mark.parametrize(
    ("token", "headers", "known"),
    [
        ("admin", {}, Caller("admin", "admin", frozenset({"admin"}), "admin", "admin")),
        ("anna:p1", {}, Caller("anna", "p1", frozenset(), "anna", "p1")),
        ("anna:p1", {"x-roles": "Reader, member"}, Caller("anna", "p1", frozenset({"reader", "member"}), "anna", "p1")),
        ("admin", {"x-roles": "reader"}, Caller("admin", "admin", frozenset({"reader"}), "admin", "admin")),
        ("anna:p1", {"x-project-id": "p2"}, Caller("anna", "p2", frozenset(), "anna", "p2")),
        ("admin", {"openstack-system-scope": "all"}, Caller("admin", "", frozenset({"admin"}), "admin", "", system=True)),
    ],
)
async def test_the_token_and_its_headers_say_who_it_is(token: str, headers: Mapping[str, str], known: Caller):
    assert await NoAuthIdentity().caller(token, headers) == known


async def test_a_token_without_a_user_is_nobody_s():
    with pytest.raises(Unauthorized):
        await NoAuthIdentity().caller(":p1", {})
