"""A durable operation and its steps, as values. It is the API's instance action, and its steps are that action's events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SUCCESS = "Success"
ERROR = "Error"


@dataclass(frozen=True, slots=True)
class Step:
    """What is on record of one step: the intent from before it acted, and the outcome if there is one.

    `key` names it for ever ("build[1]"); `host` is set where it acts on a host.
    """

    key: str
    position: int
    intent: Mapping[str, Any]
    outcome: Mapping[str, Any] | None
    host: str | None


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation under a conductor's lease; `token` is what the lease was taken with."""

    id: str
    kind: str
    version: int
    server_id: str
    project_id: str
    user_id: str
    request_id: str
    cell: str
    token: int
    input: Mapping[str, Any]
    secret: bytes | None = None
    steps: Mapping[str, Step] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewOperation:
    """An operation as ACCEPT writes it. Exclusive ones are alone on their server while they live."""

    id: str
    kind: str
    version: int
    server_id: str
    project_id: str
    user_id: str
    request_id: str
    cell: str
    exclusive: bool
    input: Mapping[str, Any]
    secret: bytes | None = None
