"""ACCEPT: the transaction that takes a request in. The server in cell0 or in its next state, the operation, the quota.

After the commit conductors are woken; that message may be lost, because they look for themselves every second.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from kilonova.bus import Bus
from kilonova.domain import lifecycle
from kilonova.domain.clock import new_uuid, now
from kilonova.domain.errors import Conflict, NotFound, OverQuota
from kilonova.domain.operation import NewOperation
from kilonova.domain.server import Server
from kilonova.domain.wish import Wish
from kilonova.operations.acting import Action, Asked, act_all
from kilonova.operations.kinds import KINDS
from kilonova.operations.secrets import Keyring
from kilonova.settings import QuotaSettings
from kilonova.storage import group_locks, operations, quota_counts, quotas, servers
from kilonova.storage.database import Database, Duplicate, Transaction
from kilonova.storage.group_commit import GroupCommit
from kilonova.storage.quota_counts import Counted

WAKE_SUBJECT: Final = "wake.operations"
TRIES: Final = 5
COUNTED: Final = ("instances", "cores", "ram")
"""What of a project is counted when it asks for servers."""


@dataclass(frozen=True, slots=True)
class AcceptSettings:
    """Default limits, the most items of a transaction, and how many hosts a build may be tried on."""

    quota: QuotaSettings
    most: int = 64
    max_attempts: int = 3


@dataclass(frozen=True, slots=True)
class _Creation:
    """One accepted request for servers: all or none."""

    new: Sequence[tuple[Server, Wish]]
    operations: Sequence[NewOperation]

    @property
    def who(self) -> tuple[str, str]:
        """Project and user."""
        return self.new[0][0].project_id, self.new[0][0].user_id

    def counted(self) -> Counted:
        """What it adds to its project's use."""
        flavors = [server.flavor for server, _ in self.new]
        return Counted(
            self.new[0][0].project_id,
            len(flavors),
            sum(flavor.vcpus for flavor in flavors),
            sum(flavor.memory_mb for flavor in flavors),
        )


class Acceptor:
    """One process's way to take requests in."""

    def __init__(self, database: Database, bus: Bus, keyring: Keyring, settings: AcceptSettings) -> None:
        self._database = database
        self._bus = bus
        self._keyring = keyring
        self._settings = settings
        self._creations: GroupCommit[_Creation, None] = GroupCommit("accept", self._create_group, settings.most)
        self._actions: GroupCommit[Action, None] = GroupCommit("act", self._act_group, settings.most)

    async def create(self, asked: Asked, wishes: Sequence[Wish], secret: Mapping[str, Any] | None = None) -> tuple[str, ...]:
        """Accept new servers, all or none; their ids in order. `secret` rides on each, sealed, until it ends.

        Raises errors.OverQuota, errors.NotFound for a server group that is not there.
        """
        new = [(_born(wish), wish) for wish in wishes]
        content = {"attempts": self._settings.max_attempts}
        made = [Action(asked, KINDS["create"], server.id, content).operation(lifecycle.CELL0, content) for server, _ in new]
        if secret:
            made = [replace(entry, secret=self._keyring.seal(entry.id, secret)) for entry in made]
        await self._creations.submit(_Creation(new, made))
        await self._bus.publish(WAKE_SUBJECT, b"")
        return tuple(server.id for server, _ in new)

    async def act(self, asked: Asked, kind: str, server_id: str, content: Mapping[str, Any]) -> None:
        """Accept an operation `kind` on a server. Raises errors.NotFound, errors.Conflict."""
        await self._actions.submit(Action(asked, KINDS[kind], server_id, content))
        await self._bus.publish(WAKE_SUBJECT, b"")

    async def _act_group(self, actions: Sequence[Action]) -> list[None | Exception]:
        async def work(transaction: Transaction) -> list[None | Exception]:
            return await act_all(transaction, actions)

        for _ in range(TRIES):
            try:
                return await self._database.transact(work)
            except Duplicate:
                # Between the look at what runs and the lock on the server another operation began: look again.
                continue
        return [Conflict(f"Other operations keep beginning on instance {action.server_id}.") for action in actions]

    async def _create_group(self, creations: Sequence[_Creation]) -> list[None | Exception]:
        async def work(transaction: Transaction) -> list[None | Exception]:
            return await _create(transaction, creations, self._settings.quota)

        return await self._database.transact(work)


def _born(wish: Wish) -> Server:
    """The record of a server that was just asked for: in cell0, without a host."""
    at = now()
    state = lifecycle.after("create", lifecycle.State("building"))
    return Server(
        id=new_uuid(),
        project_id=wish.project_id,
        user_id=wish.user_id,
        name=wish.name,
        hostname=wish.hostname,
        description=wish.description,
        created_at=at,
        updated_at=at,
        launched_at=None,
        terminated_at=None,
        deleted=False,
        vm_state=state.vm,
        task_state=state.task,
        power_state=state.power,
        cell=lifecycle.CELL0,
        host=None,
        generation=0,
        flavor=wish.flavor,
        image_id=wish.image_id,
        key_name=wish.key_name,
        availability_zone=None,
        pinned_zone=wish.zone or None,
        config_drive=wish.config_drive,
        user_data=wish.user_data,
        metadata=wish.metadata,
        system_metadata={} if wish.disk_config == "MANUAL" else {"disk_config": wish.disk_config},
        addresses=(),
        security_groups=wish.security_groups,
        access_ip_v4=wish.access_ip_v4,
        access_ip_v6=wish.access_ip_v6,
        fault=None,
        locked_by=None,
        locked_reason=None,
        group_id=wish.group_id or None,
        reservation_id=wish.reservation_id,
        launch_index=wish.launch_index,
        root_device_name=wish.root_device_name,
    )


async def _create(transaction: Transaction, creations: Sequence[_Creation], defaults: QuotaSettings) -> list[None | Exception]:
    verdicts: list[None | Exception] = await _group_verdicts(transaction, creations, defaults)
    projects = [creation.new[0][0].project_id for creation in creations]
    used = await quota_counts.lock(transaction, projects)
    limits = await quota_counts.limits(transaction, projects)
    used_by_user = await _used_by_limited_users(transaction, creations, limits)
    admitted = []
    for place, creation in enumerate(creations):
        if verdicts[place] is not None:
            continue
        counted, who = creation.counted(), creation.who
        project = counted.project_id
        verdicts[place] = _over(used[project], counted, _project_limits(limits[project], defaults))
        if verdicts[place] is None and who in used_by_user:
            verdicts[place] = _over(used_by_user[who], counted, _user_limits(limits[project], who[1]))
        if verdicts[place] is None:
            used[project] = used[project].plus(counted)
            if who in used_by_user:
                used_by_user[who] = used_by_user[who].plus(counted)
            admitted.append(creation)
    await servers.insert(transaction, [entry for creation in admitted for entry in creation.new])
    await operations.insert(transaction, [entry for creation in admitted for entry in creation.operations])
    await quota_counts.add(transaction, [creation.counted() for creation in admitted])
    return verdicts


async def _group_verdicts(
    transaction: Transaction, creations: Sequence[_Creation], defaults: QuotaSettings
) -> list[None | Exception]:
    """Whether the server groups that are asked for take so many more members."""
    wanted = sorted({wish.group_id for creation in creations for _, wish in creation.new if wish.group_id})
    if not wanted:
        return [None] * len(creations)
    sizes = await group_locks.lock_sizes(transaction, wanted)
    verdicts: list[None | Exception] = []
    for creation in creations:
        group_id = creation.new[0][1].group_id
        most = defaults.server_group_members
        if group_id and group_id not in sizes:
            verdicts.append(NotFound(f"Instance group {group_id} could not be found."))
        elif group_id and 0 <= most < sizes[group_id] + len(creation.new):
            verdicts.append(OverQuota("Quota exceeded, too many servers in group"))
        else:
            if group_id:
                sizes[group_id] += len(creation.new)
            verdicts.append(None)
    return verdicts


def _project_limits(found: Mapping[str, int], defaults: QuotaSettings) -> Mapping[str, int]:
    return {name: found.get(name, getattr(defaults, name)) for name in COUNTED}


def _user_limits(found: Mapping[str, int], user_id: str) -> Mapping[str, int]:
    keys = {name: f"{user_id}/{name}" for name in COUNTED}
    return {name: found[key] for name, key in keys.items() if key in found}


async def _used_by_limited_users(
    transaction: Transaction, creations: Sequence[_Creation], limits: Mapping[str, Mapping[str, int]]
) -> dict[tuple[str, str], Counted]:
    """What those users have who have limits of their own; they are few, so it is counted anew."""
    found = {}
    for project, user_id in sorted({creation.who for creation in creations}):
        if _user_limits(limits[project], user_id):
            usage = await quotas.user_usage_of(transaction, project, user_id)
            found[project, user_id] = Counted(project, usage.instances, usage.cores, usage.ram)
    return found


def _over(used: Counted, wanted: Counted, limits: Mapping[str, int]) -> OverQuota | None:
    """The refusal where a limit would be passed, in the community's words."""
    for name, limit in limits.items():
        have, more = getattr(used, name), getattr(wanted, name)
        if 0 <= limit < have + more:
            return OverQuota(f"Quota exceeded for {name}: Requested {more}, but already used {have} of {limit} {name}")
    return None
