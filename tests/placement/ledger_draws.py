"""What hypothesis draws for the ledger: writes that fit a model more often than not, and candidate queries with their address."""

from typing import Final
from urllib.parse import urlencode

from hypothesis import strategies as st

from kilonova.domain.ledger import ANY, Amounts, ConsumerWrite, Expected
from kilonova.domain.resources import CandidateQuery, Inventory, RequestGroup
from kilonova.placement.topology import SHARES

from .ledger_acts import Act, Claim, Join, Label, Make, Move, QuickClaim, Remove, Stock
from .ledger_model import Model, copied

CLASSES: Final = ("VCPU", "DISK_GB", "CUSTOM_DEV")
TRAITS: Final = ("CUSTOM_A", "CUSTOM_B", SHARES)
AGGREGATES: Final = tuple(f"a0000000-0000-4000-8000-00000000000{number}" for number in (1, 2))
CONSUMERS: Final = tuple(f"c0000000-0000-4000-8000-00000000000{number}" for number in range(5))
MOST_PROVIDERS: Final = 7
NOBODY: Final = 2**40
"""The number of a provider that does not exist."""

inventories: Final = st.builds(
    Inventory,
    total=st.integers(1, 12),
    reserved=st.sampled_from([0, 0, 0, 1, 4]),
    min_unit=st.sampled_from([1, 1, 1, 1, 2]),
    max_unit=st.sampled_from([8, 8, 8, 3]),
    step_size=st.sampled_from([1, 1, 1, 1, 2]),
    allocation_ratio=st.sampled_from([1.0, 1.0, 1.5]),
)
offers: Final = st.dictionaries(st.sampled_from(CLASSES), inventories, min_size=1, max_size=3)
less: Final = st.dictionaries(st.sampled_from(CLASSES), inventories, max_size=2)
traits: Final = st.frozensets(st.sampled_from([*TRAITS[:2] * 2, TRAITS[2]]), max_size=2)
aggregates: Final = st.frozensets(st.sampled_from(AGGREGATES), max_size=2)
some_aggregates: Final = st.frozensets(st.sampled_from(AGGREGATES), min_size=1, max_size=2)
any_of: Final = st.frozensets(st.sampled_from(TRAITS[:2]), min_size=1, max_size=2)
rarely: Final = st.integers(0, 9).map(lambda number: number == 9)
amounts: Final = st.sampled_from([1, 1, 2])
one_or_two: Final = st.sampled_from([1, 1, 1, 2])


def numbers(model: Model) -> st.SearchStrategy[int]:
    """A provider, once in a while one that does not exist."""
    present = sorted(model.nodes)
    return st.sampled_from([*present * 3, NOBODY])


@st.composite
def generations(draw: st.DrawFn, model: Model, provider: int) -> int:
    present = model.nodes[provider].generation if provider in model.nodes else 0
    return present + draw(st.sampled_from([0] * 7 + [1]))


@st.composite
def makes(draw: st.DrawFn, model: Model, number: int) -> Make:
    parent = draw(st.sampled_from([None, *sorted(model.nodes), *sorted(model.nodes)]))
    return Make(f"{number:08}-0000-4000-8000-000000000000", parent)


@st.composite
def stocks(draw: st.DrawFn, model: Model) -> Stock:
    provider = draw(numbers(model))
    return Stock(provider, draw(st.one_of(offers, less)), draw(st.one_of(st.just(ANY), generations(model, provider))))


@st.composite
def labels(draw: st.DrawFn, model: Model) -> Label:
    provider = draw(numbers(model))
    return Label(provider, draw(traits), draw(generations(model, provider)))


@st.composite
def joins(draw: st.DrawFn, model: Model) -> Join:
    provider = draw(numbers(model))
    return Join(provider, draw(aggregates), draw(generations(model, provider)))


@st.composite
def moves(draw: st.DrawFn, model: Model) -> Move:
    return Move(draw(numbers(model)), draw(st.one_of(st.none(), numbers(model))))


@st.composite
def removals(draw: st.DrawFn, model: Model) -> Remove:
    return Remove(draw(numbers(model)))


@st.composite
def wants(draw: st.DrawFn, model: Model) -> Amounts:
    """Amounts of one or two providers, mostly of classes that they have."""
    wanted = {}
    for number in draw(st.lists(numbers(model), min_size=1, max_size=2, unique=True)):
        node = model.nodes.get(number)
        present = sorted(node.inventories) if node else []
        names = draw(st.frozensets(st.sampled_from([*present * 4, *CLASSES[:1]]), min_size=1, max_size=2))
        wanted[number] = {name: draw(st.sampled_from([1, 2, 2, 3, 4, 6])) for name in sorted(names)}
    return wanted


@st.composite
def writes(draw: st.DrawFn, model: Model, consumer: str, amounts: Amounts) -> ConsumerWrite:
    known = model.consumers.get(consumer)
    right: Expected = known.generation if known else None
    # Who ends a consumer says which: otherwise it would be as right to have found none.
    expected = draw(st.sampled_from([right, right, right, ANY if amounts else right, 7]))
    return ConsumerWrite(consumer, "p", "u", "INSTANCE", amounts, expected)


@st.composite
def claims(draw: st.DrawFn, model: Model) -> Claim:
    consumer = draw(st.sampled_from(CONSUMERS))
    wanted: Amounts = {} if consumer in model.holds and draw(rarely) else draw(wants(model))
    return Claim((draw(writes(model, consumer, wanted)),))


@st.composite
def lower_claims(draw: st.DrawFn, model: Model) -> Claim:
    """A consumer that is there and holds less of one thing, nothing of it, or all that it holds already, from now on."""
    consumer = draw(st.sampled_from(sorted(model.holds)))
    kept = copied(model.holds[consumer])
    number = draw(st.sampled_from(sorted(kept)))
    name = draw(st.sampled_from(sorted(kept[number])))
    kept[number][name] -= draw(st.integers(0, kept[number][name]))
    left = {place: {each: amount for each, amount in held.items() if amount} for place, held in kept.items()}
    remaining = {place: held for place, held in left.items() if held}
    return Claim((ConsumerWrite(consumer, "p", "u", "INSTANCE", remaining, model.consumers[consumer].generation),))


@st.composite
def exchanges(draw: st.DrawFn, model: Model) -> Claim:
    """One consumer gives up all it holds, another takes that or something else, in one write."""
    giver = draw(st.sampled_from(sorted(model.holds)))
    taker = draw(st.sampled_from([uuid for uuid in CONSUMERS if uuid != giver]))
    taken = draw(wants(model)) if draw(rarely) else copied(model.holds[giver])
    return Claim((draw(writes(model, taker, taken)), draw(writes(model, giver, {}))))


@st.composite
def quick_claims(draw: st.DrawFn, model: Model) -> QuickClaim:
    """One or two consumers that are said to be new, and mostly are."""
    new = [uuid for uuid in CONSUMERS if uuid not in model.holds]
    uuids = draw(st.lists(st.sampled_from([*new * 4, *CONSUMERS]), min_size=1, max_size=draw(one_or_two), unique=True))
    return QuickClaim(tuple(ConsumerWrite(uuid, "p", "u", "INSTANCE", draw(wants(model)), None) for uuid in uuids))


def acts(model: Model, number: int) -> st.SearchStrategy[Act]:
    """Any write; `number` makes the uuid of a provider that it may make."""
    kinds: list[st.SearchStrategy[Act]] = [
        *[claims(model)] * 5, *[stocks(model)] * 2, *[moves(model)] * 2, labels(model), joins(model), removals(model),
    ]  # fmt: skip
    if model.holds:
        kinds += [exchanges(model)] * 2
    if len(model.nodes) < MOST_PROVIDERS:
        kinds.append(makes(model, number))
    return st.sampled_from(kinds).flatmap(lambda kind: kind)


@st.composite
def groups(draw: st.DrawFn, suffix: str) -> RequestGroup:
    return RequestGroup(
        suffix=suffix,
        resources=draw(
            st.dictionaries(st.sampled_from(CLASSES), st.sampled_from([1, 1, 2]), min_size=1, max_size=draw(one_or_two))
        ),
        required=(draw(any_of),) if draw(rarely) else (),
        forbidden=frozenset([TRAITS[2]]) if draw(rarely) else frozenset(),
        member_of=(draw(some_aggregates),) if draw(rarely) else (),
        forbidden_aggregates=frozenset([AGGREGATES[1]]) if draw(rarely) else frozenset(),
    )


@st.composite
def queries(draw: st.DrawFn, model: Model) -> CandidateQuery:
    suffixes = draw(st.sampled_from([("",), ("",), ("", "_A"), ("_A",), ("_A", "_B"), ("_A", "_B")]))
    numbered = frozenset(suffix for suffix in suffixes if suffix)
    asked = [draw(groups(suffix)) for suffix in suffixes]
    return CandidateQuery(
        groups=tuple(asked),
        group_policy=draw(st.sampled_from(["none", "isolate"])) if len(numbered) > 1 else None,
        same_subtree=(numbered,) if len(numbered) > 1 and draw(rarely) else (),
        root_required=frozenset([TRAITS[0]]) if draw(rarely) else frozenset(),
        root_forbidden=frozenset([TRAITS[1]]) if draw(rarely) else frozenset(),
    )


def address_of(query: CandidateQuery, limit: int | None = None) -> str:
    """The path that asks this query at 1.39."""
    pairs: list[tuple[str, str]] = []
    for group in query.groups:
        pairs.append((f"resources{group.suffix}", ",".join(f"{name}:{amount}" for name, amount in group.resources.items())))
        pairs += [(f"required{group.suffix}", f"in:{','.join(sorted(names))}") for names in group.required]
        pairs += [(f"required{group.suffix}", f"!{name}") for name in sorted(group.forbidden)]
        pairs += [(f"member_of{group.suffix}", f"in:{','.join(sorted(uuids))}") for uuids in group.member_of]
        pairs += [(f"member_of{group.suffix}", f"!{uuid}") for uuid in sorted(group.forbidden_aggregates)]
    pairs += [("same_subtree", ",".join(sorted(suffixes))) for suffixes in query.same_subtree]
    roots = [*sorted(query.root_required), *(f"!{name}" for name in sorted(query.root_forbidden))]
    pairs += [("root_required", ",".join(roots))] if roots else []
    pairs += [("group_policy", query.group_policy)] if query.group_policy else []
    pairs += [("limit", str(limit))] if limit else []
    return f"/allocation_candidates?{urlencode(pairs)}"
