"""Classes that several slots may ask of one provider, and how much of its room makes a difference to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from kilonova.placement.plan import Plan
from kilonova.placement.rows import IntColumn
from kilonova.placement.slots import Slot

MANY_SUMS: Final = 256
"""Sums of demands up to which room counts by the sums that fit into it; where there are more, by their common divisor."""


@dataclass(frozen=True)
class Contest:
    """One class and the slots that ask for it.

    sums: to what their demands can add up on one provider, ascending from 0; empty where that is too much.
    """

    resource_class: str
    asking: Mapping[int, int]
    sums: IntColumn

    def steps(self, room: IntColumn) -> IntColumn:
        """Room as a small number: the same for rooms in which the same demands fit."""
        room = np.clip(room, 0, sum(self.asking.values()))
        return np.searchsorted(self.sums, room, side="right") - 1 if len(self.sums) else room // self._divisor

    def room(self, steps: IntColumn) -> tuple[int, ...]:
        """The least room of so many steps."""
        return tuple((self.sums[steps] if len(self.sums) else steps * self._divisor).tolist())

    @cached_property
    def _divisor(self) -> int:
        return int(np.gcd.reduce(list(self.asking.values())))


def contests(plan: Plan, *, softer: bool) -> list[Contest]:
    """The contests of a plan; with `softer` as if group_policy were none."""
    found = []
    isolated = plan.isolated and not softer
    for name in plan.contended:
        asking = {number: slot.resources[name] for number, slot in enumerate(plan.slots) if name in slot.resources}
        # Where all of them keep off each other's providers, each by itself fits wherever it may be.
        if not isolated or not all(plan.slots[number].suffix for number in asking):
            sums = _isolated_sums(plan.slots, asking) if isolated else _sums(list(asking.values()))
            found.append(Contest(name, asking, np.array(sorted(sums), dtype=np.int64)))
    return found


def _isolated_sums(slots: tuple[Slot, ...], asking: Mapping[int, int]) -> set[int]:
    """One provider serves at most one suffixed group, and the unsuffixed one asks once for a class."""
    unsuffixed = sum(amount for number, amount in asking.items() if not slots[number].suffix)
    suffixed = {amount for number, amount in asking.items() if slots[number].suffix}
    return {0, unsuffixed, *suffixed, *(unsuffixed + amount for amount in suffixed)}


def _sums(amounts: list[int]) -> set[int]:
    sums = {0}
    for amount in amounts:
        sums |= {known + amount for known in sums}
        if len(sums) > MANY_SUMS:
            return set()
    return sums
