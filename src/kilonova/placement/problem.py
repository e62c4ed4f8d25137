"""One tree's share of a query, small enough to search: local providers numbered 0…, sets of them as bits of an int."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kilonova.placement.plan import Plan
from kilonova.placement.rows import IntColumn


@dataclass(frozen=True, slots=True)
class Subtree:
    """Slots whose providers must all be at or below one of them: `below[h]` are the providers at or below h."""

    slots: tuple[int, ...]
    heads: int
    below: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Choose for each slot a provider of its domain.

    ids: provider ids by local number. domains: by slot. own: the tree's own providers; sharing: those that share.
    demands: by slot, (contended class, amount) pairs; room: by contended class, what each provider can still give.
    alone: slots that may not meet on one provider. givers: by wish, the providers that fulfil it; wishes: by slot,
    the wishes (as bits) that a provider chosen for it counts for; each wish must be fulfilled by some slot.
    """

    ids: tuple[int, ...]
    domains: tuple[int, ...]
    own: int
    sharing: int
    demands: tuple[tuple[tuple[int, int], ...], ...]
    room: tuple[tuple[int, ...], ...]
    alone: tuple[bool, ...]
    givers: tuple[int, ...]
    wishes: tuple[int, ...]
    subtrees: tuple[Subtree, ...]

    @property
    def may_repeat(self) -> bool:
        """Whether some answer may use sharing providers only: other trees may then give the same one."""
        return all(domain & self.sharing for domain in self.domains)

    @property
    def shape(self) -> object:
        """All but the identity of the providers: problems of one plan with equal shapes have the same answers."""
        return (self.domains, self.own, self.room, self.givers, self.subtrees)

    def without_isolation(self) -> "Problem | None":
        """The same, but suffixed groups may meet on one provider; None where they may anyway."""
        return replace(self, alone=(False,) * len(self.alone)) if any(self.alone) else None

    def without_subtrees(self) -> "Problem | None":
        """The same, but without the same-subtree rules; None where there are none."""
        return replace(self, subtrees=()) if self.subtrees else None


class ProblemMaker:
    """Makes the problems of one plan; what is the same for every tree is worked out once."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._reading = plan.reading
        number = {name: position for position, name in enumerate(plan.contended)}
        self._demands = tuple(
            tuple((number[name], amount) for name, amount in slot.resources.items() if name in number) for slot in plan.slots
        )
        self._room = tuple(self._give_at_most(name) for name in plan.contended)
        self._alone = tuple(plan.isolated and bool(slot.suffix) for slot in plan.slots)
        self._shared = [
            (row, self._reading.index.topology.anchors(row)) for row in sorted({row for s in plan.slots for row in s.shared})
        ]
        kinds = {id(slot.own): slot for slot in plan.slots}
        self._kind_of = tuple(list(kinds).index(id(slot.own)) for slot in plan.slots)
        self._guest_rows = [frozenset(slot.shared) for slot in kinds.values()]
        masks = [*(slot.own for slot in kinds.values()), *(cover.rows for cover in plan.covers), self._reading.sharing]
        # One below the other: a tree's bits of all of them are then one look into one array.
        self._masks = np.stack(masks)
        self._wishes = tuple(0 if slot.suffix else (1 << len(plan.covers)) - 1 for slot in plan.slots)

    def make(self, root_row: int, *, use_own: bool = False) -> Problem:
        """The problem of one tree; `use_own` wants at least one provider of the tree itself in the answer."""
        reading = self._reading
        rows = members = reading.index.topology.tree_rows(root_row)
        guests = [row for row, anchors in self._shared if anchors[root_row] and reading.rows.root[row] != root_row]
        if guests:
            rows = np.concatenate([members, np.array(guests, dtype=np.int64)])
        looks = _bits(self._masks, rows)
        own = (1 << len(members)) - 1
        by_kind = [
            looks[kind] & own | _positions(guests, guest_rows) << len(members) for kind, guest_rows in enumerate(self._guest_rows)
        ]
        domains = tuple([by_kind[kind] for kind in self._kind_of])
        givers, wishes = looks[len(by_kind) : -1], self._wishes
        if use_own and guests:
            wishes = tuple(wish | (1 << len(givers)) for wish in wishes)
            givers = [*givers, own]
        return Problem(
            ids=tuple(reading.rows.ids[rows].tolist()),
            domains=domains,
            own=own,
            sharing=looks[-1],
            demands=self._demands,
            room=tuple([tuple(column[rows].tolist()) for column in self._room]),
            alone=self._alone,
            givers=tuple(givers),
            wishes=wishes,
            subtrees=self._subtrees(domains, rows) if self._plan.query.same_subtree else (),
        )

    def _give_at_most(self, resource_class: str) -> IntColumn:
        free = self._reading.free(resource_class)
        columns = self._reading.rows.classes.get(resource_class)
        return free if columns is None else np.minimum(free, columns.max_unit)

    def _subtrees(self, domains: tuple[int, ...], rows: IntColumn) -> tuple[Subtree, ...]:
        below = self._below(rows)
        subtrees = []
        for suffixes in self._plan.query.same_subtree:
            slots = tuple(number for number, slot in enumerate(self._plan.slots) if slot.suffix in suffixes)
            if len(slots) > 1:
                heads = 0
                for slot in slots:
                    heads |= domains[slot]
                heads = sum(
                    1 << head
                    for head, under in enumerate(below)
                    if heads >> head & 1 and all(domains[slot] & under for slot in slots)
                )
                subtrees.append(Subtree(slots, heads, below))
        return tuple(subtrees)

    def _below(self, rows: IntColumn) -> tuple[int, ...]:
        ids = self._reading.rows.ids[rows].tolist()
        position = {provider_id: number for number, provider_id in enumerate(ids)}
        below = [1 << number for number in range(len(ids))]
        for number, provider_id in enumerate(ids):
            parent = self._reading.index.provider(provider_id).parent_id
            while parent is not None:
                if parent in position:
                    below[position[parent]] |= 1 << number
                parent = self._reading.index.provider(parent).parent_id
        return tuple(below)


def _bits(masks: npt.NDArray[np.bool_], rows: IntColumn) -> list[int]:
    """For each mask, the positions in `rows` whose rows are in it, as bits."""
    packed = np.packbits(masks[:, rows], axis=1, bitorder="little")
    width, everything = packed.shape[1], packed.tobytes()
    return [int.from_bytes(everything[at : at + width], "little") for at in range(0, len(everything), width)]


def _positions(rows: Sequence[int], wanted: AbstractSet[int]) -> int:
    return sum(1 << position for position, row in enumerate(rows) if row in wanted) if rows else 0
