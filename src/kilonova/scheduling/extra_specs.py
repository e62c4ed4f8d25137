"""Reads what a flavor's extra specs ask of placement: resources, traits and how groups are spread.

The keys are `resources[S]:CLASS`, `trait[S]:NAME` and `group_policy`; all others belong to somebody else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import os_resource_classes

from kilonova.domain.errors import BadRequest
from kilonova.domain.image_properties import check_trait

_KEY: Final = re.compile(r"(resources|trait)([a-zA-Z0-9_-]{1,64})?:(.*)", re.DOTALL)
"""The suffix has the form that placement allows since 1.33; without one the key belongs to the unsuffixed group."""
_CUSTOM_CLASS: Final = re.compile(r"CUSTOM_[A-Z0-9_]{1,248}")
_STANDARD_CLASSES: Final = frozenset(os_resource_classes.STANDARDS)
_LARGEST_AMOUNT: Final = 2**31 - 1


@dataclass(slots=True)
class SpecGroup:
    """One group as the flavor writes it; an amount of 0 is kept, since it takes the class out of the flavor's sizes."""

    resources: dict[str, int] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    forbidden: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class FlavorAsks:
    """All groups by suffix, "" for the unsuffixed one, which is always there."""

    groups: Mapping[str, SpecGroup]
    group_policy: str | None = None

    @property
    def unsuffixed(self) -> SpecGroup:
        """The group without a suffix."""
        return self.groups[""]

    @property
    def classes(self) -> frozenset[str]:
        """Every class that some group speaks of, if only to ask for none of it."""
        return frozenset(name for group in self.groups.values() for name in group.resources)


def read_extra_specs(extra_specs: Mapping[str, str]) -> FlavorAsks:
    """What the specs ask; raises BadRequest naming the spec that cannot be understood."""
    groups = {"": SpecGroup()}
    for key, value in extra_specs.items():
        match = _KEY.fullmatch(key)
        if match is None:
            continue
        kind, suffix, name = match.groups(default="")
        group = groups.setdefault(suffix, SpecGroup())
        if kind == "resources":
            group.resources[name] = _read_amount(key, name, value)
        else:
            check_trait(name, value, f"flavor extra spec {key}")
            (group.required if value == "required" else group.forbidden).add(name)
    return FlavorAsks(groups, _read_policy(extra_specs))


def _read_amount(key: str, name: str, value: str) -> int:
    if name not in _STANDARD_CLASSES and not _CUSTOM_CLASS.fullmatch(name):
        raise BadRequest(f"The flavor extra spec {key} does not name a resource class.")
    if not (value.isascii() and value.isdecimal()) or len(value) > 10 or int(value) > _LARGEST_AMOUNT:
        raise BadRequest(f"The flavor extra spec {key} has the value {value!r}: it must be a whole number, 0 or more.")
    return int(value)


def _read_policy(extra_specs: Mapping[str, str]) -> str | None:
    policy = extra_specs.get("group_policy")
    if policy not in (None, "none", "isolate"):
        raise BadRequest(f"The flavor extra spec group_policy has the value {policy!r}: it must be 'none' or 'isolate'.")
    return policy
