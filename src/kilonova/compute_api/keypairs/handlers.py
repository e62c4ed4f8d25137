"""/os-keypairs. From 2.10 on an administrator may name another user."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from kilonova.compute_api.keypairs.keys import NewKey, new_ssh_key, new_x509_key, ssh_fingerprint, x509_fingerprint
from kilonova.compute_api.keypairs.view import CREATED, FULL, LISTED
from kilonova.compute_api.parts import ComputeParts
from kilonova.domain.clock import now
from kilonova.domain.errors import BadRequest, Forbidden, NotFound, OverQuota
from kilonova.http.calls import Answer, Call
from kilonova.http.paging import next_link, page_limit
from kilonova.storage import keypairs
from kilonova.storage.database import Transaction
from kilonova.storage.keypairs import Keypair
from kilonova.storage.quotas import limits_of

_OTHERS_SINCE: Final = 10
_PAGES_SINCE: Final = 35
# 2.2 corrected the statuses of create and delete.
_CORRECTED: Final = 2


def _user(call: Call, asked: str | None, rule: str) -> str:
    """Whose keypairs are meant. Raises errors.Forbidden for others' where the rule is for their owner."""
    user_id = asked if asked and call.version >= _OTHERS_SINCE else call.caller.user_id
    if not call.allows(rule, {"user_id": user_id}):
        raise Forbidden(f"Policy doesn't allow {rule} to be performed.")
    return user_id


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-keypairs"""
    user_id = _user(call, call.first("user_id"), "os_compute_api:os-keypairs:index")
    paged = call.version >= _PAGES_SINCE
    limit = page_limit(call, parts.api.max_limit) if paged else parts.api.max_limit
    marker = call.first("marker") if paged else None
    async with parts.database.read() as tx:
        if marker and await keypairs.find_keypair(tx, user_id, marker) is None:
            raise BadRequest(f"Marker {marker} could not be found.")
        found = await keypairs.list_keypairs(tx, user_id, marker or "", limit)
    render = LISTED.at(call.version, call.allows)
    body: dict[str, Any] = {"keypairs": [{"keypair": render(pair)} for pair in found]}
    links = next_link(call, found, limit, found[-1].name) if found and paged else []
    if links:
        body["keypairs_links"] = links
    return Answer(body=body)


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-keypairs/{name}"""
    user_id = _user(call, call.first("user_id"), "os_compute_api:os-keypairs:show")
    async with parts.database.read() as tx:
        pair = await keypairs.find_keypair(tx, user_id, call.path["name"])
    if pair is None:
        raise _missing(user_id, call.path["name"])
    return Answer(body={"keypair": FULL.at(call.version, call.allows)(pair)})


async def create(call: Call, parts: ComputeParts) -> Answer:
    """POST /os-keypairs: stores a given key, or makes one where the version still does."""
    asked = call.body["keypair"]
    user_id = _user(call, asked.get("user_id"), "os_compute_api:os-keypairs:create")
    made: NewKey | None = None
    if not asked.get("public_key"):
        made = await _new_key(asked, user_id)
    public_key = made.public_key if made else asked["public_key"]
    kind = asked.get("type", "ssh")
    fingerprint = x509_fingerprint(public_key) if kind == "x509" else ssh_fingerprint(public_key)
    pair = Keypair(asked["name"], kind, fingerprint, public_key, user_id, now())

    async def store(tx: Transaction) -> Keypair:
        limits = await limits_of(tx, call.caller.project_id, parts.quota)
        if 0 <= limits["key_pairs"] <= await keypairs.count_keypairs(tx, user_id):
            raise OverQuota("Quota exceeded, too many key pairs.")
        return await keypairs.insert_keypair(tx, pair)

    body = CREATED.at(call.version, call.allows)(await parts.database.transact(store))
    if made:
        body["private_key"] = made.private_key
    return Answer(201 if call.version >= _CORRECTED else 200, {"keypair": body})


async def _new_key(asked: Mapping[str, Any], user_id: str) -> NewKey:
    # Making a key takes the processor for long enough to hold up every other request.
    if asked.get("type") == "x509":
        return await asyncio.to_thread(new_x509_key, user_id)
    return await asyncio.to_thread(new_ssh_key)


async def delete(call: Call, parts: ComputeParts) -> Answer:
    """DELETE /os-keypairs/{name}"""
    user_id = _user(call, call.first("user_id"), "os_compute_api:os-keypairs:delete")

    async def remove(tx: Transaction) -> None:
        if not await keypairs.delete_keypair(tx, user_id, call.path["name"]):
            raise _missing(user_id, call.path["name"])

    await parts.database.transact(remove)
    return Answer(204 if call.version >= _CORRECTED else 202)


def _missing(user_id: str, name: str) -> NotFound:
    return NotFound(f"Keypair {name} not found for user {user_id}")
