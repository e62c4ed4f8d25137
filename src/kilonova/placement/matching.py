"""Bipartite matching over bit sets: a quick proof that choices cannot all be served."""

from collections.abc import Sequence


def can_match(domains: Sequence[int], room: Sequence[int]) -> bool:
    """Whether each domain can get one of its providers, when provider number p serves at most `room[p]` domains."""
    useful = sum(1 << provider for provider, count in enumerate(room) if count > 0)
    if not all(domain & useful for domain in domains):
        return False
    matching = _Matching(domains, room)
    return all(matching.add(number, [useful]) for number in range(len(domains)))


class _Matching:
    """A matching grown by augmenting paths (Kuhn's algorithm)."""

    __slots__ = ("_domains", "_held", "_room")

    def __init__(self, domains: Sequence[int], room: Sequence[int]) -> None:
        self._domains = domains
        self._room = room
        self._held: list[list[int]] = [[] for _ in room]

    def add(self, number: int, unseen: list[int]) -> bool:
        """Match one more domain, moving others if need be; `unseen` holds the providers not yet tried on this path."""
        while mask := self._domains[number] & unseen[0]:
            lowest = mask & -mask
            unseen[0] ^= lowest
            provider = lowest.bit_length() - 1
            held = self._held[provider]
            if len(held) < self._room[provider]:
                held.append(number)
                return True
            for position, other in enumerate(held):
                if self.add(other, unseen):
                    held[position] = number
                    return True
        return False
