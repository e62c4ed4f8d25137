"""Answers of the placement API: the headers that all of them share, and paths as its links have them."""

from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache
from time import time
from typing import Any, Final
from urllib.parse import urlsplit

from kilonova.http.calls import Answer, Call

_DATED: Final = 15
NOTHING: Final[Mapping[str, str]] = {}


def reply(call: Call, body: object, status: int = 200, headers: Mapping[str, str] = NOTHING) -> Answer:
    """An answer that says, from 1.15 on, that it is of this moment and not to be cached.

    The moment of the answer is what the API allows where no time of last change is kept.
    """
    if call.version < _DATED:
        return Answer(status, body, headers)
    return Answer(status, body, {"Last-Modified": _date(int(time())), "Cache-Control": "no-cache", **headers})


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """A time in seconds as headers have it. Many answers are of one second."""
    return formatdate(second, usegmt=True)


def base_of(call: Call) -> str:
    """The path that this face is mounted at, as links begin."""
    return urlsplit(call.root).path


def number(value: Any) -> int:
    """A whole number of a body that passed its schema, where 2.0 is one, too."""
    return int(value)
