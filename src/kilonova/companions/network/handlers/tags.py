"""Tags, alike for every resource that has them."""

from collections.abc import Callable, Sequence

from kilonova.companions.network.faults import (
    InvalidInput,
    NetworkNotFound,
    PortNotFound,
    SecurityGroupNotFound,
    SubnetNotFound,
    TagNotFound,
)
from kilonova.companions.network.ownership import own, require
from kilonova.companions.network.parts import GROUP, NETWORK, PORT, SUBNET, NetworkParts, Noun
from kilonova.domain.clock import now
from kilonova.http.calls import Answer, Call
from kilonova.storage.database import Transaction
from kilonova.storage.networks import Record

_NOUNS = {noun.path: noun for noun in (NETWORK, SUBNET, PORT, GROUP)}
_MISSING = {
    "networks": NetworkNotFound,
    "subnets": SubnetNotFound,
    "ports": PortNotFound,
    "security-groups": SecurityGroupNotFound,
}
_MOST = 50


def _noun(call: Call) -> Noun:
    return _NOUNS[call.url.partition("/v2.0/")[2].partition("/")[0]]


def _own(call: Call, noun: Noun, record: Record | None) -> Record:
    missing = _MISSING[noun.path](f"{noun.one} {call.path['id']} could not be found.")
    return own(call, record, missing)


async def _tags(call: Call, parts: NetworkParts) -> list[str]:
    noun = _noun(call)
    async with parts.database.read() as transaction:
        record = _own(call, noun, await noun.rows.find(transaction, call.path["id"]))
    return list(record.fields["tags"])


async def _write(call: Call, parts: NetworkParts, change: Callable[[list[str]], Sequence[str]]) -> list[str]:
    noun = _noun(call)

    async def work(transaction: Transaction) -> list[str]:
        record = _own(call, noun, await noun.rows.find(transaction, call.path["id"], "change"))
        require(call, f"update_{noun.one}", record)
        tags = list(change(list(record.fields["tags"])))
        if len(tags) > _MOST:
            raise InvalidInput(f"tags: a resource has at most {_MOST}.")
        await noun.rows.save(transaction, record.changed(now(), tags=tags))
        return tags

    return await parts.database.transact(work)


def _without(tags: list[str], tag: str) -> list[str]:
    if tag not in tags:
        raise TagNotFound(f"Tag {tag} could not be found.")
    return [entry for entry in tags if entry != tag]


async def list_tags(call: Call, parts: NetworkParts) -> Answer:
    """GET .../tags."""
    return Answer(200, {"tags": await _tags(call, parts)})


async def show_tag(call: Call, parts: NetworkParts) -> Answer:
    """GET .../tags/{tag}: there or not."""
    _without(await _tags(call, parts), call.path["tag"])
    return Answer(204)


async def replace_tags(call: Call, parts: NetworkParts) -> Answer:
    """PUT .../tags."""
    return Answer(200, {"tags": await _write(call, parts, lambda tags: call.body["tags"])})


async def add_tag(call: Call, parts: NetworkParts) -> Answer:
    """PUT .../tags/{tag}."""
    tag = call.path["tag"]
    if not 1 <= len(tag) <= 255:
        raise InvalidInput("tags: a tag has 1 to 255 characters.")
    await _write(call, parts, lambda tags: list(dict.fromkeys([*tags, tag])))
    return Answer(201)


async def remove_tags(call: Call, parts: NetworkParts) -> Answer:
    """DELETE .../tags."""
    await _write(call, parts, lambda tags: [])
    return Answer(204)


async def remove_tag(call: Call, parts: NetworkParts) -> Answer:
    """DELETE .../tags/{tag}."""
    await _write(call, parts, lambda tags: _without(tags, call.path["tag"]))
    return Answer(204)
