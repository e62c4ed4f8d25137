"""What this process knows of the cloud: the ledger's index and the topology, brought up to date by the change feed."""

import asyncio

from kilonova.operations.ledger_index import LedgerIndex
from kilonova.operations.planning import hosts_of
from kilonova.placement.index import Index
from kilonova.scheduling.hosts import Hosts
from kilonova.storage import topology
from kilonova.storage.database import Database
from kilonova.storage.feed import Changes
from kilonova.storage.topology import Topology


class Cloud:
    """One process's picture. Hosts change seldom and are read whole; amounts change all the time and come by the feed."""

    def __init__(self, database: Database, ledger: LedgerIndex, default_zone: str) -> None:
        self._database = database
        self._ledger = ledger
        self._default_zone = default_zone
        self._stale = True
        self._reading = asyncio.Lock()
        self.topology = Topology({}, {})
        self.hosts: Hosts = hosts_of(self.topology, default_zone)
        ledger.on_change.append(self._on_change)

    @property
    def index(self) -> Index:
        """The ledger's index as of the last refresh."""
        return self._ledger.index

    async def refresh(self) -> None:
        """Bring index and topology up to everything that was committed before the call."""
        await self._ledger.refresh()
        async with self._reading:
            # Whoever comes while another reads waits for that: returning at once would leave it with the old picture.
            if self._stale:
                await self._read()

    async def _read(self) -> None:
        # Told of a change while it reads, it is stale again afterwards.
        self._stale = False
        try:
            async with self._database.read() as transaction:
                fresh = await topology.read(transaction)
        except BaseException:
            self._stale = True
            raise
        self.topology, self.hosts = fresh, hosts_of(fresh, self._default_zone)

    def provider_name(self, provider_id: int) -> str:
        """A provider's name, by which its host's driver knows it."""
        return self.index.provider(provider_id).name

    def is_up(self, host: str) -> bool:
        """Whether a host counts as alive as of the last refresh."""
        row = self.topology.hosts.get(host)
        return row is not None and row.is_up

    def cell_away(self, host: str) -> str:
        """The cell of a host if none of its hosts is up, so that nobody there can be asked; "" otherwise.

        A host that was declared down, or is known no more, is not waited for.
        """
        row = self.topology.hosts.get(host)
        if row is None or row.forced_down:
            return ""
        return "" if any(other.is_up for other in self.topology.hosts.values() if other.cell == row.cell) else row.cell

    def _on_change(self, changes: Changes) -> None:
        if changes.rebuild or changes.hosts or changes.aggregates:
            self._stale = True
