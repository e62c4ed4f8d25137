"""One tree's share of a query, small enough to search: local providers numbered 0…, sets of them as bits of an int."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Subtree:
    """Slots whose providers must all be at or below one of them: `below[h]` are the providers at or below h."""

    slots: tuple[int, ...]
    heads: int
    below: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Choose for each slot a provider of its domain.

    ids: whom each local number stands for, in the maker's own terms. domains: by slot. own: the tree's own providers;
    sharing: those that share.
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
        return bool(self.domains) and all(domain & self.sharing for domain in self.domains)

    def without_isolation(self) -> "Problem | None":
        """The same, but suffixed groups may meet on one provider; None where they may anyway."""
        return replace(self, alone=(False,) * len(self.alone)) if any(self.alone) else None

    def without_subtrees(self) -> "Problem | None":
        """The same, but without the same-subtree rules; None where there are none."""
        return replace(self, subtrees=()) if self.subtrees else None
