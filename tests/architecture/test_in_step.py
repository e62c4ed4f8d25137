"""Lists that must say the same in two places. What is missing on either side fails here, with its name."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Final

import pytest

from kilonova.agent.dispatch import COMMANDS
from kilonova.companions.identity.policy import RULES as IDENTITY_RULES
from kilonova.companions.identity.routes import ROUTES as IDENTITY_ROUTES
from kilonova.companions.image.policy import RULES as IMAGE_RULES
from kilonova.companions.image.routes import ROUTES as IMAGE_ROUTES
from kilonova.companions.network.policy import RULES as NETWORK_RULES
from kilonova.companions.network.routes import ROUTES as NETWORK_ROUTES
from kilonova.compute_api.instance_actions.view import EVENT_NAMES
from kilonova.compute_api.policy import RULES as COMPUTE_RULES
from kilonova.compute_api.routes import ACTIONS
from kilonova.compute_api.routes import ROUTES as COMPUTE_ROUTES
from kilonova.domain.lifecycle import EVENTS
from kilonova.drivers.contract import Driver
from kilonova.drivers.fake.driver import FakeDriver
from kilonova.http.calls import Route
from kilonova.http.policy import Policy
from kilonova.operations.kinds import KINDS
from kilonova.operations.table import POINTS, TABLE
from kilonova.own_api.routes import CHAOS, KILONOVA
from kilonova.own_api.routes import RULES as OWN_RULES
from kilonova.placement_api.policy import RULES as PLACEMENT_RULES
from kilonova.placement_api.routes import ROUTES as PLACEMENT_ROUTES
from kilonova.scheduling.filters import CHOSEN
from kilonova.scheduling.settings import SelectSettings
from kilonova.settings import Settings

from .sources import PACKAGE, ROOT, modules

FACES: Final[Mapping[str, tuple[Sequence[Route], Mapping[str, str]]]] = {
    "compute": (COMPUTE_ROUTES, COMPUTE_RULES),
    "placement": (PLACEMENT_ROUTES, PLACEMENT_RULES),
    "own": ((*KILONOVA, *CHAOS), OWN_RULES),
    "identity": (IDENTITY_ROUTES, IDENTITY_RULES),
    "image": (IMAGE_ROUTES, IMAGE_RULES),
    "network": (NETWORK_ROUTES, NETWORK_RULES),
}
OPEN_WRITES: Final = frozenset({("identity", "POST", "/v3/auth/tokens")})
"""Writes without a rule: whoever wants a token has none yet."""

SHAPED_LATER: Final = frozenset({("compute", "POST", "/servers/{server_id}/action")})
"""Writes whose body is checked behind the route: each action has a shape of its own."""

BODILESS: Final = re.compile(
    r"/(tags|traits|resource_classes)/\{[a-z]+\}$"  # the path says it all
    r"|/roles/\{role_id\}$"  # the same: who has which role where
    r"|/actions/(deactivate|reactivate)$"
    r"|/audit/repair$"
)
"""Writes that take no body."""

PAGES: Final = (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
FILES_OF_OTHERS: Final = frozenset({"handlers.py", "schema.py", "view.py", "policy.py", "contract.py"})
"""Names that stand for the file of each noun."""

CONTROL_STEPS: Final = frozenset({"claim", "network", "release", "finish"})
"""Steps that act on the database or a companion; every other step is a command to a host."""


def each_route() -> Iterator[tuple[str, Route]]:
    for face, (routes, _) in FACES.items():
        for route in routes:
            yield face, route


def test_every_route_has_a_rule_that_exists() -> None:
    for face, (routes, rules) in FACES.items():
        policy = Policy(rules)
        assert not [
            f"{face} {route.method} {route.path}: {route.rule}" for route in routes if route.rule and route.rule not in policy
        ]
    assert not [action.name for action in ACTIONS if action.rule not in COMPUTE_RULES]


def test_only_documents_of_versions_are_read_without_a_token() -> None:
    public = {(face, route.method, route.path) for face, route in each_route() if not route.rule}
    assert {entry for entry in public if entry[1] != "GET"} == OPEN_WRITES
    assert all(re.fullmatch(r"/|/versions|/v[0-9.]+", path) for _, method, path in public if method == "GET")


def test_every_write_has_a_shape() -> None:
    bare = {
        (face, route.method, route.path)
        for face, route in each_route()
        if route.method in {"POST", "PUT", "PATCH"} and route.body is None and not route.stream
    }
    assert {entry for entry in bare if not BODILESS.search(entry[2])} == SHAPED_LATER
    assert not [action.name for action in ACTIONS if action.body is None]


def test_no_two_rows_of_one_path_serve_the_same_version() -> None:
    seen: dict[tuple[str, str, str], list[Route]] = {}
    for face, route in each_route():
        others = seen.setdefault((face, route.method, route.path), [])
        assert not any(
            other.serves(max(other.since, route.since)) and route.serves(max(other.since, route.since)) for other in others
        )
        others.append(route)


def test_every_operation_is_known_to_accept_and_to_the_engine() -> None:
    assert TABLE.keys() == KINDS.keys()
    assert not [name for name, kind in KINDS.items() if kind.event_for({}) not in EVENTS]


def test_every_operation_ends_with_the_step_that_closes_it() -> None:
    assert {definition.steps[-1] for definition in TABLE.values()} == {"finish"}


def test_every_step_that_an_operation_takes_is_in_its_list() -> None:
    listed = {step for definition in TABLE.values() for step in definition.steps}
    assert set(_steps_taken()) <= listed


def test_every_step_that_reads_as_an_event_of_the_community_exists() -> None:
    assert EVENT_NAMES.keys() <= set(POINTS)


def test_every_command_to_a_host_is_in_the_agents_table_and_known_to_the_driver() -> None:
    steps = {step for definition in TABLE.values() for step in definition.steps}
    assert steps - CONTROL_STEPS == COMMANDS.keys()
    assert not [name for name in COMMANDS if not hasattr(Driver, name)]


def test_the_fake_driver_keeps_every_promise_of_the_contract() -> None:
    promised = {name for name in vars(Driver) if not name.startswith("_")}
    assert promised <= set(dir(FakeDriver))


def test_the_filters_that_are_on_by_default_are_in_the_list() -> None:
    assert set(SelectSettings().enabled_filters) <= {entry.name for entry in CHOSEN}


def test_the_coverage_page_lists_what_is_served_and_nothing_else_as_served() -> None:
    served = {(route.method, _plain(route.path)) for route in COMPUTE_ROUTES} | {("GET", "/")}
    assert set(_covered()) == served
    page = (ROOT / "docs" / "api-coverage.md").read_text()
    assert not [action.name for action in ACTIONS if f"`{action.name}`" not in page]


@pytest.mark.parametrize("section", [entry.name for entry in fields(Settings)])
def test_every_setting_has_a_meaning(section: str) -> None:
    branch = getattr(Settings(), section)
    assert not [entry.name for entry in fields(branch) if not entry.metadata["meaning"].endswith(".")]


def test_a_setting_that_nobody_reads_says_so() -> None:
    code = [node for module in modules() if module.name != "settings" for node in ast.walk(module.tree)]
    read = {node.attr for node in code if isinstance(node, ast.Attribute)}
    # Limits of the quota are read by their names.
    read |= {node.value for node in code if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    idle, confessed = set(), set()
    for section in fields(Settings):
        for entry in fields(getattr(Settings(), section.name)):
            if entry.name not in read:
                idle.add(entry.name)
            if entry.metadata["meaning"].startswith("Not served yet"):
                confessed.add(entry.name)
    assert idle == confessed


def test_the_pages_name_only_files_that_exist() -> None:
    missing = {
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        for name in re.findall(r"`([\w./-]+(?:\.py|\.md|\.toml|/))`|\]\(([\w./-]+)\)", page.read_text())
        for name in [name[0] or name[1]]
        if not any((place / name).exists() for place in (ROOT, PACKAGE, page.parent)) and name not in FILES_OF_OTHERS
    }
    assert not missing


def test_pages_drawn_from_the_code_are_in_step() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "scripts" / "write_docs.py", "--check"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def _steps_taken() -> Iterator[str]:
    """The names that the operations' functions give to `step` and `command`, as far as they are written out."""
    for module in modules():
        if module.part != "operations":
            continue
        for node in ast.walk(module.tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in {"step", "command"}
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                yield str(node.args[0].value)


def _plain(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


def _covered() -> Iterator[tuple[str, str]]:
    """Method and path of every row of the coverage page that says served. "…/x" goes on from the whole path before it."""
    for line in (ROOT / "docs" / "api-coverage.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| `") or len(cells) != 3 or not cells[2].startswith("served"):
            continue
        above = ""
        for path in re.findall(r"`([^`]+)`", cells[0]):
            whole = above + path.removeprefix("…") if path.startswith("…") else path
            above = above if path.startswith("…") else path
            for method in cells[1].split(", "):
                yield method, _plain(whole)
