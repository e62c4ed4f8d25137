"""Judges what was read: either it is a whole ledger in our terms, or every fault is told at once in plain words. No I/O."""

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from kilonova.domain.errors import Conflict
from kilonova.domain.resources import Inventory
from kilonova.storage.takeover.reading import Rows, Tables

SHOWN: Final = 5
"""Examples of each fault."""


class CannotTakeOver(Conflict):
    """There is something in the database that would be lost; the text has a line for each kind of it."""

    code = "takeover.refused"


@dataclass(frozen=True, slots=True)
class Node:
    """A provider; parent and root by uuid, times in microseconds."""

    uuid: str
    name: str
    generation: int
    parent: str | None
    root: str
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Holder:
    """A consumer that holds something; its type is "" where nobody said one."""

    uuid: str
    generation: int
    project_id: str
    user_id: str
    consumer_type: str
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class WholeLedger:
    """A ledger that holds together. Providers are named by uuid; `used` of inventories is the sum of allocations.

    `classes` and `traits` are those that are not standard, with the time when they were made. `remarks` say what is not
    taken over because it says nothing, and what is written in another form.
    """

    nodes: Sequence[Node]
    inventories: Mapping[tuple[str, str], Inventory]
    traits: Sequence[tuple[str, str]]
    aggregates: Sequence[tuple[str, str]]
    holders: Sequence[Holder]
    allocations: Mapping[tuple[str, str, str], int]
    classes: Mapping[str, int]
    trait_names: Mapping[str, int]
    remarks: Sequence[str]


@dataclass(slots=True)
class _Faults:
    """What was found wrong, by kind, and what is only worth a remark."""

    wrong: dict[str, list[str]] = field(default_factory=dict)
    reformed: int = 0
    rerooted: int = 0
    undated: int = 0

    def add(self, kind: str, subject: object) -> None:
        """One more of a kind."""
        self.wrong.setdefault(kind, []).append(str(subject))

    def raise_any(self) -> None:
        """Raises CannotTakeOver where there was one."""
        if not self.wrong:
            return
        lines = [f"  {kind}: {len(subjects)} ({_some(subjects)})" for kind, subjects in self.wrong.items()]
        raise CannotTakeOver("\n".join(["This database cannot be taken over as it is:", *lines]))


def _some(subjects: Sequence[str]) -> str:
    more = len(subjects) - SHOWN
    return "; ".join(subjects[:SHOWN]) + (f"; and {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True)
class Standards:
    """Names that need no row: those of os-resource-classes and os-traits."""

    classes: AbstractSet[str]
    traits: AbstractSet[str]


def check(tables: Tables, standards: Standards, moment: int) -> WholeLedger:
    """The whole ledger in the tables; `moment` stands for times that they do not have. Raises CannotTakeOver."""
    faults = _Faults()
    nodes = _nodes(tables, faults, moment)
    classes = {row[0]: str(row[1]) for row in tables.classes}
    traits = {row[0]: str(row[1]) for row in tables.traits}
    uuids = {number: node.uuid for number, node in nodes.items()}
    inventories = _inventories(tables.inventories, uuids, classes, faults)
    held = _allocations(tables.allocations, _Names(uuids, classes), inventories, faults)
    holders, idle = _holders(tables, {key[0] for key in held}, faults, moment)
    groups = {row[0]: _uuid(row[1], "aggregates whose uuid is none", faults) for row in tables.aggregates}
    ledger = WholeLedger(
        nodes=list(nodes.values()),
        inventories=_with_used(inventories, held),
        traits=_links(tables.provider_traits, uuids, traits, "trait", faults),
        aggregates=_links(tables.provider_aggregates, uuids, groups, "aggregate", faults),
        holders=holders,
        allocations=held,
        classes=_custom(tables.classes, standards.classes, moment, faults),
        trait_names=_custom(tables.traits, standards.traits, moment, faults),
        remarks=_remarks(faults, idle),
    )
    faults.raise_any()
    return ledger


def _nodes(tables: Tables, faults: _Faults, moment: int) -> dict[int, Node]:
    """Providers by their number there. Roots are found anew from the parents: they alone decide."""
    parents: dict[int, int | None] = {row[0]: row[4] for row in tables.providers}
    tops = _tops(parents)
    uuids: dict[int, str] = {}
    seen: set[str] = set()
    for row in tables.providers:
        uuids[row[0]] = uuid = _uuid(row[1], "providers whose uuid is none", faults)
        if uuid in seen:
            faults.add("providers whose uuids differ in their form only", uuid)
        seen.add(uuid)
    found: dict[int, Node] = {}
    for number, _, name, generation, parent, root, created, updated in tables.providers:
        uuid = uuids[number]
        if not name:
            faults.add("providers without a name", uuid)
        elif "\x00" in str(name):
            faults.add("providers with a NUL character in their name", uuid)
        if parent is not None and parent not in uuids:
            faults.add("providers whose parent does not exist", uuid)
            continue
        top = tops[number]
        if top is None:
            faults.add("providers that are above themselves", uuid)
            continue
        if top not in uuids:
            # Somebody above it has no parent, which is told there.
            continue
        faults.rerooted += root != top
        made = _time(created, moment, faults)
        above = None if parent is None else uuids[parent]
        generation = _whole(generation or 0, "providers whose generation is no number", uuid, faults)
        found[number] = Node(uuid, str(name), generation, above, uuids[top], made, _time(updated, made, faults))
    return found


def _tops(parents: Mapping[int, int | None]) -> dict[int, int | None]:
    """The last ancestor of each number; None for those that are in a loop or below one."""
    tops: dict[int, int | None] = {}
    for number in parents:
        way: list[int] = []
        walked: set[int] = set()
        here: int = number
        while here not in tops:
            if here in walked:
                tops[here] = None
                break
            way.append(here)
            walked.add(here)
            above = parents.get(here)
            if above is None:
                tops[here] = here
                break
            here = above
        for passed in way:
            tops[passed] = tops[here]
    return tops


def _inventories(
    rows: Rows, uuids: Mapping[int, str], classes: Mapping[int, str], faults: _Faults
) -> dict[tuple[str, str], Inventory]:
    found: dict[tuple[str, str], Inventory] = {}
    for provider, resource_class, *amounts in rows:
        if provider not in uuids:
            faults.add("inventories of providers that do not exist or cannot be taken over", f"provider number {provider}")
        elif resource_class not in classes:
            faults.add("inventories of resource classes that do not exist", f"{uuids[provider]} class number {resource_class}")
        else:
            key = (uuids[provider], classes[resource_class])
            entry = _amounts(amounts)
            if not _is_sound(entry):
                faults.add("inventories with amounts that nothing can be counted by", " ".join(key))
            found[key] = entry
    return found


def _amounts(row: Sequence[Any]) -> Inventory:
    """An inventory's amounts; one of nothing, which is not sound, where they are no numbers."""
    try:
        total, reserved, min_unit, max_unit, step_size = (int(amount) for amount in row[:5])
        return Inventory(total, reserved, min_unit, max_unit, step_size, float(row[5]))
    except (ValueError, TypeError):
        return Inventory(0, 0, 0, 0, 0, 0.0)


def _is_sound(entry: Inventory) -> bool:
    """Whether claims can be checked against it. The API lets nobody write another one."""
    whole = min(entry.total, entry.reserved, entry.min_unit - 1, entry.max_unit - 1, entry.step_size - 1) >= 0
    return whole and math.isfinite(entry.allocation_ratio) and entry.allocation_ratio >= 0


@dataclass(frozen=True, slots=True)
class _Names:
    providers: Mapping[int, str]
    classes: Mapping[int, str]


def _allocations(
    rows: Rows, names: _Names, inventories: Mapping[tuple[str, str], Inventory], faults: _Faults
) -> dict[tuple[str, str, str], int]:
    """Amounts by consumer, provider and class."""
    found: dict[tuple[str, str, str], int] = {}
    consumers: dict[str, str] = {}
    for consumer, provider, resource_class, used in rows:
        if consumer not in consumers:
            consumers[consumer] = _uuid(consumer, "consumers whose uuid is none", faults)
        if provider not in names.providers:
            faults.add("allocations of providers that do not exist or cannot be taken over", f"consumer {consumer}")
            continue
        if resource_class not in names.classes:
            faults.add("allocations of resource classes that do not exist", f"consumer {consumer}")
            continue
        key = (consumers[consumer], names.providers[provider], names.classes[resource_class])
        if key[1:] not in inventories:
            faults.add("allocations without an inventory", f"consumer {consumer} {key[2]} of {key[1]}")
        elif key in found:
            faults.add("allocations that stand there twice", f"consumer {consumer} {key[2]} of {key[1]}")
        elif not isinstance(used, int) or used < 1:
            faults.add("allocations of nothing", f"consumer {consumer} {key[2]} of {key[1]}")
        found[key] = used if isinstance(used, int) else 0
    return found


def _holders(tables: Tables, holding: AbstractSet[str], faults: _Faults, moment: int) -> tuple[list[Holder], int]:
    """The consumers that hold something, and how many hold nothing."""
    projects = {row[0]: str(row[1]) for row in tables.projects}
    users = {row[0]: str(row[1]) for row in tables.users}
    types = {row[0]: str(row[1]) for row in tables.consumer_types}
    found: dict[str, Holder] = {}
    idle = 0
    for written, generation, project, user, consumer_type, created, updated in tables.consumers:
        uuid = _uuid(written, "consumers whose uuid is none", faults)
        if uuid not in holding:
            idle += 1
            continue
        if uuid in found:
            faults.add("consumers whose uuids differ in their form only", uuid)
        for kind, number, known in (("project", project, projects), ("user", user, users)):
            if number not in known:
                faults.add(f"consumers without a {kind}", uuid)
        if consumer_type is not None and consumer_type not in types:
            faults.add("consumers of a type that does not exist", uuid)
        made = _time(created, moment, faults)
        found[uuid] = Holder(
            uuid,
            _whole(generation or 0, "consumers whose generation is no number", uuid, faults),
            projects.get(project, ""),
            users.get(user, ""),
            types.get(consumer_type, ""),
            made,
            _time(updated, made, faults),
        )
    for uuid in sorted(holding - found.keys()):
        faults.add("allocations whose consumer does not exist", f"consumer {uuid}")
    return list(found.values()), idle


def _links(rows: Rows, uuids: Mapping[int, str], names: Mapping[int, str], kind: str, faults: _Faults) -> list[tuple[str, str]]:
    """Provider and what hangs on it, each pair once."""
    found: dict[tuple[str, str], None] = {}
    for provider, number in rows:
        if provider not in uuids:
            faults.add(f"{kind}s of providers that do not exist or cannot be taken over", f"provider number {provider}")
        elif number not in names:
            faults.add(f"providers whose {kind} does not exist", uuids[provider])
        else:
            found[uuids[provider], names[number]] = None
    return list(found)


def _with_used(
    inventories: Mapping[tuple[str, str], Inventory], held: Mapping[tuple[str, str, str], int]
) -> dict[tuple[str, str], Inventory]:
    used: dict[tuple[str, str], int] = {}
    for (_, provider, resource_class), amount in held.items():
        key = (provider, resource_class)
        used[key] = used.get(key, 0) + amount
    return {key: replace(entry, used=used.get(key, 0)) for key, entry in inventories.items()}


def _custom(rows: Rows, standard: AbstractSet[str], moment: int, faults: _Faults) -> dict[str, int]:
    return {str(name): _time(created, moment, faults) for _, name, created in rows if name not in standard}


def _remarks(faults: _Faults, idle: int) -> list[str]:
    told: Iterable[tuple[int, str]] = (
        (idle, "consumers that hold nothing, which are left out"),
        (faults.reformed, "uuids without dashes or in capitals, which get their usual form"),
        (faults.undated, "times that are none, in whose place the time of the takeover or of the making stands"),
        (faults.rerooted, "providers filed under a root that is not theirs, which is set right"),
    )
    return [f"{sentence}: {count}" for count, sentence in told if count]


def _uuid(written: Any, kind: str, faults: _Faults) -> str:
    """The usual form of a uuid, which the API takes in any."""
    try:
        usual = str(UUID(written))
    except (ValueError, AttributeError, TypeError):
        faults.add(kind, written)
        return str(written)
    faults.reformed += usual != written
    return usual


def _whole(written: Any, kind: str, subject: str, faults: _Faults) -> int:
    """A whole number; SQLite keeps any text in its columns."""
    if isinstance(written, int):
        return written
    faults.add(kind, subject)
    return 0


def _time(written: Any, otherwise: int, faults: _Faults) -> int:
    """Microseconds of a time without a zone, which is UTC; SQLite has it as text, MySQL's drivers where it is none."""
    if written is None:
        return otherwise
    try:
        moment = datetime.fromisoformat(written) if isinstance(written, str) else written
        return int(moment.replace(tzinfo=UTC).timestamp() * 1_000_000)
    except (ValueError, TypeError, AttributeError):
        faults.undated += 1
        return otherwise
