"""What conductors and host agents say to each other, and the subjects they say it on.

A host's credentials reach only subjects that carry its own word, so every subject names the host.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from kilonova.bus import word

JSON = Mapping[str, Any]


def command_subject(host: str) -> str:
    """Where a host takes commands (a request; the reply is a list of answers)."""
    return f"host.{word(host)}.command"


def acknowledge_subject(host: str) -> str:
    """Where a host hears that reports, which it gave as answers, are safe (published; a JSON list of keys)."""
    return f"host.{word(host)}.acknowledge"


def read_subject(host: str) -> str:
    """Where a host answers reads: console output, guests (a request)."""
    return f"host.{word(host)}.read"


def report_subject(host: str, conductor: str) -> str:
    """Where a host reports to the conductor that sent the command (a request; the reply is a JSON list of keys taken)."""
    return f"report.{word(host)}.{word(conductor)}"


def hello_subject(host: str) -> str:
    """Where a host introduces itself to any conductor (a request, queue group `conductors`)."""
    return f"hello.{word(host)}"


def beat_subject(host: str) -> str:
    """Where a host says now and then that it lives (published, no content needed)."""
    return f"beat.{word(host)}"


@dataclass(frozen=True, slots=True)
class Command:
    """One thing to do on a host. `key` names it for ever: the same key is the same work, however often it is sent.

    `generation` is the server's, raised with each intent: a host refuses lower ones. `epoch` is the host's own.
    `limit` is how long the host may take, in seconds from when it accepts.
    """

    operation: str
    step: str
    name: str
    server: str
    generation: int
    epoch: int
    limit: float
    input: JSON = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The command's name for ever: operation and step."""
        return f"{self.operation}/{self.step}"


@dataclass(frozen=True, slots=True)
class Report:
    """How a command ended on a host. `error` is a sentence for people where `ok` is false."""

    key: str
    server: str
    generation: int
    ok: bool
    error: str = ""
    result: JSON = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host says at once to a command: accepted, running (asked again), refused with a reason, or the report."""

    key: str
    state: Literal["accepted", "running", "refused", "report"]
    reason: str = ""
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class Hello:
    """A host's introduction: who it is, what it has, and which guests it holds (server id -> power state)."""

    host: str
    cell: str
    incarnation: str
    hypervisor: JSON
    providers: tuple[JSON, ...]
    guests: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Welcome:
    """The answer to a hello: the host's epoch, the servers that belong on it (server id -> generation), and those of its
    guests that must go because their servers were deleted or live elsewhere.
    """

    epoch: int
    servers: Mapping[str, int]
    gone: tuple[str, ...] = ()


def encode_commands(conductor: str, commands: list[Command]) -> bytes:
    """Commands for one host in one message; `conductor` is where the reports go."""
    return orjson.dumps({"conductor": conductor, "commands": commands})


def decode_commands(data: bytes) -> tuple[str, list[Command]]:
    """The conductor's name and the commands."""
    content = orjson.loads(data)
    return content["conductor"], [Command(**entry) for entry in content["commands"]]


def encode_answers(answers: list[Answer]) -> bytes:
    """Answers, in the order of the commands."""
    return orjson.dumps(answers)


def decode_answers(data: bytes) -> list[Answer]:
    """Answers, in the order of the commands."""
    return [
        Answer(entry["key"], entry["state"], entry["reason"], Report(**entry["report"]) if entry["report"] else None)
        for entry in orjson.loads(data)
    ]


def encode_reports(reports: list[Report]) -> bytes:
    """Reports of one host in one message."""
    return orjson.dumps(reports)


def decode_reports(data: bytes) -> list[Report]:
    """Reports of one host."""
    return [Report(**entry) for entry in orjson.loads(data)]


def encode_hello(hello: Hello) -> bytes:
    """A host's introduction."""
    return orjson.dumps(hello)


def decode_hello(data: bytes) -> Hello:
    """A host's introduction."""
    content = orjson.loads(data)
    return Hello(**{**content, "providers": tuple(content["providers"])})


def encode_welcome(welcome: Welcome) -> bytes:
    """The answer to a hello."""
    return orjson.dumps(welcome)


def decode_welcome(data: bytes) -> Welcome:
    """The answer to a hello."""
    content = orjson.loads(data)
    return Welcome(content["epoch"], content["servers"], tuple(content.get("gone", ())))
