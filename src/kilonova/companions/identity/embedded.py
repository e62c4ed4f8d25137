"""The identity service that comes with Kilonova: users, projects and roles in its own tables, tokens sealed by a key file."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from kilonova.companions.identity.implied import BUILT_IN
from kilonova.companions.identity.passwords import Passwords
from kilonova.companions.identity.sessions import Session, effective_roles, look_up
from kilonova.companions.identity.tokens import Claims, Seal, new_audit_id, stamp_of
from kilonova.domain.clock import new_uuid, now
from kilonova.domain.errors import NotFound, Unauthorized
from kilonova.http.calls import Caller
from kilonova.settings import IdentitySettings
from kilonova.storage import identity_records as records
from kilonova.storage.database import Database, Transaction

Result = TypeVar("Result")

CACHED_CALLERS: Final = 10_000
CACHE_SECONDS: Final = 3.0
"""How long another process may go on with a token that was revoked here."""

_NO_HEADERS: Final[Mapping[str, str]] = {}
_REFUSED: Final = "The request you have made requires authentication."


@dataclass(frozen=True, slots=True)
class Scope:
    """What a login asks for: `kind` is "project", "system", "unscoped", or "default" (the user's own project, if any)."""

    kind: str = "default"
    project_id: str = ""
    project_name: str = ""


@dataclass(frozen=True, slots=True)
class Login:
    """Who wants a token and how that is proved: by user (id, or name) and password, by a token, or both."""

    methods: tuple[str, ...]
    user_id: str = ""
    user_name: str = ""
    password: str = ""
    token: str = ""
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token and what it means."""

    token: str
    session: Session


class EmbeddedIdentity:
    """Logs users in and knows callers by their tokens. Of `keys` the first encrypts and all decrypt."""

    def __init__(self, database: Database, keys: Sequence[bytes], settings: IdentitySettings) -> None:
        self.database = database
        self.passwords = Passwords()
        self._seal = Seal(keys)
        self._life = int(settings.token_seconds * 1_000_000)
        self._callers: dict[str, tuple[Caller, float]] = {}
        self._changes = 0

    async def caller(self, token: str, headers: Mapping[str, str] = _NO_HEADERS) -> Caller:
        """See IdentityService; the token alone says who it is.

        The answer is kept for CACHE_SECONDS, or until something is changed in this process.
        """
        held = self._callers.get(token)
        if held is not None and held[1] > time.monotonic():
            return held[0]
        seen = self._changes
        session = await self.session(token)
        caller = session.caller
        # What was looked up before a change that is done by now must not be kept.
        if seen == self._changes:
            while len(self._callers) >= CACHED_CALLERS:
                del self._callers[next(iter(self._callers))]
            left = (session.claims.expires_at - now()) / 1_000_000
            self._callers[token] = (caller, time.monotonic() + min(CACHE_SECONDS, left))
        return caller

    async def close(self) -> None:
        """See IdentityService. The database is its owner's to close."""

    async def session(self, token: str) -> Session:
        """What the token means now. Raises errors.Unauthorized."""
        claims = self._seal.opened(token)
        if claims.expires_at <= now():
            raise Unauthorized("The token has expired.")
        async with self.database.read() as transaction:
            return await look_up(transaction, claims)

    async def log_in(self, login: Login) -> Issued:
        """A token for who proves to be a user with a role on what is asked for. Raises errors.Unauthorized.

        A token made from another one ends when that one does.
        """
        parent = await self.session(login.token) if "token" in login.methods else None
        user = parent.user if parent else None
        if "password" in login.methods:
            proven = await self._proven(login)
            if user is not None and user.id != proven.id:
                raise Unauthorized(_REFUSED)
            user = proven
        if user is None:
            raise Unauthorized(_REFUSED)
        async with self.database.read() as transaction:
            target = await self._target(transaction, user, login.scope)
            return await self._issued(transaction, user, target, login.methods, parent)

    async def issue_token(self, user: str, project: str) -> str:
        """A token for a user on a project, both by name, without a password. Raises errors.NotFound, errors.Unauthorized."""
        async with self.database.read() as transaction:
            found = await records.USERS.find_named(transaction, user)
            where = await records.PROJECTS.find_named(transaction, project)
            if found is None or where is None:
                raise NotFound(f"There is no user {user} or no project {project}.")
            issued = await self._issued(transaction, found, where.id, ("password",), None)
        return issued.token

    async def revoke(self, session: Session) -> None:
        """End a token before its time."""
        claims = session.claims
        await self.change(lambda work: records.revoke(work, claims.audit_ids[0], claims.expires_at, now()))

    async def change(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run a transaction that may change what some token means; nothing that was known before is believed after it."""
        try:
            return await self.database.transact(work)
        finally:
            self._changes += 1
            self._callers.clear()

    async def bootstrap(self, admin_password: str) -> None:
        """Make what every cloud needs: the built-in roles, projects admin and service, the user admin. What is there stays."""
        async with self.database.read() as transaction:
            known = await records.USERS.find_named(transaction, "admin")
        password_hash = known.password_hash if known else await self.passwords.hashed(admin_password)

        async def work(transaction: Transaction) -> None:
            roles = {name: await records.ROLES.ensure(transaction, records.Role(new_id(), name)) for name in BUILT_IN}
            project = await records.PROJECTS.ensure(
                transaction, records.Project(new_id(), "admin", description="The cloud's administrators")
            )
            await records.PROJECTS.ensure(
                transaction, records.Project(new_id(), "service", description="The cloud's own services")
            )
            user = await records.USERS.ensure(
                transaction,
                records.User(new_id(), "admin", default_project_id=project.id, password_hash=password_hash),
            )
            if known is None:
                for name in ("admin", "member", "reader"):
                    await records.grant(transaction, user.id, project.id, roles[name].id)
                await records.grant(transaction, user.id, records.SYSTEM, roles["admin"].id)

        await self.change(work)

    async def _proven(self, login: Login) -> records.User:
        async with self.database.read() as transaction:
            if login.user_id:
                user = await records.USERS.find(transaction, login.user_id)
            else:
                user = await records.USERS.find_named(transaction, login.user_name)
        fits = await self.passwords.fits(user.password_hash if user else "", login.password)
        if user is None or not fits or not user.enabled:
            raise Unauthorized(_REFUSED)
        return user

    async def _target(self, transaction: Transaction, user: records.User, scope: Scope) -> str:
        if scope.kind == "system":
            return records.SYSTEM
        if scope.kind == "project":
            if scope.project_id:
                project = await records.PROJECTS.find(transaction, scope.project_id)
            else:
                project = await records.PROJECTS.find_named(transaction, scope.project_name)
            if project is None:
                raise Unauthorized(_REFUSED)
            return project.id
        if scope.kind == "default" and user.default_project_id:
            # A default that cannot be used gives a token without a scope, not a refusal.
            own = await records.PROJECTS.find(transaction, user.default_project_id)
            if own is not None and own.enabled and await effective_roles(transaction, user.id, own.id):
                return own.id
        return ""

    async def _issued(
        self,
        transaction: Transaction,
        user: records.User,
        target: str,
        methods: tuple[str, ...],
        parent: Session | None,
    ) -> Issued:
        moment = now()
        ends = parent.claims.expires_at if parent else moment + self._life
        audit_ids = (new_audit_id(), *(parent.claims.audit_ids[:1] if parent else ()))
        claims = Claims(user.id, target, methods, audit_ids, moment, ends, stamp_of(user.password_hash))
        return Issued(self._seal.closed(claims), await look_up(transaction, claims))


def new_id() -> str:
    """An id of 32 hexadecimal digits, the form that clients expect of users and projects."""
    return new_uuid().replace("-", "")
