"""All weighers in one list, and the sum of what they say. Their order does not matter: a score is a sum."""

from typing import Final

import numpy as np

from kilonova.scheduling.arrays import Floats, Rows
from kilonova.scheduling.hosts import Hosts
from kilonova.scheduling.request import FreeAmounts, Request
from kilonova.scheduling.settings import SelectSettings
from kilonova.scheduling.weighers.build_failure import BUILD_FAILURE
from kilonova.scheduling.weighers.cpu import CPU
from kilonova.scheduling.weighers.disk import DISK
from kilonova.scheduling.weighers.num_instances import NUM_INSTANCES
from kilonova.scheduling.weighers.ram import RAM
from kilonova.scheduling.weighers.server_group_soft_affinity import SERVER_GROUP_SOFT_AFFINITY
from kilonova.scheduling.weighers.server_group_soft_anti_affinity import SERVER_GROUP_SOFT_ANTI_AFFINITY

WEIGHERS: Final = (
    RAM,
    CPU,
    DISK,
    BUILD_FAILURE,
    NUM_INSTANCES,
    SERVER_GROUP_SOFT_AFFINITY,
    SERVER_GROUP_SOFT_ANTI_AFFINITY,
)


def weigh(request: Request, hosts: Hosts, rows: Rows, free: FreeAmounts, settings: SelectSettings) -> Floats:
    """The score of each row, larger is better: each weigher's numbers brought to [0, 1], times its multiplier, summed.

    A weigher that finds all rows equal adds nothing. Source: the community's scheduler documentation, weights.
    """
    used = [(weigher, factor) for weigher in WEIGHERS if (factor := weigher.multiplier(settings)) and weigher.applies(request)]
    if not used or not len(rows):
        return np.zeros(len(rows))
    weights = np.empty((len(used), len(rows)))
    for line, (weigher, _) in enumerate(used):
        weights[line] = weigher.weigh(request, hosts, rows, free)
    lowest = np.minimum.reduce(weights, axis=1)
    span = np.maximum.reduce(weights, axis=1) - lowest
    # Where all are equal every distance is 0, so dividing by anything but 0 leaves 0.
    span[span == 0] = 1.0
    factors = np.array([factor for _, factor in used]) / span
    scores: Floats = factors @ (weights - lowest[:, np.newaxis])
    return scores
