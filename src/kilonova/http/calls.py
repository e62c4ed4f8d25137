"""What a handler gets and gives: one frozen call, one frozen answer, and the row of the route table that joins them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kilonova.http.shapes import Shape

ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who stands behind the token: ids, and role names in lower case."""

    user_id: str = ""
    project_id: str = ""
    roles: frozenset[str] = frozenset()
    user_name: str = ""
    project_name: str = ""
    domain_id: str = "default"
    system: bool = False

    @property
    def is_admin(self) -> bool:
        """Whether the caller has the admin role."""
        return ADMIN in self.roles


@dataclass(frozen=True, slots=True)
class Call:
    """One request that passed the door: known caller, known version, validated body and query.

    `version` is the minor number of the microversion (2.53 is 53, 1.39 is 39, 2.1001 is 1001; 0 where a face has none).
    `query` has every value of each parameter in order. `root` is the face's own address ("http://host:port/compute"),
    `url` the whole address that was asked. `allows(rule, target)` asks the policy.
    """

    method: str
    path: Mapping[str, str]
    query: Mapping[str, tuple[str, ...]]
    body: Any
    caller: Caller
    version: int
    request_id: str
    root: str
    url: str
    headers: Mapping[str, str]
    allows: Callable[[str, Mapping[str, Any]], bool]

    def first(self, name: str, default: str | None = None) -> str | None:
        """The first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else default


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, body (a JSON-able value, ready bytes, an async iterator of bytes, or None) and headers besides the usual."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"


Handler = Callable[[Call, Any], Awaitable[Answer]]
"""Takes the call and the face's own parts (databases, companions), raises errors of kilonova.domain.errors."""

Needs = Callable[[Mapping[str, str], Any], Awaitable[None]]
"""Takes the words of the path and the face's own parts."""


@dataclass(frozen=True, slots=True)
class Route:
    """A row of a face's route table: one method of one path for a range of versions.

    `rule` names the policy that opens it ("" for none: no token is asked). `body` and `query` are the shapes that are checked
    before the handler runs. A second row with the same method and path serves other versions. With `stream` the call's body is
    an async iterator over the bytes as they come, of whatever media type. `needs` is asked before the body is read: it raises
    what is to be told of the path alone, such as that nothing is there.
    """

    method: str
    path: str
    handler: Handler
    rule: str
    body: Shape | None = None
    query: Shape | None = None
    since: int = 0
    until: int | None = None
    stream: bool = False
    needs: Needs | None = None

    def serves(self, version: int) -> bool:
        """Whether the row is there at this version."""
        return version >= self.since and (self.until is None or version <= self.until)


@dataclass(frozen=True, slots=True)
class Action:
    """A row of a face's action table: the key of the body that names it, and the same promises as a route's."""

    name: str
    handler: Handler
    rule: str
    body: Shape | None = None
    since: int = 0
    until: int | None = None

    def serves(self, version: int) -> bool:
        """Whether the row is there at this version."""
        return version >= self.since and (self.until is None or version <= self.until)
