"""Words of the ledger's writes: what a consumer is to hold, what a provider is to be, and how such a write can fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from kilonova.domain.errors import Conflict, NotFound


class ProviderNotFound(NotFound):
    """There is no such resource provider."""

    code = "placement.resource_provider.not_found"


class DuplicateProvider(Conflict):
    """Another provider has the name or the uuid."""

    code = "placement.duplicate_name"


class InventoryInUse(Conflict):
    """An inventory cannot go while consumers hold some of it."""

    code = "placement.inventory.inuse"


class ProviderInUse(Conflict):
    """A provider cannot go while consumers hold some of it."""

    code = "placement.resource_provider.inuse"


class ProviderHasChildren(Conflict):
    """A provider cannot go while others hang below it."""

    code = "placement.resource_provider.cannot_delete_parent"


class Whatever(Enum):
    """The type of ANY."""

    ANY = "any"


ANY: Final = Whatever.ANY
"""For a generation that the writer does not care about."""

Expected = int | None | Literal[Whatever.ANY]
"""The generation that the writer last saw; None when it believes that there is no such consumer."""

Amounts = Mapping[int, Mapping[str, int]]
"""Amounts by provider id and resource class, each at least 1."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """Who holds allocations. `consumer_type` is "" where nobody said one."""

    uuid: str
    generation: int
    project_id: str
    user_id: str
    consumer_type: str = ""


@dataclass(frozen=True, slots=True)
class ConsumerWrite:
    """All that a consumer is to hold from now on; no amounts at all end it.

    An empty project, user or type leaves what an existing consumer has.
    """

    consumer: str
    project_id: str
    user_id: str
    consumer_type: str
    allocations: Amounts
    expected_generation: Expected = ANY


@dataclass(frozen=True, slots=True)
class NewProvider:
    """A provider to be made. `parent_id` is the ledger's number of its parent; `partition` the cell that it belongs to."""

    uuid: str
    name: str
    parent_id: int | None = None
    partition: str = ""
