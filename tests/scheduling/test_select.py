from collections import Counter
from random import Random

from kilonova.scheduling.select import select
from kilonova.scheduling.settings import SelectSettings

from .cloud import REQUEST, HostLine, decide, hosts_of, root_of, snapshot

TEN = tuple(HostLine(f"h{number}") for number in range(1, 11))


def test_the_best_host_comes_first_and_the_others_in_order() -> None:
    cloud = snapshot(*(HostLine(f"h{number}", free_ram_mb=1000 * number) for number in range(1, 8)))
    decision = decide(REQUEST, cloud)
    assert hosts_of(decision) == ["h7", "h6", "h5", "h4", "h3"]
    assert decision.ranked[0].root_id == root_of("h7")
    assert [score.host for score in decision.explanation.scores] == ["h7", "h6", "h5", "h4", "h3", "h2", "h1"]
    assert decision.explanation.stood == 7


def test_equal_hosts_are_spread_over_by_chance() -> None:
    choose, cloud = Random(7), snapshot(*TEN)
    firsts = Counter(select(REQUEST, cloud, SelectSettings(), choose).ranked[0].host for _ in range(400))
    assert len(firsts) == 10
    assert max(firsts.values()) < 80


def test_near_best_hosts_share_the_first_place_and_worse_ones_never_get_it() -> None:
    cloud = snapshot(
        HostLine("h1", free_ram_mb=10000), HostLine("h2", free_ram_mb=9990), HostLine("h3", free_ram_mb=100), *TEN[4:5]
    )
    rankings = [hosts_of(decide(REQUEST, cloud, seed)) for seed in range(30)]
    assert {ranking[0] for ranking in rankings} == {"h1", "h2"}
    assert all(ranking[2:] == ["h5", "h3"] for ranking in rankings)


def test_a_subset_size_shares_the_first_place_whatever_the_scores() -> None:
    cloud = snapshot(*(HostLine(f"h{number}", free_ram_mb=1000 * number) for number in range(1, 8)))
    firsts = {hosts_of(decide(REQUEST, cloud, seed, host_subset_size=3))[0] for seed in range(40)}
    assert firsts == {"h7", "h6", "h5"}


def test_no_more_hosts_are_named_than_the_setting_says_and_none_twice() -> None:
    for seed in range(10):
        hosts = hosts_of(decide(REQUEST, snapshot(*TEN), seed, max_alternates=3))
        assert len(hosts) == len(set(hosts)) == 3


def test_the_same_seed_gives_the_same_plan() -> None:
    assert decide(REQUEST, snapshot(*TEN), 5) == decide(REQUEST, snapshot(*TEN), 5)


def test_many_hosts_are_ranked_as_few_are() -> None:
    cloud = snapshot(*(HostLine(f"h{number}", free_ram_mb=number * 500 % 9973) for number in range(1, 2000)))
    amounts = sorted(cloud.free.free_ram_mb.tolist(), reverse=True)
    hosts = hosts_of(decide(REQUEST, cloud, tie_tolerance=0.0))
    row = {name: place for place, name in enumerate(cloud.hosts.names)}
    assert [cloud.free.free_ram_mb[row[host]] for host in hosts] == amounts[:5]


def test_without_hosts_there_is_no_plan() -> None:
    assert decide(REQUEST, snapshot()).ranked == ()
