"""What the identity API shows of its resources."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kilonova.companions.identity.catalog import Catalog, Endpoint, Service
from kilonova.companions.identity.implied import BUILT_IN
from kilonova.companions.identity.sessions import Session
from kilonova.domain.clock import iso_micro
from kilonova.http.calls import Answer, Call
from kilonova.storage.identity_records import SYSTEM, Assignment, Project, Role, User

DOMAIN: Final[Mapping[str, str]] = {"id": "default", "name": "Default"}
"""The only domain, as other resources refer to it."""


def collection(call: Call, name: str, items: Sequence[Mapping[str, Any]]) -> Answer:
    """A whole list; there are no pages."""
    return Answer(body={name: items, "links": {"next": None, "self": call.url, "previous": None}})


def _self(call: Call, path: str) -> dict[str, str]:
    return {"self": f"{call.root}/v3/{path}"}


def domain(call: Call) -> dict[str, Any]:
    """The only domain."""
    return {
        **DOMAIN,
        "description": "The default domain",
        "enabled": True,
        "tags": [],
        "options": {},
        "links": _self(call, "domains/default"),
    }


def project(call: Call, item: Project) -> dict[str, Any]:
    """A project."""
    return {
        "id": item.id,
        "name": item.name,
        "domain_id": item.domain_id,
        "description": item.description,
        "enabled": item.enabled,
        "parent_id": item.domain_id,
        "is_domain": False,
        "tags": [],
        "options": {},
        "links": _self(call, f"projects/{item.id}"),
    }


def user(call: Call, item: User) -> dict[str, Any]:
    """A user, without anything of the password."""
    return {
        "id": item.id,
        "name": item.name,
        "domain_id": item.domain_id,
        "description": item.description,
        "email": item.email,
        "default_project_id": item.default_project_id,
        "enabled": item.enabled,
        "password_expires_at": None,
        "options": {},
        "links": _self(call, f"users/{item.id}"),
    }


def role(call: Call, item: Role) -> dict[str, Any]:
    """A role."""
    return {
        "id": item.id,
        "name": item.name,
        "domain_id": None,
        "description": None,
        "options": {"immutable": True} if item.name in BUILT_IN else {},
        "links": _self(call, f"roles/{item.id}"),
    }


def assignment(call: Call, item: Assignment, *, names: bool) -> dict[str, Any]:
    """A user's role on a project or the system, with the names of all three if asked."""

    def named(record_id: str, name: str | None) -> dict[str, Any]:
        return {"id": record_id, "name": name, "domain": DOMAIN} if names else {"id": record_id}

    shown_role = {"id": item.role_id, "name": item.role_name} if names else {"id": item.role_id}
    shown_user = named(item.user_id, item.user_name)
    if item.target == SYSTEM:
        link = f"system/users/{item.user_id}/roles/{item.role_id}"
        scope: dict[str, Any] = {"system": {"all": True}}
    else:
        link = f"projects/{item.target}/users/{item.user_id}/roles/{item.role_id}"
        scope = {"project": named(item.target, item.project_name)}
    return {"role": shown_role, "user": shown_user, "scope": scope, "links": {"assignment": f"{call.root}/v3/{link}"}}


def service(call: Call, item: Service) -> dict[str, Any]:
    """A service of the catalog."""
    return {
        "id": item.id,
        "type": item.type,
        "name": item.name,
        "description": "",
        "enabled": True,
        "links": _self(call, f"services/{item.id}"),
    }


def endpoint(call: Call, item: Endpoint) -> dict[str, Any]:
    """An endpoint of the catalog."""
    return {
        "id": item.id,
        "interface": item.interface,
        "region": item.region,
        "region_id": item.region,
        "service_id": item.service.id,
        "url": item.url,
        "enabled": True,
        "links": _self(call, f"endpoints/{item.id}"),
    }


def region(call: Call, name: str) -> dict[str, Any]:
    """The only region."""
    return {"id": name, "description": "", "parent_region_id": None, "links": _self(call, f"regions/{name}")}


def token(session: Session, catalog: Catalog | None) -> dict[str, Any]:
    """A token as its owner or a service sees it; without a scope it has neither roles nor a catalog."""
    claims, owner = session.claims, session.user
    shown: dict[str, Any] = {
        "methods": claims.methods,
        "user": {"id": owner.id, "name": owner.name, "domain": DOMAIN, "password_expires_at": None},
        "audit_ids": claims.audit_ids,
        "issued_at": f"{iso_micro(claims.issued_at)}Z",
        "expires_at": f"{iso_micro(claims.expires_at)}Z",
    }
    if not claims.target:
        return shown
    shown["roles"] = [{"id": item.id, "name": item.name} for item in session.roles]
    if session.project is not None:
        shown["project"] = {"id": session.project.id, "name": session.project.name, "domain": DOMAIN}
        shown["is_domain"] = False
    else:
        shown["system"] = {"all": True}
    if catalog is not None:
        shown["catalog"] = catalog.document
    return shown
