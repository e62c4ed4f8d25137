"""The search against a brute-force oracle over small random clouds."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from kilonova.domain.resources import CandidateQuery, Inventory, Provider, RequestGroup
from kilonova.placement.search import batches, candidates, match
from kilonova.placement.topology import SHARES

from .clouds import index_of, provider
from .oracle import Oracle, key_of

CLASSES = ("VCPU", "DISK_GB", "CUSTOM_DEV")
TRAITS = ("CUSTOM_A", "CUSTOM_B", "CUSTOM_C")
AGGREGATES = ("agg1", "agg2")

traits = st.frozensets(st.sampled_from(TRAITS), max_size=2)
inventories = st.builds(
    Inventory,
    total=st.integers(1, 5),
    used=st.sampled_from([0, 0, 1, 2]),
    max_unit=st.sampled_from([8, 8, 2, 1]),
    step_size=st.sampled_from([1, 1, 1, 1, 2]),
)
offers = st.dictionaries(st.sampled_from(CLASSES), inventories, min_size=1, max_size=3)
any_of = st.frozensets(st.sampled_from(TRAITS), min_size=1, max_size=2)


@st.composite
def clouds(draw: st.DrawFn, most: int = 8) -> list[Provider]:
    found: list[Provider] = []
    for number in range(1, draw(st.integers(2, most)) + 1):
        parent = draw(st.sampled_from([None, *found])) if found else None
        shares = [SHARES] if draw(st.integers(0, 4)) == 0 else []
        aggregates = draw(st.frozensets(st.sampled_from(AGGREGATES), max_size=2))
        found.append(provider(number, draw(offers), parent, draw(traits) | set(shares), aggregates))
    return found


@st.composite
def repeated(draw: st.DrawFn) -> list[Provider]:
    """A cloud several times over: trees built alike with other loads, and sharing between them all."""
    kinds = draw(clouds(4))
    found = []
    for copy in range(draw(st.integers(2, 3))):
        shift = 10 * copy
        for kind in kinds:
            inventories = dict(kind.inventories)
            if draw(st.booleans()):
                inventories = {name: replace(each, used=draw(st.sampled_from([0, 1, 2]))) for name, each in inventories.items()}
            parent_id = None if kind.parent_id is None else kind.parent_id + shift
            made = provider(kind.id + shift, inventories, None, kind.traits, kind.aggregates)
            found.append(replace(made, parent_id=parent_id, root_id=kind.root_id + shift))
    return found


@st.composite
def groups(draw: st.DrawFn, suffix: str, least: int) -> RequestGroup:
    rare = st.integers(0, 7).map(lambda number: number == 7)
    aggregates = st.frozensets(st.sampled_from(AGGREGATES), min_size=1, max_size=2)
    return RequestGroup(
        suffix=suffix,
        resources=draw(st.dictionaries(st.sampled_from(CLASSES), st.sampled_from([1, 1, 2]), min_size=least, max_size=2)),
        required=tuple(draw(st.lists(any_of, max_size=2))) if draw(rare) else (),
        forbidden=frozenset(["CUSTOM_C"]) if draw(rare) else frozenset(),
        member_of=tuple(draw(st.lists(aggregates, max_size=2))) if draw(rare) else (),
        forbidden_aggregates=frozenset([draw(st.sampled_from(AGGREGATES))]) if draw(rare) else frozenset(),
        in_tree=f"uuid-{draw(st.integers(1, 8))}" if draw(rare) and draw(rare) else None,
    )


@st.composite
def queries(draw: st.DrawFn) -> CandidateQuery:
    suffixes = ("_A", "_B", "_C")[: draw(st.integers(0, 3))]
    asked = [draw(groups(suffix, 1 if suffix == "_A" else draw(st.sampled_from([0, 1, 1])))) for suffix in suffixes]
    if not suffixes or draw(st.booleans()):
        asked.insert(0, draw(groups("", 1)))
    ties = st.frozensets(st.sampled_from(suffixes), min_size=2) if len(suffixes) > 1 else st.nothing()
    return CandidateQuery(
        groups=tuple(asked),
        group_policy=draw(st.sampled_from(["none", "isolate"])),
        same_subtree=tuple(draw(st.lists(ties, max_size=2))) if len(suffixes) > 1 else (),
        root_required=draw(st.sampled_from([frozenset()] * 5 + [frozenset(["CUSTOM_A"])])),
        root_forbidden=draw(st.sampled_from([frozenset()] * 5 + [frozenset(["CUSTOM_B"])])),
    )


@settings(max_examples=300, deadline=None)
@given(clouds() | repeated(), queries())
def test_candidates_are_exactly_those_of_the_rules(cloud: list[Provider], query: CandidateQuery) -> None:
    anchored = Oracle(cloud).candidates(query)
    found = list(candidates(index_of(*cloud), query))
    keys = [key_of(candidate) for candidate in found]
    assert len(keys) == len(set(keys))
    assert set(keys) == {each.key for each in anchored}
    assert {(c.root_id, key_of(c)) for c in found} <= {(each.root_id, each.key) for each in anchored}


@settings(max_examples=150, deadline=None)
@given(repeated(), queries(), st.none() | st.integers(0, 12))
def test_batches_hold_distinct_providers_in_their_places_and_together_no_more_than_the_limit(
    cloud: list[Provider], query: CandidateQuery, limit: int | None
) -> None:
    index = index_of(*cloud)
    whole = {each.key for each in Oracle(cloud).candidates(query)}
    found = [batch for batch in batches(index, query, limit) if batch is not None]
    for batch in found:
        assert len(batch) == len(batch.roots) == len(batch.providers) > 0
        assert batch.providers.shape[1] == len(batch.form.amounts)
        assert all(len(set(line)) == len(line) for line in batch.providers.tolist())
        assert all(len(set(places)) == len(places) for places in batch.form.mappings.values())
    keys = [key_of(candidate) for batch in found for candidate in batch.candidates(index.rows.ids)]
    assert len(keys) == len(set(keys)) == (len(whole) if limit is None else min(limit, len(whole)))
    assert set(keys) <= whole


@settings(max_examples=60, deadline=None)
@given(clouds() | repeated(), queries(), st.data())
def test_a_small_limit_in_a_large_cloud_finds_what_there_is(
    cloud: list[Provider], query: CandidateQuery, data: st.DataObject
) -> None:
    rest = [provider(number, {"CUSTOM_OTHER": 1}) for number in range(1000, 1700)]
    for each in cloud:
        rest.insert(data.draw(st.integers(0, len(rest))), each)
    whole = {each.key for each in Oracle(cloud).candidates(query)}
    found = [key_of(candidate) for candidate in candidates(index_of(*rest), query, 100)]
    assert len(found) == len(set(found)) == min(100, len(whole))
    assert set(found) <= whole


@settings(max_examples=200, deadline=None)
@given(clouds() | repeated(), queries())
def test_match_splits_the_hosts_into_fitting_and_explained(cloud: list[Provider], query: CandidateQuery) -> None:
    oracle = Oracle(cloud)
    hosts = oracle.hosts(query)
    fitting = {each.root_id for each in oracle.candidates(query) if each.uses_own} & hosts
    matches = match(index_of(*cloud), query)
    assert set(matches.roots.tolist()) == fitting
    missed = [root for miss in matches.misses for root in miss.roots]
    assert sorted(missed) == sorted(hosts - fitting)


@settings(max_examples=150, deadline=None)
@given(clouds(), queries())
def test_first_is_a_candidate_that_uses_the_host(cloud: list[Provider], query: CandidateQuery) -> None:
    anchored = {(each.root_id, each.key) for each in Oracle(cloud).candidates(query) if each.uses_own}
    matches = match(index_of(*cloud), query)
    for root_id in matches.roots.tolist():
        assert (root_id, key_of(matches.first(root_id))) in anchored


@settings(max_examples=100, deadline=None)
@given(clouds(), queries(), st.integers(0, 6))
def test_a_limit_cuts_the_answer_and_nothing_else(cloud: list[Provider], query: CandidateQuery, limit: int) -> None:
    index = index_of(*cloud)
    whole = {key_of(candidate) for candidate in candidates(index, query)}
    cut = [key_of(candidate) for candidate in candidates(index, query, limit)]
    assert len(cut) == min(limit, len(whole)) == len(set(cut))
    assert set(cut) <= whole


@settings(max_examples=100, deadline=None)
@given(clouds(), clouds(), queries())
def test_an_index_brought_up_to_date_answers_as_a_new_one(
    before: list[Provider], after: list[Provider], query: CandidateQuery
) -> None:
    index = index_of(*before)
    list(candidates(index, query))
    index.apply(after, {provider.id for provider in before} - {provider.id for provider in after})
    expected = index_of(*after)
    assert len(index) == len(expected)
    assert {key_of(c) for c in candidates(index, query)} == {key_of(c) for c in candidates(expected, query)}
    for provider_ in after:
        assert {p.id for p in index.tree(provider_.root_id)} == {p.id for p in expected.tree(provider_.root_id)}
