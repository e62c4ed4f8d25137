"""How the providers that candidates use are summarised, each with a comma before it.

From 1.29 on a summary depends on its provider alone and is kept ready; older versions and amounts that a query changes
are written for the answer at hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import orjson

from kilonova.domain.resources import Provider
from kilonova.placement.index import Index
from kilonova.placement.rows import IntColumn
from kilonova.placement_api.prepared import UUID, Prepared, Text

_WITH_TRAITS: Final = 17
_ALL_CLASSES: Final = 27
NESTED: Final = 29

_END: Final = b'"}'
Amounts = Mapping[str, int]
NONE: Final[Amounts] = {}


@dataclass(frozen=True, slots=True)
class Summaries:
    """The summaries of one answer.

    `classes` are those that the query names: before 1.27 summaries tell of no others. `replaced` has, by row, amounts by
    class that are not to count as used.
    """

    index: Index
    prepared: Prepared
    version: int
    classes: frozenset[str]
    replaced: Mapping[int, Amounts] = field(default_factory=dict)

    def write(self, rows: IntColumn) -> list[bytes]:
        """The pieces of the summaries of these rows (at least one), in order."""
        if self.version < NESTED:
            return [self._old(index_provider(self.index, row), self.replaced.get(row, NONE)) for row in rows.tolist()]
        heads, middles = self.prepared.pieces(_NESTED, self.index, rows)
        if self.replaced:
            for position, row in enumerate(rows.tolist()):
                if row in self.replaced:
                    heads[position] = _head(index_provider(self.index, row), self.replaced[row])
        pieces = [b""] * (3 * len(heads))
        pieces[0::3] = heads
        pieces[1::3] = middles
        (pieces[2::3],) = self.prepared.pieces(UUID, self.index, self.index.rows.root[rows])
        # Each head begins with what ends the summary before it: one piece less to join.
        pieces[0] = pieces[0].removeprefix(_END)
        pieces.append(_END)
        return pieces

    def _old(self, provider: Provider, replaced: Amounts) -> bytes:
        shown = None if self.version >= _ALL_CLASSES else self.classes
        resources = _resources(provider, replaced, shown)
        traits = f',"traits":{_traits(provider.traits).decode()}' if self.version >= _WITH_TRAITS else ""
        return f',"{provider.uuid}":{{"resources":{{{resources}}}{traits}}}'.encode()


def index_provider(index: Index, row: int) -> Provider:
    """The provider of a taken row."""
    return index.provider(int(index.rows.ids[row]))


def _written(index: Index, provider: Provider) -> tuple[bytes, bytes]:
    if provider.parent_id is None:
        return _head(provider, NONE), _of_root(provider.traits)
    parent = index.provider(provider.parent_id).uuid.encode()
    return _head(provider, NONE), b'%b,"parent_provider_uuid":"%b","root_provider_uuid":"' % (_traits(provider.traits), parent)


_NESTED: Final = Text(2, _written)
"""All of a summary but the root's uuid and the end."""


def _head(provider: Provider, replaced: Amounts) -> bytes:
    return f'"}},"{provider.uuid}":{{"resources":{{{_resources(provider, replaced, None)}}},"traits":'.encode()


def _resources(provider: Provider, replaced: Amounts, shown: frozenset[str] | None) -> str:
    return ",".join(
        [
            f'"{name}":{{"capacity":{inventory.capacity},"used":{inventory.used - replaced.get(name, 0)}}}'
            for name, inventory in provider.inventories.items()
            if shown is None or name in shown
        ]
    )


# Hosts of one kind have the same traits: there is one text for all of them, which is most of what a summary says.
@lru_cache(maxsize=1024)
def _of_root(traits: frozenset[str]) -> bytes:
    return _traits(traits) + b',"parent_provider_uuid":null,"root_provider_uuid":"'


@lru_cache(maxsize=1024)
def _traits(traits: frozenset[str]) -> bytes:
    return orjson.dumps(sorted(traits, key=_standard_first))


def _standard_first(trait: str) -> tuple[bool, str]:
    return trait.startswith("CUSTOM_"), trait
