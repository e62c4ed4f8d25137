"""Believes every token: for tests of the placement API without an identity service. Never for a cloud that is used.

Source: the community's placement, `[api] auth_strategy = noauth2`.
"""

from collections.abc import Mapping

from kilonova.domain.errors import Unauthorized
from kilonova.http.calls import ADMIN, Caller


class NoAuthIdentity:
    """A token is `user` or `user:project`; the user admin has the role admin, others what their header X-Roles says."""

    async def caller(self, token: str, headers: Mapping[str, str]) -> Caller:
        """See IdentityService. A header X-Project-Id names another project than the token.

        With a header OpenStack-System-Scope the caller is on the system and has no project but that one.
        """
        user, _, project = token.partition(":")
        if not user:
            raise Unauthorized("The token names no user.")
        roles = frozenset({ADMIN} if user == ADMIN else ())
        if "x-roles" in headers:
            roles = frozenset(role.strip().lower() for role in headers["x-roles"].split(",") if role.strip())
        system = bool(headers.get("openstack-system-scope"))
        place = headers.get("x-project-id") or ("" if system else project or user)
        return Caller(user, place, roles, user, place, system=system)

    async def close(self) -> None:
        """See IdentityService. Nothing is held."""
