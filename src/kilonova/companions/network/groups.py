"""The security groups of ports: a project's default group, made when first needed, and groups by id or name."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID, uuid5

from kilonova.companions.network.faults import SecurityGroupNotFound
from kilonova.domain.clock import new_uuid, now
from kilonova.domain.errors import BadRequest
from kilonova.storage.database import Transaction
from kilonova.storage.networks import Record
from kilonova.storage.security_groups import GROUPS, RULES

DEFAULT: Final = "default"
_SPACE: Final = UUID("8f1d3f5e-3f0b-4f5c-9d0b-6a2f0c5f7e11")


def default_group_id(project_id: str) -> str:
    """The id of a project's default group follows from the project, so that two who need it first make the same one."""
    return str(uuid5(_SPACE, project_id))


async def default_group(transaction: Transaction, project_id: str) -> Record:
    """The default group of a project, made if it is not there yet."""
    group_id = default_group_id(project_id)
    group = await GROUPS.find(transaction, group_id, "use")
    if group is not None:
        return group
    made = new_group(group_id, project_id, DEFAULT, "Default security group")
    await GROUPS.insert_missing(transaction, [made])
    rules = [
        new_rule(made, direction, ethertype, remote_group_id=made.id if direction == "ingress" else None)
        for direction in ("egress", "ingress")
        for ethertype in ("IPv4", "IPv6")
    ]
    keyed = [
        Record(str(uuid5(UUID(group_id), str(place))), rule.project_id, "", rule.fields, rule.created_at, rule.updated_at)
        for place, rule in enumerate(rules)
    ]
    await RULES.insert_missing(transaction, keyed)
    return made


async def groups_named(transaction: Transaction, project_id: str, asked: Sequence[str]) -> list[str]:
    """Ids of a project's groups that are asked for by id or name; the default group where none is.

    Raises SecurityGroupNotFound, also for a name that several groups have.
    """
    wanted = [name for name in dict.fromkeys(asked) if name != DEFAULT]
    ids = [] if asked and len(wanted) == len(set(asked)) else [(await default_group(transaction, project_id)).id]
    if not wanted:
        return ids
    by_id = await GROUPS.select(transaction, {"id": wanted, "project_id": [project_id]}, "use")
    by_name = await GROUPS.select(transaction, {"name": wanted, "project_id": [project_id]}, "use")
    return [*ids, *(_single(name, by_id, by_name).id for name in wanted)]


async def group_names(transaction: Transaction, project_id: str, asked: Sequence[str]) -> tuple[str, ...]:
    """Names of a project's groups that are asked for by id or name, each once; the id where the name is not unique.

    Raises errors.BadRequest, also for a name that several groups have.
    """
    wanted = [name for name in dict.fromkeys(asked) if name != DEFAULT]
    by_id = await GROUPS.select(transaction, {"id": wanted, "project_id": [project_id]})
    by_name = await GROUPS.select(transaction, {"name": wanted, "project_id": [project_id]})
    try:
        found = {name: _single(name, by_id, by_name) for name in wanted}
    except SecurityGroupNotFound as error:
        raise BadRequest(str(error)) from error
    alike = await GROUPS.select(transaction, {"name": [group.name for group in found.values()], "project_id": [project_id]})
    counts = Counter(group.name for group in alike)
    # A name that several groups have says nothing: such a group keeps going by its id.
    shown = {name: group.name if counts[group.name] == 1 else group.id for name, group in found.items()}
    return tuple(dict.fromkeys(shown.get(name, DEFAULT) for name in asked))


def _single(name: str, by_id: Sequence[Record], by_name: Sequence[Record]) -> Record:
    found = [group for group in by_id if group.id == name] or [group for group in by_name if group.name == name]
    if len(found) != 1:
        raise SecurityGroupNotFound(f"The project has no single security group {name}.")
    return found[0]


def new_group(group_id: str, project_id: str, name: str, description: str, *, stateful: bool = True) -> Record:
    """A group without rules."""
    moment = now()
    fields: dict[str, Any] = {"description": description, "stateful": stateful, "tags": [], "revision_number": 1}
    return Record(group_id, project_id, name, fields, moment, moment)


def new_rule(group: Record, direction: str, ethertype: str, **fields: Any) -> Record:
    """A rule of a group; what is not given is not restricted."""
    moment = now()
    whole = {
        "security_group_id": group.id,
        "direction": direction,
        "ethertype": ethertype,
        "protocol": None,
        "port_range_min": None,
        "port_range_max": None,
        "remote_ip_prefix": None,
        "remote_group_id": None,
        "description": "",
        "revision_number": 1,
        **fields,
    }
    return Record(new_uuid(), group.project_id, "", whole, moment, moment)


def opening_rules(group: Record) -> list[Record]:
    """The rules that every new group begins with: whatever goes out."""
    return [new_rule(group, "egress", ethertype) for ethertype in ("IPv4", "IPv6")]
