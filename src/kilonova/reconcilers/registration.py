"""Answers a host's hello: its record, its provider tree, and which servers belong on it.

What operators set through placement stays: only what the host reports differently from its last report is written.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson
import structlog

from kilonova.bus import Bus, Message
from kilonova.bus.messages import Hello, Welcome, decode_hello, encode_welcome
from kilonova.domain.clock import new_uuid, now
from kilonova.domain.errors import Unavailable
from kilonova.domain.ledger import ANY, NewProvider
from kilonova.domain.resources import Inventory, Provider
from kilonova.storage import hosts, ledger, provider_contents, provider_trees, servers
from kilonova.storage.database import Database, Duplicate, Transaction
from kilonova.storage.hosts import HostRecord

log = structlog.get_logger(__name__)
QUEUE: Final = "conductors"
TRIES: Final = 3
JSON = Mapping[str, Any]


class Registration:
    """Listens for hellos in a conductor."""

    def __init__(self, database: Database, bus: Bus) -> None:
        self._database = database
        self._bus = bus

    async def start(self) -> None:
        """Begin to answer; of all conductors one answers each hello."""
        await self._bus.subscribe("hello.*", self._on_hello, QUEUE)

    async def _on_hello(self, message: Message) -> bytes:
        hello = decode_hello(message.data)

        async def work(transaction: Transaction) -> Welcome:
            return await welcome(transaction, hello)

        answer = await self._taken(work)
        for server in answer.gone:
            log.info("guest.gone", host=hello.host, server=server)
        return encode_welcome(answer)

    async def _taken(self, work: Callable[[Transaction], Awaitable[Welcome]]) -> Welcome:
        for _ in range(TRIES):
            try:
                return await self._database.transact(work)
            except Duplicate:
                # Two hellos of a new host at once: the second time its record is there.
                continue
        raise Unavailable("A host could not be registered: others keep registering the same names.")


async def welcome(transaction: Transaction, hello: Hello) -> Welcome:
    """Take a hello in. `gone` are guests whose servers were deleted or live elsewhere: they must be destroyed.

    Guests that no server ever had the id of are strangers: they are left alone, and the audit reports them.
    """
    host = await _host(transaction, hello)
    before: Sequence[JSON] = orjson.loads(host.reported)
    if list(hello.providers) != before:
        await _tree(transaction, host, hello.providers, {entry["name"]: entry for entry in before})
    reported = orjson.dumps(hello.providers).decode()
    changed = replace(host, alive=True, incarnation=hello.incarnation, hypervisor=hello.hypervisor, reported=reported)
    if changed != host:
        at = now()
        await hosts.update_host(transaction, replace(changed, seen_at=at, updated_at=at))
    belonging = await servers.on_host(transaction, hello.host)
    places = await servers.whereabouts(transaction, list(hello.guests)) if hello.guests else {}
    gone = tuple(sorted(server for server in places if server not in belonging))
    return Welcome(host.epoch, belonging, gone)


async def _host(transaction: Transaction, hello: Hello) -> HostRecord:
    known = await hosts.find_host(transaction, hello.host)
    if known is not None:
        return await hosts.lock_host(transaction, hello.host)
    at = now()
    root = await provider_trees.create_provider(transaction, NewProvider(new_uuid(), hello.host, None, hello.cell))
    new = HostRecord(
        name=hello.host,
        id=await hosts.next_number(transaction),
        service_id=new_uuid(),
        cell=hello.cell,
        provider_uuid=root.uuid,
        epoch=1,
        incarnation=hello.incarnation,
        alive=True,
        disabled=False,
        disabled_reason=None,
        forced_down=False,
        failed_builds=0,
        hypervisor=hello.hypervisor,
        reported="[]",
        created_at=at,
        updated_at=at,
        seen_at=at,
    )
    await hosts.insert_host(transaction, new)
    return new


async def _tree(transaction: Transaction, host: HostRecord, reported: Sequence[JSON], before: Mapping[str, JSON]) -> None:
    root = (await ledger.providers_by_uuid(transaction, [host.provider_uuid]))[host.provider_uuid]
    present = {root.name: root} | await ledger.providers_by_name(transaction, [entry["name"] for entry in reported])
    for entry in reported:
        name = entry["name"] if entry["parent"] else root.name
        provider = present.get(name)
        if provider is None:
            parent = present[entry["parent"]]
            provider = await provider_trees.create_provider(transaction, NewProvider(new_uuid(), name, parent.id, host.cell))
            present[name] = provider
        await _contents(transaction, provider, entry, before.get(entry["name"], {}))


async def _contents(transaction: Transaction, provider: Provider, entry: JSON, before: JSON) -> None:
    old = before.get("inventories", {})
    new = entry["inventories"]
    if new != old:

        def edit(inventories: Mapping[str, Inventory]) -> dict[str, Inventory]:
            kept = {name: inventory for name, inventory in inventories.items() if name not in old or name in new}
            merged = {name: _merged(kept.get(name), new[name], old.get(name, {})) for name in new}
            return {**kept, **merged}

        await provider_contents.edit_inventories(transaction, provider.id, ANY, edit)
    lost, won = set(before.get("traits", ())) - set(entry["traits"]), set(entry["traits"])
    wanted = (provider.traits - lost) | won
    if wanted != provider.traits:
        await provider_contents.set_traits(transaction, provider.id, ANY, wanted)


def _merged(present: Inventory | None, new: JSON, old: JSON) -> Inventory:
    """What the host reports, except where it reports what it did before: then what stands, stands."""
    if present is None:
        return Inventory(**new)
    return replace(present, **{name: value for name, value in new.items() if old.get(name) != value})
