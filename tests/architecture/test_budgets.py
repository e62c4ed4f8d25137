"""Sizes that keep every page readable. An exception needs a line here, with its reason."""

import ast
import re
from collections.abc import Mapping
from typing import Final

from .sources import Module, functions, modules

LINES_OF_A_FILE: Final = 600
LINES_OF_A_FUNCTION: Final = 60
METHODS_OF_A_CLASS: Final = 20
PARAMETERS: Final = 5
TELL_NOTHING: Final = frozenset({"utils", "util", "helpers", "common", "misc", "base", "manager"})
"""Names of modules that say nothing of what is inside."""

LONG_FILES: Final[Mapping[str, str]] = {}
LONG_FUNCTIONS: Final[Mapping[str, str]] = {
    "storage.migrations.versions.0001_first_schema.upgrade": "a migration is a list of tables and never read for its logic",
}
MANY_METHODS: Final[Mapping[str, str]] = {}
MANY_PARAMETERS: Final[Mapping[str, str]] = {}


def test_no_file_is_longer_than_a_person_reads_at_once() -> None:
    lengths = {module.name: len(module.path.read_text().splitlines()) for module in modules()}
    assert {name: count for name, count in lengths.items() if count > LINES_OF_A_FILE}.keys() == LONG_FILES.keys()


def test_functions_fit_on_a_screen() -> None:
    lengths = {
        f"{module.name}.{name}": (function.end_lineno or function.lineno) - function.lineno + 1
        for module in modules()
        for name, function in functions(module)
    }
    assert {name: count for name, count in lengths.items() if count > LINES_OF_A_FUNCTION}.keys() == LONG_FUNCTIONS.keys()


def test_classes_have_few_methods() -> None:
    counts = {
        f"{module.name}.{node.name}": sum(isinstance(entry, ast.FunctionDef | ast.AsyncFunctionDef) for entry in node.body)
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    }
    assert {name: count for name, count in counts.items() if count > METHODS_OF_A_CLASS}.keys() == MANY_METHODS.keys()


def test_functions_have_few_parameters() -> None:
    counts = {f"{module.name}.{name}": len(_parameters(function)) for module in modules() for name, function in functions(module)}
    assert {name: count for name, count in counts.items() if count > PARAMETERS}.keys() == MANY_PARAMETERS.keys()


def test_every_parameter_and_return_has_a_type() -> None:
    wrong = [
        f"{module.name}.{name}"
        for module in modules()
        for name, function in functions(module)
        if function.returns is None or any(parameter.annotation is None for parameter in _parameters(function))
    ]
    assert not wrong


def test_every_module_says_its_job_in_its_first_sentence() -> None:
    assert not [module.name for module in modules() if ast.get_docstring(module.tree) is None and not _is_migration(module)]


def test_no_module_has_a_name_that_tells_nothing() -> None:
    assert not [module.name for module in modules() if TELL_NOTHING & set(module.name.split("."))]


def test_nothing_is_left_for_later_in_the_code() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b|raise NotImplementedError")
    assert not [module.name for module in modules() if marks.search(module.path.read_text())]


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """All parameters but self and cls."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    every += [extra for extra in (given.vararg, given.kwarg) if extra is not None]
    return [parameter for parameter in every if parameter.arg not in {"self", "cls"}]


def _is_migration(module: Module) -> bool:
    return module.name.startswith("storage.migrations")
