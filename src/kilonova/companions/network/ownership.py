"""Whose a resource is, who may see it and who may change it."""

from collections.abc import Mapping
from typing import Any

from kilonova.companions.network.faults import InvalidInput, NotOwner
from kilonova.companions.network.policy import RULES
from kilonova.domain.errors import KilonovaError
from kilonova.http.calls import Call, Caller
from kilonova.storage.networks import Record


def owns(caller: Caller, record: Record) -> bool:
    """Whether the caller sees the resource as its own: the project's, or any for an administrator."""
    return caller.is_admin or record.project_id == caller.project_id


def may_see(caller: Caller, network: Record) -> bool:
    """Whether a network exists for the caller: shared and external ones do for everybody."""
    return owns(caller, network) or bool(network.fields["shared"] or network.fields["router:external"])


def own(call: Call, record: Record | None, missing: KilonovaError) -> Record:
    """The resource, if the caller owns it; raises `missing` otherwise, so that nobody learns of what is another's."""
    if record is None or not owns(call.caller, record):
        raise missing
    return record


def require(call: Call, rule: str, record: Record) -> None:
    """Raises NotOwner where the policy does not let the caller do this to a resource that it may see."""
    if not call.allows(rule, {"project_id": record.project_id}):
        raise NotOwner(f"Policy doesn't allow {rule} to be performed.")


def require_attributes(call: Call, verb: str, body: Mapping[str, Any], project_id: str) -> None:
    """Raises NotOwner where an attribute of the body has a rule of its own (`create_port:mac_address`) that does not allow it.

    `project_id` is what the rule compares the caller's project with.
    """
    for attribute in body:
        rule = f"{verb}:{attribute}"
        if rule in RULES and not call.allows(rule, {"project_id": project_id}):
            raise NotOwner(f"Policy doesn't allow {rule} to be performed.")


def owner_of(call: Call, body: Mapping[str, Any]) -> str:
    """The project that a new resource is for. Raises InvalidInput where that is another's and the caller no administrator."""
    asked = body.get("project_id") or body.get("tenant_id") or call.caller.project_id
    if asked != call.caller.project_id and not call.caller.is_admin:
        raise InvalidInput("project_id: only administrators make resources for other projects.")
    return str(asked)
