"""Tokens: login, a look at a token, its end; and what a token opens."""

from collections.abc import Mapping
from typing import Any, Final

from kilonova.companions.identity import view
from kilonova.companions.identity.embedded import Login, Scope
from kilonova.companions.identity.parts import IdentityParts
from kilonova.companions.identity.sessions import Session
from kilonova.domain.errors import BadRequest, Forbidden, NotFound, Unauthorized
from kilonova.http.calls import Answer, Call
from kilonova.storage import identity_records as records

_METHODS: Final = frozenset({"password", "token"})


async def issue(call: Call, parts: IdentityParts) -> Answer:
    """Log in. The token itself stands in the header X-Subject-Token."""
    issued = await parts.service.log_in(_login(call.body["auth"]))
    return Answer(201, _shown(call, parts, issued.session), _headers(issued.token))


async def show(call: Call, parts: IdentityParts) -> Answer:
    """What the token in X-Subject-Token means; HEAD asks only whether it is valid."""
    token, session = await _subject(call, parts, "identity:validate_token")
    return Answer(200, _shown(call, parts, session), _headers(token))


async def revoke(call: Call, parts: IdentityParts) -> Answer:
    """End the token in X-Subject-Token."""
    _, session = await _subject(call, parts, "identity:revoke_token")
    await parts.service.revoke(session)
    return Answer(204)


async def catalog(call: Call, parts: IdentityParts) -> Answer:
    """The catalog that the caller's token carries."""
    if not call.caller.project_id and not call.caller.system:
        raise Forbidden("A token without a scope has no catalog.")
    return view.collection(call, "catalog", parts.catalog.document)


async def projects(call: Call, parts: IdentityParts) -> Answer:
    """Projects that the caller may ask a token for."""
    async with parts.service.database.read() as transaction:
        found = await records.projects_of(transaction, call.caller.user_id)
    return view.collection(call, "projects", [view.project(call, item) for item in found if item.enabled])


async def domains(call: Call, parts: IdentityParts) -> Answer:
    """Domains that the caller may ask a token for: none, as roles are given on projects and the system only."""
    return view.collection(call, "domains", [])


async def system(call: Call, parts: IdentityParts) -> Answer:
    """Whether the caller may ask a token for the system."""
    async with parts.service.database.read() as transaction:
        given = await records.granted(transaction, call.caller.user_id, records.SYSTEM)
    return view.collection(call, "system", [{"all": True}] if given else [])


def _headers(token: str) -> dict[str, str]:
    return {"X-Subject-Token": token, "Vary": "X-Auth-Token"}


def _shown(call: Call, parts: IdentityParts, session: Session) -> dict[str, Any]:
    return {"token": view.token(session, None if "nocatalog" in call.query else parts.catalog)}


async def _subject(call: Call, parts: IdentityParts, rule: str) -> tuple[str, Session]:
    token = call.headers.get("x-subject-token", "")
    if not token:
        raise BadRequest("The header X-Subject-Token is missing.")
    try:
        session = await parts.service.session(token)
    except Unauthorized as error:
        # The caller is known; it is the token asked about that is not there any more.
        raise NotFound("Could not find the token in X-Subject-Token.") from error
    if not call.allows(rule, {"user_id": session.user.id}):
        raise Forbidden("You are not authorized to perform the requested action on another user's token.")
    return token, session


def _login(auth: Mapping[str, Any]) -> Login:
    identity = auth["identity"]
    methods = tuple(dict.fromkeys(identity["methods"]))
    for method in methods:
        if method not in _METHODS:
            raise Unauthorized(f"The login method {method} is not served; password and token are.")
        if method not in identity:
            raise BadRequest(f"Invalid input for field/attribute auth/identity/{method}. It is missing.")
    user = identity["password"]["user"] if "password" in methods else {}
    if "id" not in user:
        _check_domain(user.get("domain"))
    return Login(
        methods=methods,
        user_id=user.get("id", ""),
        user_name=user.get("name", ""),
        password=user.get("password", ""),
        token=identity["token"]["id"] if "token" in methods else "",
        scope=_scope(auth.get("scope")),
    )


def _scope(asked: Mapping[str, Any] | str | None) -> Scope:
    if not asked:
        return Scope()
    if isinstance(asked, str):
        return Scope("unscoped")
    if "system" in asked:
        return Scope("system")
    if "domain" in asked:
        raise Unauthorized("You have no role on the domain; roles are given on projects and on the system.")
    project = asked["project"]
    if "id" not in project:
        _check_domain(project.get("domain"))
    return Scope("project", project.get("id", ""), project.get("name", ""))


def _check_domain(domain: Mapping[str, str] | None) -> None:
    for key, value in (domain or {}).items():
        if value.lower() != view.DOMAIN[key].lower():
            raise Unauthorized("The request you have made requires authentication.")
