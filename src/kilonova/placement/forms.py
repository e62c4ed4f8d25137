"""The forms that answers take: which choices fall on one provider decides what each place of a candidate is to give."""

from collections.abc import Sequence

from kilonova.placement.batch import Form
from kilonova.placement.plan import Plan

Answer = tuple[int, ...]
"""Local numbers of providers: one for each slot, then those that are only mapped (Plan.fixed)."""


class Forms:
    """The forms of one query's answers, each made once."""

    def __init__(self, plan: Plan) -> None:
        self._slots = [(slot.suffix, slot.resources) for slot in plan.slots]
        self._is_fixed = plan.fixed is not None
        self._known: dict[tuple[int, ...] | None, Form] = {}

    def of(self, answer: Answer) -> tuple[Form, Sequence[int]]:
        """The form of an answer, and which of the local providers stands in each place."""
        places = dict.fromkeys(answer)
        # As it mostly is: no two choices on one provider.
        pattern = None
        if len(places) < len(answer):
            number = {provider: place for place, provider in enumerate(places)}
            pattern = tuple([number[provider] for provider in answer])
        form = self._known.get(pattern)
        if form is None:
            form = self._known[pattern] = self._make(pattern or tuple(range(len(answer))))
        return form, answer if pattern is None else tuple(places)

    def on_one(self) -> Form:
        """The form of candidates with a single provider for everything."""
        return self._make((0,) * (len(self._slots) + self._is_fixed))

    def _make(self, pattern: tuple[int, ...]) -> Form:
        amounts: list[dict[str, int]] = [{} for _ in range(max(pattern, default=-1) + 1)]
        mappings: dict[str, list[int]] = {}
        slots = [*self._slots, *[("", {})] * (len(pattern) - len(self._slots))]
        for place, (suffix, resources) in zip(pattern, slots, strict=True):
            for name, amount in resources.items():
                amounts[place][name] = amounts[place].get(name, 0) + amount
            mapped = mappings.setdefault(suffix, [])
            if place not in mapped:
                mapped.append(place)
        return Form(tuple(amounts), {suffix: tuple(places) for suffix, places in mappings.items()})
