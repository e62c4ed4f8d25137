"""What a filter is: a question that each host passes or fails, and the words for those that fail."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kilonova.scheduling.arrays import Mask, Rows
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.phrases import Phrase
from kilonova.scheduling.request import Request

Passes: TypeAlias = Callable[[Request, Hosts, Rows], Mask]


def always(request: Request) -> bool:
    """For a filter that every request goes through."""
    return True


def no_subject(request: Request) -> str:
    """For a filter whose phrase speaks of nothing but the host."""
    return ""


@dataclass(frozen=True, slots=True)
class Filter:
    """One check.

    `name` is the community's and what settings choose by; several filters may share one. `code` is the reason's, stable.
    `passes` answers for the given rows, in their order, and must not look at others; it is called only when
    `applies` says that the request asks for the check at all. `subject` is what `phrase` speaks of.
    """

    name: str
    code: str
    phrase: Phrase
    passes: Passes
    applies: Callable[[Request], bool] = always
    subject: Callable[[Request], str] = no_subject
