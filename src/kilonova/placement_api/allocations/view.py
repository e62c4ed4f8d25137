"""How allocations are read from requests and shown."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kilonova.domain.errors import BadRequest
from kilonova.domain.ledger import ANY, ConsumerWrite
from kilonova.domain.resources import Provider
from kilonova.placement.index import Index
from kilonova.placement_api.uuids import canonical
from kilonova.storage.ledger import Holding, WholeConsumer

_WITH_OWNER: Final = 12
_WITH_GENERATION: Final = 28
_WITH_TYPE: Final = 38
_UNKNOWN: Final = "unknown"


def write_of(consumer: str, body: Mapping[str, Any], index: Index) -> ConsumerWrite:
    """What a body wants a consumer to hold, in either of its two forms. Raises BadRequest."""
    asked = body["allocations"]
    by_provider = asked.items() if isinstance(asked, Mapping) else _listed(asked)
    return ConsumerWrite(
        consumer=canonical(consumer, "consumer_uuid"),
        project_id=body.get("project_id", ""),
        user_id=body.get("user_id", ""),
        consumer_type=body.get("consumer_type", ""),
        allocations={
            _id_of(index, uuid): {name: int(amount) for name, amount in entry["resources"].items()} for uuid, entry in by_provider
        },
        expected_generation=body.get("consumer_generation", ANY),
    )


def classes_of(writes: Sequence[ConsumerWrite]) -> frozenset[str]:
    """Every resource class that is written."""
    return frozenset(name for write in writes for amounts in write.allocations.values() for name in amounts)


def shown_consumer(whole: WholeConsumer, version: int) -> dict[str, Any]:
    """What a consumer holds, with what the version tells of the consumer."""
    consumer = whole.consumer
    shown: dict[str, Any] = {
        "allocations": {
            held.provider_uuid: {"generation": held.provider_generation, "resources": held.amounts} for held in whole.held
        }
    }
    if version >= _WITH_OWNER:
        shown["project_id"], shown["user_id"] = consumer.project_id, consumer.user_id
    if version >= _WITH_GENERATION:
        shown["consumer_generation"] = consumer.generation
    if version >= _WITH_TYPE:
        shown["consumer_type"] = consumer.consumer_type or _UNKNOWN
    return shown


def shown_provider(provider: Provider, holdings: Sequence[Holding], version: int) -> dict[str, Any]:
    """Who holds what of a provider."""
    shown = {}
    for holding in holdings:
        entry: dict[str, Any] = {"resources": holding.amounts}
        if version >= _WITH_GENERATION:
            entry["consumer_generation"] = holding.consumer.generation
        shown[holding.consumer.uuid] = entry
    return {"allocations": shown, "resource_provider_generation": provider.generation}


def _listed(entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    return [(entry["resource_provider"]["uuid"], entry) for entry in entries]


def _id_of(index: Index, uuid: str) -> int:
    provider = index.find(canonical(uuid, "resource provider uuid"))
    if provider is None:
        raise BadRequest(f"Allocation for resource provider '{uuid}' that does not exist.")
    return provider.id
