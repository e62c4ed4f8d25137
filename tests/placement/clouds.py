"""Small clouds for the placement tests."""

from collections.abc import Iterable, Mapping

from kilonova.domain.resources import CandidateQuery, Inventory, Provider, RequestGroup
from kilonova.placement.index import Index
from kilonova.placement.topology import SHARES

Offer = Mapping[str, int | Inventory]


def provider(
    number: int,
    offer: Offer | None = None,
    parent: Provider | None = None,
    traits: Iterable[str] = (),
    aggregates: Iterable[str] = (),
) -> Provider:
    """A provider named p<number>; an int in the offer is a total with nothing else set."""
    inventories = {
        name: inventory if isinstance(inventory, Inventory) else Inventory(total=inventory)
        for name, inventory in (offer or {}).items()
    }
    return Provider(
        id=number,
        uuid=f"uuid-{number}",
        name=f"p{number}",
        generation=0,
        parent_id=parent.id if parent else None,
        root_id=parent.root_id if parent else number,
        inventories=inventories,
        traits=frozenset(traits),
        aggregates=frozenset(aggregates),
    )


def sharing(number: int, offer: Offer, aggregates: Iterable[str], traits: Iterable[str] = ()) -> Provider:
    """A provider that shares with the trees in its aggregates."""
    return provider(number, offer, traits=[SHARES, *traits], aggregates=aggregates)


def index_of(*providers: Provider) -> Index:
    """An index that holds just these."""
    index = Index()
    index.load(providers)
    return index


def allof(*traits: str) -> tuple[frozenset[str], ...]:
    """`required` or `member_of` of which each must be met."""
    return tuple(frozenset([trait]) for trait in traits)


def group(suffix: str = "", **resources: int) -> RequestGroup:
    """A group that asks for resources only."""
    return RequestGroup(suffix=suffix, resources=resources)


def ask(*groups: RequestGroup, **rest: object) -> CandidateQuery:
    """A query of these groups."""
    return CandidateQuery(groups=groups, **rest)  # type: ignore[arg-type]
