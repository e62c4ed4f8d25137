"""Every operation: its kind, its function, how it is ended when it cannot go on, and the steps that faults can be put on."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from kilonova.operations import create, delete, power
from kilonova.operations.kinds import KINDS, Kind
from kilonova.operations.run import Run


@dataclass(frozen=True, slots=True)
class Definition:
    """One operation. `fail` closes it with a sentence and must not depend on what went wrong.

    None is for an operation that ends only one way: its lease runs out and the next holder goes on.
    """

    kind: Kind
    run: Callable[[Run], Awaitable[None]]
    fail: Callable[[Run, str], Awaitable[None]] | None
    steps: tuple[str, ...]

    @property
    def points(self) -> tuple[str, ...]:
        """The names of its steps at the chaos door."""
        return tuple(f"{self.kind.name}.{step}" for step in self.steps)


TABLE: Final[Mapping[str, Definition]] = MappingProxyType(
    {
        definition.kind.name: definition
        for definition in (
            Definition(KINDS["create"], create.create, create.fail, create.STEPS),
            Definition(KINDS["delete"], delete.delete, None, delete.STEPS),
            Definition(KINDS["start"], power.start, power.fail, power.START_STEPS),
            Definition(KINDS["stop"], power.stop, power.fail, power.STOP_STEPS),
            Definition(KINDS["reboot"], power.reboot, power.fail, power.REBOOT_STEPS),
        )
    }
)
POINTS: Final = tuple(point for definition in TABLE.values() for point in definition.points)
