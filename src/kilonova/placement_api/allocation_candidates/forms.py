"""How the candidates of one form are written: constant pieces, and the places where uuids stand between them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import orjson

from kilonova.placement.batch import Form

_KEYED: Final = 12
_WITH_MAPPINGS: Final = 34

Token = bytes | int
"""A piece of text, or the number of a place whose uuid stands here."""


Amounts = tuple[tuple[str, int], ...]
Mappings = tuple[tuple[str, tuple[int, ...]], ...]


class FormWriter:
    """Writes candidates of one form at one version, each with a comma before it."""

    def __init__(self, amounts: Sequence[Amounts], mappings: Mappings, version: int) -> None:
        self.held = tuple(place for place, given in enumerate(amounts) if given)
        """The places that give something."""
        self._places = len(amounts)
        first, *tokens, last = _merged(_tokens(amounts, mappings, version))
        assert isinstance(first, bytes)
        assert isinstance(last, bytes)
        self._begin, self._end = first, last
        # What ends one candidate and what begins the next are one piece.
        self._template = [token if isinstance(token, bytes) else b"" for token in [*tokens, last + first]]
        self._filled = [(at, token) for at, token in enumerate(tokens) if isinstance(token, int)]

    def write(self, uuids: Sequence[bytes], many: int) -> list[bytes]:
        """The pieces of `many` candidates; `uuids` has those of all places of one after those of another."""
        if not many:
            return []
        pieces, width = self._template * many, len(self._template)
        for at, place in self._filled:
            pieces[at::width] = uuids[place :: self._places]
        pieces.insert(0, self._begin)
        pieces[-1] = self._end
        return pieces


def writer_of(form: Form, version: int) -> FormWriter:
    """The writer of a form; the same one for forms that are equal."""
    return _writer(tuple([tuple(given.items()) for given in form.amounts]), tuple(form.mappings.items()), version)


@lru_cache(maxsize=512)
def _writer(amounts: tuple[Amounts, ...], mappings: Mappings, version: int) -> FormWriter:
    return FormWriter(amounts, mappings, version)


def _tokens(amounts: Sequence[Amounts], mappings: Mappings, version: int) -> list[Token]:
    held = [(place, orjson.dumps(dict(given))) for place, given in enumerate(amounts) if given]
    if version < _KEYED:
        tokens: list[Token] = [b',{"allocations":[']
        for number, (place, resources) in enumerate(held):
            tokens += [b',{"resource_provider":{"uuid":"' if number else b'{"resource_provider":{"uuid":"', place]
            tokens += [b'"},"resources":', resources, b"}"]
        return [*tokens, b"]}"]
    tokens = [b',{"allocations":{']
    for number, (place, resources) in enumerate(held):
        tokens += [b',"' if number else b'"', place]
        tokens += [b'":{"resources":', resources, b"}"]
    tokens.append(b"}")
    if version >= _WITH_MAPPINGS:
        tokens += _mappings(mappings)
    return [*tokens, b"}"]


def _mappings(mappings: Mappings) -> list[Token]:
    tokens: list[Token] = [b',"mappings":{']
    for number, (suffix, places) in enumerate(mappings):
        tokens += [b"," if number else b"", orjson.dumps(suffix), b":["]
        for position, place in enumerate(places):
            tokens += [b',"' if position else b'"', place, b'"']
        tokens.append(b"]")
    return [*tokens, b"}"]


def _merged(tokens: Sequence[Token]) -> list[Token]:
    """The same with neighbouring texts made one: every piece costs the join a little."""
    merged: list[Token] = []
    for token in tokens:
        if merged and isinstance(token, bytes) and isinstance(merged[-1], bytes):
            merged[-1] += token
        else:
            merged.append(token)
    return merged
