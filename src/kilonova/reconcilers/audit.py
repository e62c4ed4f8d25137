"""The audit: every invariant between servers, allocations, quotas, ports, operations and hosts, asked of one snapshot.

What an operation works on at the moment is left out. A finding counts as drift only when it is seen twice; the caller asks twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kilonova.domain.errors import KilonovaError
from kilonova.operations import ledger
from kilonova.operations.reads import HostReads
from kilonova.storage import audits
from kilonova.storage.database import Database, Transaction
from kilonova.storage.topology import read as read_topology


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it must be: which invariant, of what, in a sentence."""

    invariant: str
    subject: str
    sentence: str


async def audit(database: Database, reads: HostReads | None) -> list[Finding]:
    """All findings now. With `reads` the hosts that are up are asked for their guests, too."""
    async with database.snapshot() as transaction:
        busy = await audits.busy(transaction)
        findings = [*await _claims(transaction, busy), *await _counts(transaction, busy), *await _states(transaction, busy)]
        placed = await audits.placed(transaction)
        ever = await audits.servers_ever(transaction)
        topology = await read_topology(transaction)
    if reads is not None:
        up = [row.name for row in topology.hosts.values() if row.is_up]
        findings.extend(await _guests(reads, up, placed, ever, busy))
    return findings


async def repair(database: Database) -> list[Finding]:
    """Set right what can be set right without a host: sums, counts, and allocations without an owner. What was found."""

    async def work(transaction: Transaction) -> list[Finding]:
        busy = await audits.busy(transaction)
        found = [*await _claims(transaction, busy), *await _counts(transaction, busy)]
        orphans = [row[0] for row in await audits.ownerless(transaction) if row[0] not in busy]
        if orphans:
            await ledger.release(transaction, orphans)
        for provider_id, _, resource_class, _, _ in await audits.wrong_uses(transaction):
            await audits.recount_use(transaction, provider_id, resource_class)
        for row in await audits.wrong_quotas(transaction):
            await audits.set_quota(transaction, row[0], row[4:7])
        return found

    return await database.transact(work)


async def _claims(transaction: Transaction, busy: frozenset[str]) -> list[Finding]:
    found = [
        Finding("used-is-the-sum", f"{name}/{resource_class}", f"{used} counted as used, {held} allocated")
        for _, name, resource_class, used, held in await audits.wrong_uses(transaction)
    ]
    for consumer, provider_id, resource_class in await audits.classless(transaction):
        found.append(
            Finding("allocation-has-inventory", consumer, f"holds {resource_class} of provider {provider_id}, which has none")
        )
    for consumer, server, state in await audits.ownerless(transaction):
        if consumer not in busy:
            owner = f"server in state {state} without a host" if server else "no server"
            found.append(Finding("allocation-has-owner", consumer, f"holds allocations, but belongs to {owner}"))
    for server, host in await audits.unclaimed(transaction):
        if server not in busy:
            found.append(Finding("owner-has-allocation", server, f"is on {host} and holds nothing"))
    return found


async def _counts(transaction: Transaction, busy: frozenset[str]) -> list[Finding]:
    found = []
    for project, *numbers in await audits.wrong_quotas(transaction):
        counted, true = tuple(numbers[:3]), tuple(numbers[3:])
        found.append(Finding("quota-is-the-count", project, f"counted {counted} servers, VCPUs and MB; true are {true}"))
    for port, server in await audits.dead_ports(transaction):
        if server not in busy:
            found.append(Finding("port-has-owner", port, f"is held by server {server}, which is deleted or on no host"))
    return found


async def _states(transaction: Transaction, busy: frozenset[str]) -> list[Finding]:
    return [
        Finding("nothing-is-stuck", server, f"is {vm_state}/{task_state} and no operation works on it")
        for server, vm_state, task_state in await audits.stuck(transaction)
    ]


async def _guests(
    reads: HostReads,
    up: Sequence[str],
    placed: Mapping[str, tuple[str, str]],
    ever: frozenset[str],
    busy: frozenset[str],
) -> list[Finding]:
    found = []
    for host in up:
        try:
            guests = await reads.guests(host)
        except KilonovaError as error:
            found.append(Finding("host-answers", host, str(error)))
            continue
        for server in sorted(guests.keys() - busy):
            if placed.get(server, ("", ""))[0] != host:
                kind = "server that belongs elsewhere" if server in ever else "stranger"
                found.append(Finding("guest-belongs", server, f"runs on {host}: a {kind}"))
        expected = {server for server, (where, state) in placed.items() if where == host and state in {"active", "stopped"}}
        for server in sorted(expected - guests.keys() - busy):
            found.append(Finding("server-has-guest", server, f"should be on {host}, which has no such guest"))
    return found
