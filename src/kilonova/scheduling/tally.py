"""Counts, while a decision is made, which hosts fell by what; at the end it is the explanation.

Also knows the words for what the ledger's search answers, since the search gives codes only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import numpy as np

from kilonova.domain.resources import Miss
from kilonova.scheduling.arrays import Mask, Rows
from kilonova.scheduling.explain import MOST_NAMES, Explanation, Reason, Score
from kilonova.scheduling.filters.compute import HOST_ENABLED
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.implied_traits import DISABLED
from kilonova.scheduling.phrases import Phrase

_MISSES: Final[Mapping[str, Phrase]] = MappingProxyType(
    {
        "resource.capacity": Phrase("lacks {subject}", "lack {subject}"),
        "resource.absent": Phrase("has no {subject} at all", "have no {subject} at all"),
        "resource.unit": Phrase("does not give {subject} in such an amount", "do not give {subject} in such an amount"),
        "trait.missing": Phrase("lacks the trait {subject}", "lack the trait {subject}"),
        "trait.forbidden": Phrase("has the forbidden trait {subject}", "have the forbidden trait {subject}"),
        "trait.elsewhere": Phrase(
            "has the trait {subject}, but not where the resources are",
            "have the trait {subject}, but not where the resources are",
        ),
        "aggregate": Phrase("is not in the aggregates asked for", "are not in the aggregates asked for"),
        "tree": Phrase("is not the host that was asked for", "are not the host that was asked for"),
        "group_policy": Phrase("cannot keep the groups of resources apart", "cannot keep the groups of resources apart"),
        "same_subtree": Phrase("has what is asked too far apart", "have what is asked too far apart"),
        "combination": Phrase("has no room for all of it together", "have no room for all of it together"),
    }
)
_OTHER_MISS: Final = Phrase("does not fit", "do not fit")
_NOT_OFFERED: Final = Phrase("offers no such resources", "offer no such resources")


@dataclass(slots=True)
class _Fallen:
    phrase: Phrase
    rows: list[Rows] = field(default_factory=list)
    asked: int | None = None
    most_free: int | None = None


class Tally:
    """Which hosts have been seen, and the reasons of those that fell. Lives as long as one decision."""

    def __init__(self, hosts: Hosts, only_host: str) -> None:
        """Where one host was asked for, the others are not looked at: they are neither counted nor explained."""
        self._hosts = hosts
        self._seen: Mask = ~hosts.named((only_host,)) if only_host else np.zeros(len(hosts), dtype=np.bool_)
        self._passed_over = int(np.count_nonzero(self._seen))
        self._fallen: dict[tuple[str, str], _Fallen] = {}

    def keep(self, rows: Rows) -> Rows:
        """These stand so far: the rows, without those that are not looked at."""
        rows = rows[~self._seen[rows]] if self._passed_over else rows
        self._seen[rows] = True
        return rows

    def drop(self, code: str, subject: str, phrase: Phrase, rows: Rows) -> _Fallen:
        """These fall by this reason; the caller gives each row to one reason only."""
        self._seen[rows] = True
        fallen = self._fallen.setdefault((code, subject), _Fallen(phrase))
        fallen.rows.append(rows)
        return fallen

    def drop_miss(self, miss: Miss) -> None:
        """The hosts of a miss fall, save those that stand or fell before."""
        rows = self._hosts.rows_of(np.asarray(miss.roots, dtype=np.int64))
        rows = rows[~self._seen[rows]]
        if not len(rows):
            return
        # The trait is only how the ledger comes to know of what people call a disabled host.
        if miss.subject == DISABLED:
            self.drop(HOST_ENABLED.code, "", HOST_ENABLED.phrase, rows)
            return
        fallen = self.drop(miss.code, miss.subject, _MISSES.get(miss.code, _OTHER_MISS), rows)
        fallen.asked = miss.asked
        if miss.most_free is not None:
            fallen.most_free = max(miss.most_free, fallen.most_free or 0)

    def drop_unseen(self) -> None:
        """Hosts that the search spoke of neither way have none of what is asked, or no provider yet."""
        unseen = np.flatnonzero(~self._seen)
        if len(unseen):
            self.drop("host.not_offered", "", _NOT_OFFERED, unseen)

    def explanation(self, stood: int, scores: Sequence[Score]) -> Explanation:
        """What is said in the end, the reason of most hosts first."""
        reasons = [self._reason(code, subject, fallen) for (code, subject), fallen in self._fallen.items()]
        looked_at = int(np.count_nonzero(self._seen)) - self._passed_over
        reasons.sort(key=lambda reason: -reason.hosts)
        return Explanation(looked_at, tuple(reasons), stood, tuple(scores))

    def _reason(self, code: str, subject: str, fallen: _Fallen) -> Reason:
        rows = fallen.rows[0] if len(fallen.rows) == 1 else np.concatenate(fallen.rows)
        return Reason(
            code=code,
            subject=subject,
            sentence=fallen.phrase.of(len(rows), subject),
            hosts=len(rows),
            names=tuple(self._hosts.names[row] for row in rows[:MOST_NAMES].tolist()),
            asked=fallen.asked,
            most_free=fallen.most_free,
        )
