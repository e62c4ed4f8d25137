"""Flags: the same answers whether few rows have one or many."""

from random import Random

import numpy as np

from kilonova.placement.flags import Flags

LENGTH = 20_000


def held(flags: Flags, name: str) -> list[int]:
    return np.flatnonzero(flags.mask(name)).tolist()


def test_a_flag_of_few_rows_and_of_many_is_the_set_of_its_rows() -> None:
    flags, random = Flags(LENGTH), Random(1)
    rows: set[int] = set()
    for _ in range(100):
        row = random.randrange(LENGTH)
        flags.replace(row, frozenset(["A"] if row in rows else []), frozenset(["A", "B"]))
        rows.add(row)
        assert held(flags, "A") == sorted(rows)
    for row in sorted(rows):
        flags.replace(row, frozenset(["A", "B"]), frozenset(["B"]))
        rows.discard(row)
        assert held(flags, "A") == sorted(rows)


def test_any_of_takes_together_flags_of_few_rows_of_many_and_of_none() -> None:
    flags = Flags(LENGTH)
    flags.fill([frozenset(["MANY"]) if row % 2 else frozenset(["FEW"] if row == 10 else []) for row in range(1000)])
    assert np.flatnonzero(flags.any_of(["MANY", "FEW", "NONE"])).tolist() == sorted([10, *range(1, 1000, 2)])
    assert not flags.any_of(["NONE"]).any()
    assert not flags.any_of([]).any()


def test_a_copy_and_its_original_change_apart() -> None:
    flags = Flags(LENGTH)
    flags.fill([frozenset(["MANY"])] * 1000 + [frozenset(["FEW"])])
    copy = flags.copy()
    copy.replace(0, frozenset(["MANY"]), frozenset(["FEW"]))
    flags.replace(1, frozenset(["MANY"]), frozenset())
    assert (held(flags, "FEW"), held(copy, "FEW")) == ([1000], [0, 1000])
    assert (held(flags, "MANY"), held(copy, "MANY")) == ([0, *range(2, 1000)], list(range(1, 1000)))


def test_rows_that_come_later_have_no_flag() -> None:
    flags = Flags(100)
    flags.fill([frozenset(["A"])] * 100)
    flags.grow(LENGTH)
    assert held(flags, "A") == list(range(100))
    flags.replace(LENGTH - 1, frozenset(), frozenset(["A"]))
    assert held(flags, "A") == [*range(100), LENGTH - 1]
