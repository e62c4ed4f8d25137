"""No claim takes a host over its capacity, whoever writes at the same moment."""

from tests.conftest import TEMPLATE, copy_of

from .claims import SLOTS, race


async def test_of_sixteen_claimers_on_five_slots_five_win_every_time(postgresql_server: str) -> None:
    assert await race(await copy_of(postgresql_server, TEMPLATE), 20) == [SLOTS] * 20
