"""No claim takes a host over its capacity, whoever writes at the same moment."""

import pytest

from tests.conftest import TEMPLATE, copy_of

from .claims import SLOTS, race


@pytest.mark.parametrize("way", ["alone", "grouped"])
async def test_of_sixteen_claimers_on_five_slots_five_win_every_time(postgresql_server: str, way: str) -> None:
    assert await race(await copy_of(postgresql_server, TEMPLATE), 20, way) == [SLOTS] * 20
