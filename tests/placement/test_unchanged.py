"""What a consumer holds as the only candidate, against a brute force over small random clouds."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from kilonova.domain.ledger import Amounts
from kilonova.domain.resources import Candidate, CandidateQuery, Inventory, Provider, RequestGroup
from kilonova.placement.search import candidates
from kilonova.placement.topology import SHARES
from kilonova.placement.unchanged import deals, unchanged

from .clouds import allof, ask, group, index_of, provider, sharing
from .test_search_exact import clouds, groups, queries


class Dealer:
    """Deals what is held to the groups in every possible way, written as the rules read."""

    def __init__(self, cloud: list[Provider], query: CandidateQuery, held: Amounts) -> None:
        self.providers = {entry.id: entry for entry in cloud}
        self.query = query
        self.held = held
        self.slots = [(entry, [name]) for entry in query.groups if not entry.suffix for name in entry.resources]
        self.slots += [(entry, list(entry.resources)) for entry in query.groups if entry.suffix]

    def deals(self) -> set[tuple[tuple[str, tuple[int, ...]], ...]]:
        """The mappings of every deal that keeps the rules."""
        holders = [self.providers[number] for number in self.held]
        roots = {holder.root_id for holder in holders if SHARES not in holder.traits}
        if not roots:
            roots = {holder.root_id for holder in holders}
            roots |= {root for root in self.providers if all(self._reaches(holder, root) for holder in holders)}
        return {deal for root_id in roots for deal in self._under(self.providers[root_id])}

    def _reaches(self, holder: Provider, root_id: int) -> bool:
        tree = [entry for entry in self.providers.values() if entry.root_id == root_id]
        return holder.root_id == root_id or any(holder.aggregates & entry.aggregates for entry in tree)

    def _under(self, root: Provider) -> list[tuple[tuple[str, tuple[int, ...]], ...]]:
        query, plain = self.query, self.query.unsuffixed
        if not query.root_required <= root.traits or query.root_forbidden & root.traits:
            return []
        if plain.forbidden_aggregates & root.aggregates or not self._tree_answers(root):
            return []
        able = [entry for entry in self.providers.values() if entry.root_id == root.id or entry.id in self.held]
        choices = [[entry for entry in able if self._may(entry, asked, root)] for asked, _ in self.slots]
        return [self._mapped(chosen, root) for chosen in product(*choices) if self._exact(chosen) and self._together(chosen)]

    def _tree_answers(self, root: Provider) -> bool:
        plain = self.query.unsuffixed
        if plain.in_tree is None or plain.resources:
            return True
        tree = [entry for entry in self.providers.values() if entry.root_id == root.id]
        traits = frozenset().union(*(entry.traits for entry in tree))
        return (
            any(entry.uuid == plain.in_tree for entry in tree)
            and all(any_of & traits for any_of in plain.required)
            and not plain.forbidden & traits
            and all(any_of & root.aggregates for any_of in plain.member_of)
        )

    def _may(self, entry: Provider, asked: RequestGroup, root: Provider) -> bool:
        own = entry.root_id == root.id
        if asked.forbidden & entry.traits or asked.forbidden_aggregates & entry.aggregates:
            return False
        if asked.in_tree is not None:
            named = next((other for other in self.providers.values() if other.uuid == asked.in_tree), None)
            if named is None or named.root_id != entry.root_id or (not asked.suffix and not own):
                return False
        inside = all(any_of & entry.aggregates for any_of in asked.member_of)
        if asked.suffix:
            return inside and all(any_of & entry.traits for any_of in asked.required)
        return inside or (own and all(any_of & root.aggregates for any_of in asked.member_of))

    def _exact(self, chosen: tuple[Provider, ...]) -> bool:
        given_: dict[int, dict[str, int]] = {}
        for (asked, names), entry in zip(self.slots, chosen, strict=True):
            for name in names:
                amounts = given_.setdefault(entry.id, {})
                amounts[name] = amounts.get(name, 0) + asked.resources[name]
        return given_ == {number: dict(amounts) for number, amounts in self.held.items()}

    def _together(self, chosen: tuple[Provider, ...]) -> bool:
        pairs = [(asked, entry) for (asked, _), entry in zip(self.slots, chosen, strict=True)]
        plain = self.query.unsuffixed
        traits = frozenset().union(*(entry.traits for asked, entry in pairs if not asked.suffix))
        if plain.resources and not all(any_of & traits for any_of in plain.required):
            return False
        alone = [entry.id for asked, entry in pairs if asked.suffix]
        if self.query.group_policy == "isolate" and len(set(alone)) < len(alone):
            return False
        for suffixes in self.query.same_subtree:
            meant = [entry for asked, entry in pairs if asked.suffix in suffixes]
            if not any(all(head.id in self._above(entry) for entry in meant) for head in meant):
                return False
        return True

    def _above(self, entry: Provider) -> set[int]:
        above = {entry.id}
        while entry.parent_id is not None:
            entry = self.providers[entry.parent_id]
            above.add(entry.id)
        return above

    def _mapped(self, chosen: tuple[Provider, ...], root: Provider) -> tuple[tuple[str, tuple[int, ...]], ...]:
        mappings: dict[str, set[int]] = {}
        for (asked, _), entry in zip(self.slots, chosen, strict=True):
            mappings.setdefault(asked.suffix, set()).add(entry.id)
        plain = self.query.unsuffixed
        if plain.in_tree is not None and not plain.resources:
            wanted = frozenset().union(*plain.required)
            tree = (entry for entry in self.providers.values() if entry.root_id == root.id)
            mappings[""] = {entry.id for entry in tree if entry.traits & wanted} or {root.id}
        return tuple(sorted((suffix, tuple(sorted(some))) for suffix, some in mappings.items()))


@st.composite
def dealt(draw: st.DrawFn, cloud: list[Provider], query: CandidateQuery) -> Amounts:
    """Amounts that add up to what is asked, or nearly so: each slot's at a provider of the cloud."""
    held: dict[int, dict[str, int]] = {}
    few = draw(st.lists(st.sampled_from(cloud), min_size=1, max_size=3))
    for asked in query.groups:
        entry = draw(st.sampled_from(few))
        for name, amount in asked.resources.items():
            entry = entry if asked.suffix else draw(st.sampled_from(few))
            amounts = held.setdefault(entry.id, {})
            amounts[name] = amounts.get(name, 0) + amount
    if held and draw(st.integers(0, 9)) == 0:
        amounts = held[draw(st.sampled_from(sorted(held)))]
        name = draw(st.sampled_from(sorted(amounts)))
        amounts[name] += 1
    return held


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Provider], CandidateQuery, Amounts]:
    cloud, query = draw(clouds()), draw(queries())
    if draw(st.integers(0, 3)) == 0:
        about = draw(groups("", 0))
        tree = RequestGroup(required=about.required, member_of=about.member_of, in_tree=draw(st.sampled_from(cloud)).uuid)
        others = tuple(entry for entry in query.groups if entry.suffix)
        query = CandidateQuery((tree, *others), query.group_policy, query.same_subtree)
    return cloud, query, draw(dealt(cloud, query))


@settings(max_examples=200, deadline=None)
@given(cases())
def test_what_is_held_is_a_candidate_exactly_when_it_can_be_dealt(case: tuple[list[Provider], CandidateQuery, Amounts]) -> None:
    cloud, query, held = case
    expected = Dealer(cloud, query, held).deals() if held else set()
    found = unchanged(index_of(*cloud), query, held)
    assert (found is None) == (not expected)
    if found is not None:
        assert found.allocations == held
        assert tuple(sorted((suffix, tuple(sorted(some))) for suffix, some in found.mappings.items())) in expected


@settings(max_examples=100, deadline=None)
@given(clouds(), queries())
def test_what_is_claimed_as_a_candidate_stays_one(cloud: list[Provider], query: CandidateQuery) -> None:
    index = index_of(*cloud)
    for found in candidates(index, query, 20):
        held = [index.provider(number) for number in found.allocations]
        mapped = {number for some in found.mappings.values() for number in some}
        # What another tree shares without giving anything is not held, so nobody can know that it was meant.
        known = all(number in found.allocations or index.provider(number).root_id == found.root_id for number in mapped)
        if known and held:
            kept = unchanged(index, query, found.allocations)
            assert kept is not None
            assert kept.allocations == found.allocations
            assert kept.root_id == found.root_id or all(SHARES in entry.traits for entry in held)


def test_who_holds_nothing_has_no_candidate() -> None:
    assert unchanged(index_of(provider(1, {"VCPU": 4})), ask(group(VCPU=1)), {}) is None


def test_a_provider_that_is_gone_holds_nothing() -> None:
    assert unchanged(index_of(provider(1, {"VCPU": 4})), ask(group(VCPU=1)), {7: {"VCPU": 1}}) is None


def test_room_and_units_are_not_looked_at() -> None:
    full = provider(1, {"VCPU": Inventory(1, reserved=1, min_unit=4, max_unit=2, step_size=3, used=9)})
    found = unchanged(index_of(full), ask(group(VCPU=5)), {1: {"VCPU": 5}})
    assert found == Candidate(1, {1: {"VCPU": 5}}, {"": (1,)})


def test_a_host_is_the_anchor_not_what_shares_with_it() -> None:
    host, disk = provider(1, {"VCPU": 4}), sharing(2, {"DISK_GB": 9}, ["agg"], ["CUSTOM_A"])
    held = {1: {"VCPU": 1}, 2: {"DISK_GB": 1}}
    asked = ask(group(VCPU=1, DISK_GB=1), root_required=frozenset(["CUSTOM_A"]))
    assert unchanged(index_of(host, disk), asked, held) is None
    assert (
        unchanged(index_of(host, disk), ask(group(VCPU=1, DISK_GB=1), root_forbidden=frozenset(["CUSTOM_A"])), held) is not None
    )


def test_who_holds_only_what_is_shared_may_have_it_by_any_host_that_it_reaches() -> None:
    hosts = [provider(number, {"VCPU": 4}, None, [f"CUSTOM_{number}"], ["agg"]) for number in (1, 2)]
    index = index_of(*hosts, provider(3, {"VCPU": 4}, None, ["CUSTOM_3"]), sharing(4, {"DISK_GB": 9}, ["agg"]))
    found = unchanged(index, ask(group(DISK_GB=1), root_required=frozenset(["CUSTOM_2"])), {4: {"DISK_GB": 1}})
    assert found == Candidate(2, {4: {"DISK_GB": 1}}, {"": (4,)})
    assert unchanged(index, ask(group(DISK_GB=1), root_required=frozenset(["CUSTOM_3"])), {4: {"DISK_GB": 1}}) is None


def test_traits_that_no_group_asks_for_where_it_is_held_decide() -> None:
    root = provider(1)
    nodes = [provider(number, {"VCPU": 4}, root, [f"CUSTOM_{number}"]) for number in (2, 3)]
    held = {2: {"VCPU": 1}, 3: {"VCPU": 1}}
    one = RequestGroup("_A", {"VCPU": 1}, required=allof("CUSTOM_3"))
    other = RequestGroup("_B", {"VCPU": 1})
    found = unchanged(index_of(root, *nodes), ask(one, other, group_policy="isolate"), held)
    assert found is not None
    assert found.mappings == {"_A": (3,), "_B": (2,)}
    same = RequestGroup("_B", {"VCPU": 1}, required=allof("CUSTOM_3"))
    assert unchanged(index_of(root, *nodes), ask(one, same, group_policy="none"), held) is None


def test_a_long_search_says_now_and_then_that_it_is_still_at_it() -> None:
    root = provider(1)
    cards = [provider(number + 2, {"CUSTOM_DEV": 99, "VCPU": 99}, root) for number in range(12)]
    wanted = [group(f"_{number}", CUSTOM_DEV=7 + number % 5, VCPU=11 - number % 5) for number in range(36)]
    sums = {name: sum(entry.resources[name] for entry in wanted) for name in ("CUSTOM_DEV", "VCPU")}
    held = {card.id: {name: total // 12 for name, total in sums.items()} for card in cards}
    for name, total in sums.items():
        held[2][name] += total % 12
    steps = deals(index_of(root, *cards), ask(*wanted, group_policy="none"), held)
    assert next(steps) is None
