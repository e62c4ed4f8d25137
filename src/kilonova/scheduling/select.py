"""The decision: which hosts a server may go to, best first, and why the others may not. All of it is on this page."""

from dataclasses import dataclass
from random import Random

import numpy as np

from kilonova.scheduling.arrays import Floats, Rows
from kilonova.scheduling.explain import MOST_SCORES, Explanation, Score
from kilonova.scheduling.filters import IMPLICIT, chosen_filters
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.request import Request, Snapshot
from kilonova.scheduling.settings import SelectSettings
from kilonova.scheduling.tally import Tally
from kilonova.scheduling.weighers import weigh


@dataclass(frozen=True, slots=True)
class RankedHost:
    """A host that would do: its root provider, its name and its score."""

    root_id: int
    host: str
    score: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The plan: hosts to try in this order, none where there is no valid host, and the explanation of both."""

    ranked: tuple[RankedHost, ...]
    explanation: Explanation


def select(request: Request, snapshot: Snapshot, settings: SelectSettings, choose: Random) -> Decision:
    """Filters what the ledger matched, weighs what stands and ranks the best; `choose` breaks ties.

    Raises ValueError when the settings name a filter that does not exist.
    """
    hosts, tally = snapshot.hosts, Tally(snapshot.hosts, request.only_host)
    standing = tally.keep(hosts.rows_of(snapshot.matched_root_ids))
    for miss in snapshot.misses:
        tally.drop_miss(miss)
    tally.drop_unseen()
    standing = _filter(request, hosts, standing, settings, tally)
    scores = weigh(request, hosts, standing, snapshot.free, settings)
    best = _best(scores, max(MOST_SCORES, settings.max_alternates))
    ranked = _ranked(hosts, standing, scores, _rank(scores, best, settings, choose))
    shown = _shown(hosts, standing, scores, best[:MOST_SCORES])
    return Decision(ranked, tally.explanation(len(standing), shown))


def _filter(request: Request, hosts: Hosts, standing: Rows, settings: SelectSettings, tally: Tally) -> Rows:
    """The rows that pass every filter that applies; the others are told to the tally."""
    for check in IMPLICIT if request.forced else chosen_filters(settings.enabled_filters):
        if len(standing) and check.applies(request):
            passed = check.passes(request, hosts, standing)
            if np.count_nonzero(passed) < len(standing):
                tally.drop(check.code, check.subject(request), check.phrase, standing[~passed])
                standing = standing[passed]
    return standing


def _ranked(hosts: Hosts, standing: Rows, scores: Floats, places: Rows) -> tuple[RankedHost, ...]:
    rows = standing[places]
    columns = zip(hosts.root_ids[rows].tolist(), rows.tolist(), scores[places].tolist(), strict=True)
    return tuple(RankedHost(root_id, hosts.names[row], score) for root_id, row, score in columns)


def _shown(hosts: Hosts, standing: Rows, scores: Floats, places: Rows) -> tuple[Score, ...]:
    columns = zip(standing[places].tolist(), scores[places].tolist(), strict=True)
    return tuple(Score(hosts.names[row], score) for row, score in columns)


def _rank(scores: Floats, best: Rows, settings: SelectSettings, choose: Random) -> Rows:
    """Places in `scores`, those near the best in random order and the others best first.

    Schedulers that decide at the same time on the same snapshot would otherwise all claim the same host and collide.
    """
    count = min(len(scores), settings.max_alternates)
    if not count:
        return best[:0]
    near = np.flatnonzero(scores >= scores[best[0]] - settings.tie_tolerance)
    if len(near) < settings.host_subset_size:
        near = _best(scores, settings.host_subset_size)
    if len(near) >= count:
        return near[choose.sample(range(len(near)), count)]
    places = best[:count].copy()
    places[: len(near)] = choose.sample(places[: len(near)].tolist(), len(near))
    return places


def _best(scores: Floats, count: int) -> Rows:
    """Places of the `count` largest scores, the largest first, without sorting the rest."""
    if len(scores) <= count:
        return np.argsort(-scores, kind="stable")
    places = np.argpartition(scores, -count)[-count:]
    return places[np.argsort(-scores[places], kind="stable")]
