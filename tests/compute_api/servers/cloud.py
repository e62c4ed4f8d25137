"""What the tests of servers stand on: callers, an acceptor that only records, small companions, and the cloud of a test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from kilonova.domain.clock import new_uuid, now
from kilonova.domain.errors import BadRequest, Conflict, NotFound, OverQuota, Unauthorized
from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.domain.network import AskedNetwork
from kilonova.domain.server import Server
from kilonova.domain.wish import Wish
from kilonova.http.calls import Caller
from kilonova.http.versions import Versions
from kilonova.operations.acting import Asked
from kilonova.storage import servers
from kilonova.storage.database import Database, Transaction
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase

PROJECT, OTHER_PROJECT = "1" * 32, "2" * 32
CALLERS = {
    "member": Caller("user-1", PROJECT, frozenset({"member", "reader"})),
    "reader": Caller("user-3", PROJECT, frozenset({"reader"})),
    "other": Caller("user-2", OTHER_PROJECT, frozenset({"member", "reader"})),
    "admin": Caller("root", "3" * 32, frozenset({"admin", "member", "reader"})),
}
IMAGE, LARGE_IMAGE, QUEUED_IMAGE = (f"{digit}0000000-0000-4000-8000-000000000000" for digit in "123")
TRAIT_IMAGE, ODD_IMAGE = (f"{digit}0000000-0000-4000-8000-000000000000" for digit in "45")
NETWORK = "a0000000-0000-4000-8000-000000000000"
COMPUTE = Versions("compute", 2, 1, 104, 1003, legacy_header="x-openstack-nova-api-version")
START = 1_790_000_000_000_000


class Tokens:
    async def caller(self, token: str, headers: object) -> Caller:
        if token not in CALLERS:
            raise Unauthorized("Nobody stands behind this token.")
        return CALLERS[token]


@dataclass
class Images:
    known: Mapping[str, Image]

    async def get(self, caller: Caller, image_id: str) -> Image:
        if image_id not in self.known:
            raise NotFound(f"No image {image_id}.")
        return self.known[image_id]


class Networks:
    async def check(self, caller: Caller, asked: Sequence[AskedNetwork]) -> tuple[AskedNetwork, ...]:
        for card in asked:
            if card.network_id not in {"", NETWORK}:
                raise BadRequest(f"Network {card.network_id} could not be found.")
        return tuple(asked)

    async def automatic(self, caller: Caller) -> tuple[AskedNetwork, ...]:
        return (AskedNetwork(NETWORK),)

    async def name_groups(self, caller: Caller, asked: Sequence[str]) -> tuple[str, ...]:
        if "nobody" in asked:
            raise BadRequest("The project has no single security group nobody.")
        return tuple(dict.fromkeys(asked)) or ("default",)


class Consoles:
    async def console(self, host: str, server_id: str, lines: int | None) -> str:
        return f"{host} {server_id} {lines}"


def server(**changed: Any) -> Server:
    flavor = Flavor(1, "f1", "small", 1, 512, 1, extra_specs={"hw:x": "y"})
    born = Server(
        id=new_uuid(), project_id=PROJECT, user_id="user-1", name="one", hostname="one", description=None, created_at=START,
        updated_at=START, launched_at=None, terminated_at=None, deleted=False, vm_state="active", task_state=None,
        power_state=1, cell="cell1", host="host-1", generation=1, flavor=flavor, image_id=IMAGE, key_name=None,
        availability_zone="nova", pinned_zone=None, config_drive=False, user_data=None, metadata={}, system_metadata={},
        addresses=(), security_groups=("default",), access_ip_v4=None, access_ip_v6=None, fault=None, locked_by=None,
        locked_reason=None, group_id=None, reservation_id="r-1", launch_index=0, root_device_name="/dev/vda",
    )  # fmt: skip
    return replace(born, **changed)


def wish_for(made: Server, **changed: Any) -> Wish:
    image = Image(made.image_id, "cirros", "active", PROJECT, properties={"os_distro": "cirros"})
    wish = Wish(made.project_id, made.user_id, made.name, made.hostname, made.flavor, image, made.image_id)
    return replace(wish, **changed)


@dataclass
class RecordingAcceptor:
    """Writes the server as ACCEPT would and remembers what was asked."""

    database: Database
    most: int = 10
    wishes: list[Wish] = field(default_factory=list)
    acts: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)

    async def create(self, asked: Asked, wishes: Sequence[Wish], secret: Mapping[str, Any] | None = None) -> tuple[str, ...]:
        if len(wishes) > self.most:
            raise OverQuota(f"Quota exceeded for instances: Requested {len(wishes)}, but already used 0 of {self.most}")
        self.wishes.extend(wishes)
        new = [
            server(name=wish.name, hostname=wish.hostname, vm_state="building", task_state="scheduling", host=None,
                   project_id=wish.project_id, user_id=wish.user_id, description=wish.description, created_at=now(),
                   system_metadata={} if wish.disk_config == "MANUAL" else {"disk_config": wish.disk_config})
            for wish in wishes
        ]  # fmt: skip

        async def work(transaction: Transaction) -> None:
            await servers.insert(transaction, list(zip(new, wishes, strict=True)))

        await self.database.transact(work)
        return tuple(entry.id for entry in new)

    async def act(self, asked: Asked, kind: str, server_id: str, content: Mapping[str, Any]) -> None:
        async with self.database.read() as transaction:
            found = await servers.get(transaction, server_id)
        if kind == "start" and found.vm_state != "stopped":
            raise Conflict(f"Cannot 'start' instance {server_id} while it is in vm_state {found.vm_state}")
        self.acts.append((kind, server_id, content))


@dataclass
class Cloud:
    """What a test holds: the database, the acceptor and the HTTP client."""

    database: Database
    acceptor: RecordingAcceptor
    client: httpx.AsyncClient

    async def call(
        self, method: str, path: str, body: Any = None, *, version: str = "2.100", token: str = "member"
    ) -> httpx.Response:
        headers = {"X-Auth-Token": token, "OpenStack-API-Version": f"compute {version}"}
        return await self.client.request(method, f"/compute/v2.1{path}", json=body, headers=headers)

    async def get(self, path: str, **named: Any) -> Any:
        answer = await self.call("GET", path, **named)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def add(self, *new: Server, wish: Wish | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            await servers.insert(transaction, [(entry, wish or wish_for(entry)) for entry in new])

        await self.database.transact(work)

    async def sql(self, text: str, *values: Any) -> Sequence[Any]:
        """Run a statement with ? for values."""
        if isinstance(self.database, SqliteDatabase):
            return self.database._connection.execute(text, values).fetchall()
        assert isinstance(self.database, PostgresqlDatabase)
        pieces = text.split("?")
        numbered = "".join(f"{piece}${place}" for place, piece in enumerate(pieces[:-1], 1)) + pieces[-1]
        async with self.database._connection() as connection:
            found: Sequence[Any] = await connection.fetch(numbered, *values)
        return found
