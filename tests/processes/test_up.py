"""`kilonova up` is killed amid two hundred creates and started again: each server comes to an end, and nothing has drifted."""

import random
from pathlib import Path

import pytest

from .cluster import UpCloud
from .storms import storm_up


@pytest.mark.parametrize("seed", [1, 2])
async def test_every_server_comes_to_an_end_after_a_kill(tmp_path: Path, seed: int) -> None:
    done = await storm_up(UpCloud(tmp_path), 200, random.Random(seed))
    assert done.accepted <= done.found <= 200
