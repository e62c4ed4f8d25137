from dataclasses import replace
from random import Random

import numpy as np
import pytest

from kilonova.domain.errors import NotFound
from kilonova.domain.resources import Candidate, Inventory, Provider
from kilonova.placement.index import Index
from kilonova.placement.search import candidates, match

from .clouds import allof, ask, group, index_of, provider, sharing


def test_a_provider_is_found_by_id_uuid_and_name() -> None:
    index = index_of(host := provider(1, {"VCPU": 4}))
    assert index.provider(1) is index.find("uuid-1") is index.by_name("p1") is host
    assert len(index) == 1


def test_what_is_not_there_is_said_to_be_missing() -> None:
    index = Index()
    assert index.find("uuid-9") is index.by_name("p9") is None
    with pytest.raises(NotFound):
        index.provider(9)


def test_a_tree_begins_with_its_root_and_no_child_comes_before_its_parent() -> None:
    root = provider(7)
    middle = provider(9, parent=root)
    leaf = provider(2, parent=middle)
    assert [p.id for p in index_of(leaf, middle, root).tree(7)] == [7, 9, 2]


def test_load_replaces_everything() -> None:
    index = index_of(provider(1), provider(2))
    index.load([provider(3)])
    assert (len(index), index.find("uuid-1")) == (1, None)


def test_a_change_of_used_amounts_is_seen_by_the_next_search() -> None:
    index = index_of(host := provider(1, {"VCPU": 4}))
    index.apply([replace(host, generation=1, inventories={"VCPU": Inventory(4, used=3)})], ())
    assert match(index, ask(group(VCPU=2))).roots.tolist() == []
    assert match(index, ask(group(VCPU=1))).roots.tolist() == [1]


def test_classes_and_traits_that_a_provider_loses_are_gone() -> None:
    index = index_of(provider(1, {"VCPU": 4, "DISK_GB": 9}, traits=["CUSTOM_A"]))
    index.apply([provider(1, {"VCPU": 4}, traits=["CUSTOM_B"])], ())
    assert [miss.code for miss in match(index, ask(group(DISK_GB=1))).misses] == []
    wanted = replace(group(VCPU=1), required=allof("CUSTOM_A"))
    assert [miss.code for miss in match(index, ask(wanted)).misses] == ["trait.missing"]


def test_c137_children_follow_a_parent_that_moves_under_another_root() -> None:
    alt, parent = provider(1), provider(2)
    child = provider(3, {"VCPU": 1}, parent)
    index = index_of(alt, parent, child)
    index.apply([moved := replace(parent, parent_id=1, root_id=1), replace(child, root_id=moved.root_id)], ())
    assert [p.id for p in index.tree(1)] == [1, 2, 3]
    (found,) = candidates(index, ask(replace(group(VCPU=1), in_tree="uuid-1")))
    assert (found.root_id, dict(found.allocations)) == (1, {3: {"VCPU": 1}})


def test_a_root_may_go_while_its_child_moves_in_the_same_batch() -> None:
    root, other = provider(1), provider(2)
    child = provider(3, {"VCPU": 1}, root)
    index = index_of(root, other, child)
    index.apply([provider(3, {"VCPU": 1}, other)], [1])
    assert match(index, ask(group(VCPU=1))).roots.tolist() == [2]


def test_c159_a_tree_of_three_levels_can_be_dropped_in_any_order() -> None:
    root = provider(1)
    middle = provider(2, {"VCPU": 1}, root)
    index = index_of(root, middle, provider(3, {"VCPU": 1}, middle))
    index.apply((), [1, 2, 3])
    assert len(index) == 0
    index.apply([provider(4, {"VCPU": 1})], ())
    assert match(index, ask(group(VCPU=1))).roots.tolist() == [4]


def test_a_new_provider_may_take_the_name_of_one_removed_in_the_same_batch() -> None:
    index = index_of(old := provider(1))
    index.apply([replace(provider(2), name=old.name)], [1])
    assert index.by_name("p1") is index.provider(2)


def test_a_child_of_an_unknown_root_is_refused() -> None:
    with pytest.raises(NotFound):
        index_of(provider(2, parent=provider(1)))


def test_the_index_grows_far_beyond_its_first_size() -> None:
    index = Index()
    for number in range(1, 400):
        index.apply([provider(number, {"VCPU": number}, traits=["CUSTOM_A"], aggregates=["agg"])], ())
    wanted = replace(group(VCPU=398), required=allof("CUSTOM_A"), member_of=allof("agg"))
    assert match(index, ask(wanted)).roots.tolist() == [398, 399]


def test_free_and_total_are_summed_over_each_tree() -> None:
    root = provider(1, {"VCPU": Inventory(8, used=1)})
    child = provider(2, {"VCPU": Inventory(4, reserved=1, allocation_ratio=2.0, used=5)}, root)
    index = index_of(root, child, provider(3, {"DISK_GB": 7}))
    roots = np.array([3, 1])
    assert index.total("VCPU", roots).tolist() == [0, 14]
    assert index.free("VCPU", roots).tolist() == [0, 8]
    assert index.free("CUSTOM_NONE", roots).tolist() == [0, 0]


def test_plans_of_one_batch_deduct_from_each_other_and_leave_the_index_alone() -> None:
    index = index_of(provider(1, {"VCPU": 3}))
    usage, query = index.usage(), ask(group(VCPU=2))
    first = match(index, query, usage).first(1)
    usage.take(first)
    assert match(index, query, usage).roots.tolist() == []
    assert index.free("VCPU", np.array([1]), usage).tolist() == [1]
    assert match(index, query).roots.tolist() == [1]
    usage.give_back(first)
    assert match(index, query, usage).roots.tolist() == [1]


def test_what_a_consumer_holds_can_be_left_out_of_the_used_amounts() -> None:
    index = index_of(provider(1, {"VCPU": Inventory(4, used=4)}))
    usage = index.usage()
    usage.give_back(Candidate(1, {1: {"VCPU": 4}}, {}))
    assert match(index, ask(group(VCPU=4)), usage).roots.tolist() == [1]


def test_sharing_follows_aggregates_as_they_change() -> None:
    host, disk = provider(1, {"VCPU": 4}), sharing(2, {"DISK_GB": 9}, ["agg"])
    index, query = index_of(host, disk), ask(group(VCPU=1, DISK_GB=1))
    assert match(index, query).roots.tolist() == []
    index.apply([replace(host, aggregates=frozenset(["agg"]))], ())
    assert match(index, query).roots.tolist() == [1]
    index.apply([host], ())
    assert match(index, query).roots.tolist() == []


def some_cloud(random: Random, count: int) -> list[Provider]:
    """Trees of all depths, with few kinds of inventories, traits and aggregates."""
    made: list[Provider] = []
    for number in range(1, count + 1):
        parent = random.choice(made) if made and random.random() < 0.6 else None
        offer = {
            name: Inventory(random.choice((8, 16)), used=random.choice((0, 4)), step_size=random.choice((1, 1, 2)))
            for name in random.sample(("VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_RARE"), random.randrange(4))
        }
        traits = random.sample(("CUSTOM_A", "CUSTOM_B", "CUSTOM_C"), random.randrange(3))
        made.append(provider(number, offer, parent, traits, random.sample(("one", "other"), random.randrange(2))))
    return made


def assert_alike(index: Index, other: Index) -> None:
    """Two indexes give the same, row by row of the same providers."""
    ids = sorted(index.rows.ids[index.rows.ids >= 0].tolist())
    assert ids == sorted(other.rows.ids[other.rows.ids >= 0].tolist())
    here, there = (np.array([found.row(number) for number in ids]) for found in (index, other))
    roots = index.rows.is_root[here]
    assert (roots == other.rows.is_root[there]).all()
    assert (index.rows.size[here[roots]] == other.rows.size[there[roots]]).all()
    assert (index.rows.ids[index.rows.root[here]] == other.rows.ids[other.rows.root[there]]).all()
    above, below = index.rows.parent[here], other.rows.parent[there]
    assert ((above >= 0) == (below >= 0)).all()
    assert (index.rows.ids[above[above >= 0]] == other.rows.ids[below[below >= 0]]).all()
    for name in index.rows.classes.keys() | other.rows.classes.keys():
        ours, theirs = index.rows.classes[name], other.rows.classes[name]
        assert ours.stepped == theirs.stepped
        for column in ("capacity", "used", "min_unit", "max_unit", "step_size"):
            assert (getattr(ours, column)[here] == getattr(theirs, column)[there]).all(), (name, column)
    for trait in ("CUSTOM_A", "CUSTOM_B", "CUSTOM_C"):
        assert (index.rows.traits.mask(trait)[here] == other.rows.traits.mask(trait)[there]).all()
    for aggregate in ("one", "other"):
        assert (index.rows.aggregates.mask(aggregate)[here] == other.rows.aggregates.mask(aggregate)[there]).all()
    for number in ids:
        found = index.provider(number)
        assert found is index.find(found.uuid) is index.by_name(found.name)
        assert found == other.provider(number) == other.find(found.uuid) == other.by_name(found.name)
        assert index.tree(found.root_id) == other.tree(found.root_id)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_loaded_at_once_is_as_if_it_had_come_one_by_one(seed: int) -> None:
    random = Random(seed)
    first, second = some_cloud(random, 200), some_cloud(random, 220)
    loaded, applied = Index(), Index()
    loaded.load(first)
    for single in first:
        applied.apply([single], ())
    assert_alike(loaded, applied)
    # Changed afterwards, both still say the same.
    for index in (loaded, applied):
        index.apply(second, ())
    assert_alike(loaded, applied)
    loaded.load(second)
    assert_alike(loaded, applied)


def test_a_copy_and_its_original_change_apart() -> None:
    before, after = some_cloud(Random(7), 100), some_cloud(Random(8), 90)
    original = index_of(*before)
    copy = original.copy()
    assert_alike(original, copy)
    copy.apply(after, range(91, 101))
    assert_alike(original, index_of(*before))
    assert_alike(copy, index_of(*after))
    original.apply(after, range(91, 101))
    assert_alike(original, copy)


def test_each_row_of_what_is_loaded_has_a_stamp_of_its_own_that_no_former_index_has() -> None:
    index = index_of(*some_cloud(Random(7), 50))
    former = index.rows.stamp.max()
    index.load(some_cloud(Random(7), 50))
    stamps = index.rows.stamp[index.rows.ids >= 0]
    assert len(set(stamps.tolist())) == 50
    assert stamps.min() > former
    assert Index(int(stamps.max())).rows.stamps == stamps.max()
