"""Lists of resource providers as bytes: the view of one is cut into constant pieces, and what differs is kept ready by row."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson

from kilonova.domain.resources import Provider
from kilonova.placement.index import Index
from kilonova.placement.rows import IntColumn
from kilonova.placement_api.prepared import UUID, Prepared, Text
from kilonova.placement_api.resource_providers.view import PROVIDER, ShownProvider

_SELF: Final = "00000000-6b69-6c6f-6e6f-766100000001"
_PARENT: Final = "00000000-6b69-6c6f-6e6f-766100000002"
_ROOT: Final = "00000000-6b69-6c6f-6e6f-766100000003"
_NAME: Final = "00000000-6b69-6c6f-6e6f-766100000004"
_GENERATION: Final = 766_100_000_005
"""Marks: values of a provider that stand nowhere else in its view, so that they are found in it again."""

_PLACES: Final = re.compile(rf'({_SELF}|{_ROOT}|"{_PARENT}"|"{_NAME}"|{_GENERATION})'.encode())


@dataclass(frozen=True, slots=True)
class Listing:
    """How the providers of one index are listed at one version under one path."""

    index: Index
    prepared: Prepared
    version: int
    base: str

    def write(self, rows: IntColumn) -> list[bytes]:
        """The pieces of the entries of these rows, in order, each entry with a comma before it."""
        template = _template(self.version, self.base)
        names, generations, parents = self.prepared.pieces(_ENTRY, self.index, rows)
        (uuids,) = self.prepared.pieces(UUID, self.index, rows)
        (roots,) = self.prepared.pieces(UUID, self.index, self.index.rows.root[rows])
        columns = {
            _SELF.encode(): uuids,
            _ROOT.encode(): roots,
            b'"%b"' % _PARENT.encode(): parents,
            b'"%b"' % _NAME.encode(): names,
            b"%d" % _GENERATION: generations,
        }
        pieces, width = list(template) * len(rows), len(template)
        for at in range(1, width, 2):
            pieces[at::width] = columns[template[at]]
        return pieces


def _differing(index: Index, provider: Provider) -> tuple[bytes, bytes, bytes]:
    parent = None if provider.parent_id is None else index.provider(provider.parent_id).uuid
    return orjson.dumps(provider.name), b"%d" % provider.generation, orjson.dumps(parent)


_ENTRY: Final = Text(3, _differing)
"""Name, generation and the parent's uuid, as JSON."""


@lru_cache(maxsize=128)
def _template(version: int, base: str) -> tuple[bytes, ...]:
    """The view of a provider in pieces: constant ones, and marks between them."""
    index = Index()
    root = Provider(1, _ROOT, "root", 0, None, 1)
    parent = Provider(2, _PARENT, "parent", 0, 1, 1)
    shown = Provider(3, _SELF, _NAME, _GENERATION, 2, 1)
    index.load([root, parent, shown])
    rendered = orjson.dumps(PROVIDER.at(version, _nobody)(ShownProvider(shown, index, base)))
    return tuple(_PLACES.split(b"," + rendered))


def _nobody(rule: str, target: Mapping[str, Any]) -> bool:
    """The view asks for no rule."""
    return False
