"""Which providers hang below which root: sets of ids, nothing else."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet


class Forest:
    """The non-root members of every tree that has any; it is true when there is such a tree."""

    __slots__ = ("_below",)

    def __init__(self) -> None:
        self._below: dict[int, set[int]] = {}

    def fill(self, root_of: Iterable[tuple[int, int]]) -> None:
        """Take in many providers at once, each with its root, that are in no tree yet."""
        for provider_id, root_id in root_of:
            if provider_id != root_id:
                self._below.setdefault(root_id, set()).add(provider_id)

    def copy(self) -> "Forest":
        """The same, independent of this one."""
        twin = Forest()
        twin._below = {root_id: below.copy() for root_id, below in self._below.items()}
        return twin

    def __bool__(self) -> bool:
        return bool(self._below)

    def below(self, root_id: int) -> AbstractSet[int]:
        """The ids of all providers of a root's tree but the root."""
        return self._below.get(root_id, frozenset())

    def move(self, provider_id: int, from_root: int | None, to_root: int | None) -> None:
        """Take a provider from one tree to another; None and its own id mean that it was or will be nobody's child."""
        if from_root not in (None, provider_id):
            below = self._below[from_root]
            below.discard(provider_id)
            if not below:
                del self._below[from_root]
        if to_root not in (None, provider_id):
            self._below.setdefault(to_root, set()).add(provider_id)
