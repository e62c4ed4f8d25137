"""Where a depth-first search stands: what is chosen, what room is left, and what may be chosen next."""

from collections.abc import Iterator

from kilonova.placement.matching import can_match
from kilonova.placement.problem import Problem


class State:
    """Levels are chosen in turn: first the head of each same-subtree rule, then the slots, fewest options first.

    Naming the head first makes its rule local (every slot at or below the head, one slot at it), and since at most
    one of the chosen providers can be above all others, no answer is met under two heads.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._heads = len(problem.subtrees)
        order = sorted(range(len(problem.domains)), key=lambda slot: problem.domains[slot].bit_count())
        self.levels: list[int] = [*range(-self._heads, 0), *order]
        self._chosen = [0] * len(self.levels)
        self._answer = [0] * len(problem.domains)
        self._left = [list(room) for room in problem.room]
        self._taken = 0
        self._at_head = [0] * self._heads
        self._have = [0] * (len(self.levels) + 1)
        self._all_wishes = (1 << len(problem.givers)) - 1
        self._later_wishes = self._wishes_of_later_levels()
        self._later_heads = [self._heads_of_later_levels(rule) for rule in range(self._heads)]
        self._rules = [tuple(k for k, rule in enumerate(problem.subtrees) if slot in rule.slots) for slot in order]
        self._roomy: dict[tuple[int, int], int] = {}
        self._asked: list[list[int]] = [[] for _ in problem.room]
        self._watch_room()
        self._pools: list[int] | None = None
        self._last_level: list[int] = []

    def options(self, depth: int) -> int:
        """The providers that the level may choose in the present state, as bits."""
        slot = self.levels[depth]
        problem = self._problem
        if slot < 0:
            return problem.subtrees[depth].heads
        mask = problem.domains[slot]
        for demand in problem.demands[slot]:
            mask &= self._roomy[demand]
        if problem.alone[slot]:
            mask &= ~self._taken
        for rule in self._rules[depth - self._heads]:
            mask &= self._within_subtree(rule, depth)
        missing = self._all_wishes & ~(self._have[depth] | self._later_wishes[depth])
        wish = 0
        while missing:
            if missing & 1:
                mask &= problem.givers[wish] if problem.wishes[slot] >> wish & 1 else 0
            missing >>= 1
            wish += 1
        return mask

    def choose(self, depth: int, provider: int) -> None:
        """Choose one of the options for a level."""
        self._chosen[depth] = provider
        slot = self.levels[depth]
        if slot < 0:
            self._have[depth + 1] = self._have[depth]
            return
        self._answer[slot] = provider
        problem = self._problem
        for number, amount in problem.demands[slot]:
            self._left[number][provider] -= amount
            self._watch(number, provider)
        if problem.alone[slot]:
            self._taken |= 1 << provider
        for rule in self._rules[depth - self._heads]:
            self._at_head[rule] += self._chosen[rule] == provider
        if self._all_wishes:
            self._have[depth + 1] = self._have[depth] | self._fulfilled(slot, provider)

    def undo(self, depth: int) -> None:
        """Take back the choice of a level; levels are undone in the reverse order."""
        slot = self.levels[depth]
        if slot < 0:
            return
        problem, provider = self._problem, self._chosen[depth]
        for number, amount in problem.demands[slot]:
            self._left[number][provider] += amount
            self._watch(number, provider)
        if problem.alone[slot]:
            self._taken &= ~(1 << provider)
        for rule in self._rules[depth - self._heads]:
            self._at_head[rule] -= self._chosen[rule] == provider

    def answers(self, options: int) -> Iterator[tuple[int, ...]]:
        """The chosen provider of each slot, for each option of the last level, when all the others have chosen."""
        slot = self.levels[-1]
        while options:
            lowest = options & -options
            options ^= lowest
            self._answer[slot] = lowest.bit_length() - 1
            yield tuple(self._answer)

    def key(self, depth: int) -> object:
        """What the levels from `depth` on can see of the choices before; equal providers look the same."""
        pools = self._pools if self._pools is not None else self._make_pools()
        heads = self._chosen[: min(depth, self._heads)]
        problem = self._problem
        touched = {
            provider
            for slot, provider in zip(self.levels[:depth], self._chosen[:depth], strict=True)
            if slot >= 0 and self._last_level[provider] >= depth and (problem.demands[slot] or problem.alone[slot])
        }
        seen = sorted(
            (
                pools[provider],
                *(left[provider] for left in self._left),
                self._taken >> provider & 1,
                *(number for number, head in enumerate(heads) if head == provider),
            )
            for provider in touched
        )
        return (depth, tuple(heads), tuple(map(bool, self._at_head)), self._have[depth], tuple(seen))

    def matchable(self, depth: int) -> bool:
        """A necessary condition for an answer: the remaining slots can be matched to providers class by class."""
        problem = self._problem
        open_slots = {slot: self._could(slot, depth) for slot in self.levels[depth:] if slot >= 0}
        alone = [mask for slot, mask in open_slots.items() if problem.alone[slot]]
        if not can_match(alone, [1] * len(problem.ids)):
            return False
        for number, left in enumerate(self._left):
            asking = {slot: amount for slot in open_slots for n, amount in problem.demands[slot] if n == number}
            if asking:
                least = min(asking.values())
                if not can_match([open_slots[slot] for slot in asking], [max(0, free) // least for free in left]):
                    return False
        return True

    def _could(self, slot: int, depth: int) -> int:
        """What a slot may choose at best, whichever levels from `depth` on come before it."""
        problem = self._problem
        mask = problem.domains[slot]
        for demand in problem.demands[slot]:
            mask &= self._roomy[demand]
        if problem.alone[slot]:
            mask &= ~self._taken
        for rule, head in enumerate(self._chosen[: min(depth, self._heads)]):
            if slot in problem.subtrees[rule].slots:
                mask &= problem.subtrees[rule].below[head]
        return mask

    def _within_subtree(self, rule: int, depth: int) -> int:
        head = self._chosen[rule]
        if not self._at_head[rule] and not self._later_heads[rule][depth] >> head & 1:
            return 1 << head
        return self._problem.subtrees[rule].below[head]

    def _heads_of_later_levels(self, rule: int) -> list[int]:
        """By level, the providers that slots of a same-subtree rule chosen after it may take."""
        later = [0] * len(self.levels)
        for depth in range(len(self.levels) - 1, 0, -1):
            slot = self.levels[depth]
            could = self._problem.domains[slot] if slot in self._problem.subtrees[rule].slots else 0
            later[depth - 1] = later[depth] | could
        return later

    def _fulfilled(self, slot: int, provider: int) -> int:
        wishes = self._problem.wishes[slot]
        return sum(1 << w for w, giver in enumerate(self._problem.givers) if wishes >> w & 1 and giver >> provider & 1)

    def _wishes_of_later_levels(self) -> list[int]:
        problem = self._problem
        later = [0] * len(self.levels)
        for depth in range(len(self.levels) - 1, 0, -1):
            slot = self.levels[depth]
            could = 0
            if slot >= 0:
                for wish, giver in enumerate(problem.givers):
                    if problem.wishes[slot] >> wish & 1 and problem.domains[slot] & giver:
                        could |= 1 << wish
            later[depth - 1] = later[depth] | could
        return later

    def _watch_room(self) -> None:
        for demands in self._problem.demands:
            for number, amount in demands:
                if (number, amount) not in self._roomy:
                    self._asked[number].append(amount)
                    self._roomy[number, amount] = sum(
                        1 << provider for provider, left in enumerate(self._left[number]) if left >= amount
                    )

    def _watch(self, number: int, provider: int) -> None:
        left, bit = self._left[number][provider], 1 << provider
        for amount in self._asked[number]:
            if left >= amount:
                self._roomy[number, amount] |= bit
            else:
                self._roomy[number, amount] &= ~bit

    def _make_pools(self) -> list[int]:
        """Number the providers so that equal numbers mean: nothing in this problem tells the two apart."""
        problem = self._problem
        domains = sorted(set(problem.domains))
        numbers: dict[object, int] = {}
        pools = []
        for provider in range(len(problem.ids)):
            looks: list[object] = [domain >> provider & 1 for domain in domains]
            looks += [giver >> provider & 1 for giver in problem.givers]
            looks += [room[provider] for room in problem.room]
            looks += [self._place(provider)] if problem.subtrees else []
            pools.append(numbers.setdefault(tuple(looks), len(numbers)))
        self._last_level = [-1] * len(problem.ids)
        for depth, slot in enumerate(self.levels):
            for provider in range(len(problem.ids)) if slot >= 0 else ():
                if problem.domains[slot] >> provider & 1:
                    self._last_level[provider] = depth
        self._pools = pools
        return pools

    def _place(self, provider: int) -> object:
        """Leaves with the same providers above them are in the same place; any other provider is in one of its own."""
        below = self._problem.subtrees[0].below
        if below[provider] != 1 << provider:
            return (provider,)
        return tuple(head for head, under in enumerate(below) if head != provider and under >> provider & 1)
