"""What every handler of the identity API is handed."""

from dataclasses import dataclass

from kilonova.companions.identity.catalog import Catalog
from kilonova.companions.identity.embedded import EmbeddedIdentity


@dataclass(frozen=True, slots=True)
class IdentityParts:
    """The service itself and the catalog that its tokens carry."""

    service: EmbeddedIdentity
    catalog: Catalog
