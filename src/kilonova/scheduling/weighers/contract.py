"""What a weigher is: a number for each host that is better the larger it is; only the order and distances count."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kilonova.scheduling.arrays import Floats, Ints, Rows
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.request import FreeAmounts, Request
from kilonova.scheduling.settings import SelectSettings

Weigh: TypeAlias = Callable[[Request, Hosts, Rows, FreeAmounts], Floats | Ints]


def for_all(request: Request) -> bool:
    """For a weigher that has something to say about every request."""
    return True


@dataclass(frozen=True, slots=True)
class Weigher:
    """One view of what is better.

    `name` is the community's. `weigh` answers for the given rows, in their order, in any unit: the numbers are brought
    to [0, 1] among these rows and taken times `multiplier` of the settings. It is called only when `applies`.
    """

    name: str
    multiplier: Callable[[SelectSettings], float]
    weigh: Weigh
    applies: Callable[[Request], bool] = for_all
