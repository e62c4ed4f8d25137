"""What a table of conformance is made of: commands of users, requests of our own versions, and a measured failure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance_checks import Check


@dataclass(frozen=True, slots=True)
class Row:
    """One command of users. `{name}` in it stands for what an earlier row kept.

    With `-f json` in it the output is read as JSON; `keeps` maps names to fields of it (of the first item, if it is a list).
    A row that `settles` is run again until its checks hold, within `seconds`.
    """

    command: str
    checks: tuple[Check, ...] = ()
    code: int = 0
    keeps: Mapping[str, str] = field(default_factory=dict)
    program: str = "openstack"
    settles: bool = False
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Ask:
    """One request by the administrator, for versions that no client of the community knows; `{name}` as in Row.

    `version` goes into the header of placement's versions; `answered` is the version that the answer must name there.
    """

    path: str
    checks: tuple[Check, ...] = ()
    status: int = 200
    version: str = ""
    answered: str = ""
    body: Any = None

    @property
    def name(self) -> str:
        """The line of curl that does the same."""
        header = f' -H "OpenStack-API-Version: placement {self.version}"' if self.version else ""
        return f"curl{header} {'-X PUT ' if self.body is not None else ''}'$URL{self.path}'"


@dataclass(frozen=True, slots=True)
class NoRoomProbe:
    """Creates a server of flavor `huge` through HTTP and measures how long it takes until it is in ERROR; keeps its id."""

    within_seconds: float = 1.0


Step = Row | Ask | NoRoomProbe
