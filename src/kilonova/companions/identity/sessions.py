"""What a token means now: claims looked up in the database, with the roles that the user has at this moment."""

from collections.abc import Sequence
from dataclasses import dataclass

from kilonova.companions.identity.implied import with_implied
from kilonova.companions.identity.tokens import Claims, stamp_of
from kilonova.domain.errors import Unauthorized
from kilonova.http.calls import Caller
from kilonova.storage import identity_records as records
from kilonova.storage.database import Transaction


@dataclass(frozen=True, slots=True)
class Session:
    """A valid token's claims, user, project (None without or on the system), and roles with those implied."""

    claims: Claims
    user: records.User
    project: records.Project | None
    roles: Sequence[records.Role]

    @property
    def system(self) -> bool:
        """Whether the token is for the whole cloud."""
        return self.claims.target == records.SYSTEM

    @property
    def caller(self) -> Caller:
        """The session as every HTTP face knows it."""
        return Caller(
            user_id=self.user.id,
            project_id=self.project.id if self.project else "",
            roles=frozenset(role.name.lower() for role in self.roles),
            user_name=self.user.name,
            project_name=self.project.name if self.project else "",
            domain_id=self.user.domain_id,
            system=self.system,
        )


async def look_up(transaction: Transaction, claims: Claims) -> Session:
    """The session of claims that are neither forged nor expired. Raises errors.Unauthorized where they no longer hold."""
    user = await records.USERS.find(transaction, claims.user_id)
    if user is None or not user.enabled or stamp_of(user.password_hash) != claims.stamp:
        raise Unauthorized("The user of the token is gone, disabled or has another password.")
    if await records.is_revoked(transaction, claims.audit_ids[0]):
        raise Unauthorized("The token was revoked.")
    if not claims.target:
        return Session(claims, user, None, ())
    project = None
    if claims.target != records.SYSTEM:
        project = await records.PROJECTS.find(transaction, claims.target)
        if project is None or not project.enabled:
            raise Unauthorized("The project of the token is gone or disabled.")
    roles = await effective_roles(transaction, user.id, claims.target)
    if not roles:
        raise Unauthorized("The user has no role there.")
    return Session(claims, user, project, roles)


async def effective_roles(transaction: Transaction, user_id: str, target: str) -> Sequence[records.Role]:
    """The user's roles on a project or the system, implied ones included, by name."""
    given = await records.granted(transaction, user_id, target)
    if not given:
        return ()
    every = await records.ROLES.all(transaction)
    names = with_implied(role.name for role in every if role.id in given)
    return [role for role in every if role.name in names]
