"""How a resource provider is shown."""

from dataclasses import dataclass
from typing import Final

from kilonova.domain.resources import Provider
from kilonova.http.views import Shown, View
from kilonova.placement.index import Index


@dataclass(frozen=True, slots=True)
class ShownProvider:
    """A provider with what its picture needs besides: the index for its relatives, the path that links begin with."""

    provider: Provider
    index: Index
    base: str

    @property
    def parent_uuid(self) -> str | None:
        """The parent's uuid, None for a root."""
        parent_id = self.provider.parent_id
        return None if parent_id is None else self.index.provider(parent_id).uuid

    @property
    def root_uuid(self) -> str:
        """The uuid of the tree's root."""
        return self.index.provider(self.provider.root_id).uuid

    def links(self, relations: tuple[str, ...]) -> list[dict[str, str]]:
        """The link to the provider itself and those to its `relations`."""
        own = f"{self.base}/resource_providers/{self.provider.uuid}"
        return [{"rel": "self", "href": own}, *({"rel": name, "href": f"{own}/{name}"} for name in relations)]


PROVIDER: Final = View[ShownProvider](
    [
        Shown("uuid", lambda shown: shown.provider.uuid),
        Shown("name", lambda shown: shown.provider.name),
        Shown("generation", lambda shown: shown.provider.generation),
        Shown("links", lambda shown: shown.links(("inventories", "usages")), until=0),
        Shown("links", lambda shown: shown.links(("inventories", "usages", "aggregates")), since=1, until=5),
        Shown("links", lambda shown: shown.links(("inventories", "usages", "aggregates", "traits")), since=6, until=10),
        Shown(
            "links",
            lambda shown: shown.links(("inventories", "usages", "aggregates", "traits", "allocations")),
            since=11,
        ),
        Shown("parent_provider_uuid", lambda shown: shown.parent_uuid, since=14),
        Shown("root_provider_uuid", lambda shown: shown.root_uuid, since=14),
    ]
)
