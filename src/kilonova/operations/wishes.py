"""Reads the wishes of servers for the operations that begin together, in one statement."""

from collections.abc import Sequence

from kilonova.domain.errors import NotFound
from kilonova.domain.wish import Wish
from kilonova.storage import servers
from kilonova.storage.database import Database
from kilonova.storage.group_commit import GroupCommit


class WishReader:
    """One conductor's way to read wishes; `most` is how many share a statement."""

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self._group: GroupCommit[str, Wish] = GroupCommit("wishes", self._read, most)

    async def read(self, server_id: str) -> Wish:
        """The wish of a server. Raises errors.NotFound where the server was purged."""
        return await self._group.submit(server_id)

    async def _read(self, server_ids: Sequence[str]) -> list[Wish | Exception]:
        async with self._database.read() as transaction:
            found = await servers.wishes(transaction, server_ids)
        return [found.get(server_id) or NotFound(f"Instance {server_id} is forgotten.") for server_id in server_ids]
