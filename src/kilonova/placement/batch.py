"""Candidates in bulk: many answers of one form as columns of rows, so that whoever writes them down loops over none.

A form says what the places of an answer get; a batch says, candidate by candidate, which rows stand in the places.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kilonova.domain.resources import Candidate
from kilonova.placement.rows import IntColumn


@dataclass(frozen=True, slots=True)
class Form:
    """What all candidates of a batch have in common.

    amounts: by place, the amounts by class that its provider is to give; empty for a place that is only mapped.
    mappings: by suffix, the places that serve the group, each once.
    """

    amounts: tuple[Mapping[str, int], ...]
    mappings: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Batch:
    """Candidates of one form. Valid until the index next changes.

    roots: rows of the anchor roots, by candidate. providers: rows of the index, candidates × places; the places of one
    candidate hold different rows.
    """

    form: Form
    roots: IntColumn
    providers: IntColumn

    def __len__(self) -> int:
        return len(self.roots)

    def first(self, number: int) -> "Batch":
        """The first `number` candidates."""
        return Batch(self.form, self.roots[:number], self.providers[:number])

    def candidates(self, ids: IntColumn) -> Iterator[Candidate]:
        """The candidates one by one, as values; `ids` are the provider ids by row."""
        amounts = [(place, given) for place, given in enumerate(self.form.amounts) if given]
        mappings = self.form.mappings.items()
        for root, held in zip(ids[self.roots].tolist(), ids[self.providers].tolist(), strict=True):
            yield Candidate(
                root,
                {held[place]: given for place, given in amounts},
                {suffix: tuple(sorted([held[place] for place in places])) for suffix, places in mappings},
            )
