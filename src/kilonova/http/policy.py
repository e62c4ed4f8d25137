"""Who may do what: check strings in the community's policy language, compiled once into functions.

Source of the language: oslo.policy's documented file format (rule:, role:, attribute checks, and, or, not, @, !).
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from kilonova.http.calls import Caller

Target = Mapping[str, Any]
Check = Callable[[Caller, Target], bool]

# The brackets of %(name)s belong to their word.
_TOKEN = re.compile(r"\s*(\(|\)|(?:%\([^\s()]*\)s|[^\s()])+)")


class PolicyError(ValueError):
    """A rule cannot be read; the sentence names it."""


def read_rules(path: Path) -> Mapping[str, str]:
    """The rules of a policy.yaml (or .json, which is YAML, too): names and check strings.

    Raises PolicyError, whose sentence is one line.
    """
    try:
        content = yaml.safe_load(path.read_text())
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise PolicyError(f"{path}: {' '.join(str(error).split())}") from error
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(part, str) for pair in content.items() for part in pair):
        raise PolicyError(f"{path}: it must have the names of rules, each with a check string")
    return content


class Policy:
    """The rules of one face. `overrides` replace defaults of the same name."""

    def __init__(self, defaults: Mapping[str, str], overrides: Mapping[str, str] | None = None) -> None:
        self._texts = {**defaults, **(overrides or {})}
        self._checks: dict[str, Check] = {}
        for name in self._texts:
            self._check(name, ())

    def allows(self, rule: str, caller: Caller, target: Target) -> bool:
        """Whether `caller` passes `rule` for `target`; project_id and user_id default to the caller's own."""
        whole = {"project_id": caller.project_id, "user_id": caller.user_id, **target}
        return self._checks[rule](caller, whole)

    def __contains__(self, rule: str) -> bool:
        return rule in self._checks

    def _check(self, name: str, above: tuple[str, ...]) -> Check:
        if name in self._checks:
            return self._checks[name]
        if name in above or name not in self._texts:
            raise PolicyError(f"rule {name} refers to itself or does not exist")
        tokens = _TOKEN.findall(self._texts[name])
        reader = _Reader(tokens, name, lambda other: self._check(other, (*above, name)))
        self._checks[name] = reader.whole() if tokens else _always
        return self._checks[name]


def _always(caller: Caller, target: Target) -> bool:
    return True


def _never(caller: Caller, target: Target) -> bool:
    return False


class _Reader:
    """A recursive descent over one check string: or, and, not, brackets."""

    def __init__(self, tokens: list[str], name: str, find: Callable[[str], Check]) -> None:
        self._tokens = tokens
        self._name = name
        self._find = find

    def whole(self) -> Check:
        made = self._either()
        if self._tokens:
            raise PolicyError(f"rule {self._name}: {self._tokens[0]} is not expected there")
        return made

    def _either(self) -> Check:
        parts = [self._both()]
        while self._tokens and self._tokens[0].lower() == "or":
            self._tokens.pop(0)
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda caller, target: any(part(caller, target) for part in parts)

    def _both(self) -> Check:
        parts = [self._single()]
        while self._tokens and self._tokens[0].lower() == "and":
            self._tokens.pop(0)
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else lambda caller, target: all(part(caller, target) for part in parts)

    def _single(self) -> Check:
        if not self._tokens:
            raise PolicyError(f"rule {self._name} ends too early")
        token = self._tokens.pop(0)
        if token.lower() == "not":
            inner = self._single()
            return lambda caller, target: not inner(caller, target)
        if token == "(":
            inner = self._either()
            if not self._tokens or self._tokens.pop(0) != ")":
                raise PolicyError(f"rule {self._name}: a bracket is not closed")
            return inner
        if token in {"@", "!"}:
            return _always if token == "@" else _never
        return self._leaf(token)

    def _leaf(self, token: str) -> Check:
        kind, colon, match = token.partition(":")
        if not colon:
            raise PolicyError(f"rule {self._name}: {token} is no check")
        if kind == "rule":
            return self._find(match)
        if kind == "role":
            return lambda caller, target: match.lower() in caller.roles
        if kind == "is_admin":
            return lambda caller, target: caller.is_admin is (match.lower() == "true")
        if kind == "system_scope":
            return lambda caller, target: caller.system
        return _attribute(kind, match)


def _attribute(kind: str, match: str) -> Check:
    def value_of(caller: Caller) -> str:
        return str(getattr(caller, kind, "")) if kind.isidentifier() else kind.strip("'\"")

    if match.startswith("%(") and match.endswith(")s"):
        key = match[2:-2]
        return lambda caller, target: key in target and value_of(caller) == str(target[key])
    return lambda caller, target: value_of(caller) == match
