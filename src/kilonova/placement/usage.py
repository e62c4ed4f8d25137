"""A scratch copy of what is used, so that the plans of one batch can deduct from each other."""

from collections.abc import Mapping

from kilonova.domain.resources import Candidate
from kilonova.placement.rows import IntColumn, Rows


class Usage:
    """Used amounts as the index has them, plus what a batch has planned; nothing is copied before the first `take`.

    It is valid until the index next changes: rows may then belong to other providers.
    """

    __slots__ = ("_copies", "_row_of", "_rows")

    def __init__(self, rows: Rows, row_of: Mapping[int, int]) -> None:
        self._rows = rows
        self._row_of = row_of
        self._copies: dict[str, IntColumn] = {}

    def take(self, candidate: Candidate) -> None:
        """Count the candidate's amounts as used."""
        self._add(candidate, 1)

    def give_back(self, candidate: Candidate) -> None:
        """Undo a `take`, or leave out what a consumer holds that is about to be replaced."""
        self._add(candidate, -1)

    def used(self, resource_class: str) -> IntColumn:
        """The used amounts of a class by row; not to be written to. The class must have columns."""
        copy = self._copies.get(resource_class)
        return self._rows.classes[resource_class].used if copy is None else copy

    def _add(self, candidate: Candidate, sign: int) -> None:
        for provider_id, amounts in candidate.allocations.items():
            row = self._row_of[provider_id]
            for resource_class, amount in amounts.items():
                column = self._copies.get(resource_class)
                if column is None:
                    column = self._copies[resource_class] = self._rows.classes[resource_class].used.copy()
                column[row] += sign * amount
