"""The source tree as the architecture tests read it: every module parsed once, never imported."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "src" / "kilonova"


@dataclass(frozen=True)
class Module:
    """One module: its dotted name below kilonova ("storage.sqlite"; "" for the package itself), its path and its tree."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def part(self) -> str:
        """The first word of the name: the row of the import table that it belongs to."""
        return self.name.partition(".")[0]


@dataclass(frozen=True)
class Import:
    """One imported name as written, in which line, and whether inside a function."""

    name: str
    line: int
    in_function: bool


@cache
def modules() -> tuple[Module, ...]:
    """All modules of the package, by name."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        words = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(words[:-1] if words[-1] == "__init__" else words)
        found.append(Module(name, path, ast.parse(path.read_text())))
    return tuple(found)


@cache
def names() -> frozenset[str]:
    """The names of all modules."""
    return frozenset(module.name for module in modules())


def imports(module: Module) -> Iterator[Import]:
    """Every import of a module. `from a import b` counts as `a.b`, since b may be a module."""
    yield from _imports(module.tree, in_function=False)


def _imports(node: ast.AST, *, in_function: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, in_function)
        elif isinstance(child, ast.ImportFrom):
            above = "." * child.level + (child.module or "")
            for alias in child.names:
                yield Import(
                    f"{above}.{alias.name}" if not above.endswith(".") else above + alias.name, child.lineno, in_function
                )
        else:
            inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(child, in_function=inside)


def ours(name: str) -> str | None:
    """The module below kilonova that an imported name is, or is in; None for other packages'."""
    if name != "kilonova" and not name.startswith("kilonova."):
        return None
    inner = name.removeprefix("kilonova").removeprefix(".")
    while inner not in names():
        inner = inner.rpartition(".")[0]
    return inner


def functions(module: Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of a module with its dotted name, methods and nested ones included."""
    yield from _functions(module.tree, "")


def _functions(node: ast.AST, above: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield above + child.name, child
        inner = f"{above}{child.name}." if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else above
        yield from _functions(child, inner)
