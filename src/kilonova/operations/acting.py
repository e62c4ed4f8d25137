"""ACCEPT for what is done to a server that exists: its next state and the operation, many requests in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kilonova.domain import lifecycle
from kilonova.domain.clock import new_ordered_id, now
from kilonova.domain.errors import Conflict, KilonovaError, NotFound
from kilonova.domain.operation import NewOperation
from kilonova.operations.kinds import Kind
from kilonova.storage import operations, servers
from kilonova.storage.database import Transaction
from kilonova.storage.servers import Standing

Live = Mapping[str, Sequence[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asked, and under which request id."""

    request_id: str
    user_id: str
    project_id: str


@dataclass(frozen=True, slots=True)
class Action:
    """One request: what kind of operation on which server; `content` becomes the operation's input."""

    asked: Asked
    kind: Kind
    server_id: str
    content: Mapping[str, Any]

    def operation(self, cell: str, content: Mapping[str, Any]) -> NewOperation:
        """The operation that carries it out."""
        return NewOperation(
            id=new_ordered_id(),
            kind=self.kind.name,
            version=self.kind.version,
            server_id=self.server_id,
            project_id=self.asked.project_id,
            user_id=self.asked.user_id,
            request_id=self.asked.request_id,
            cell=cell,
            exclusive=self.kind.exclusive,
            input=content,
        )


async def act_all(transaction: Transaction, actions: Sequence[Action]) -> list[None | Exception]:
    """A verdict on each. Raises Duplicate where an operation appeared at the same moment: then all must be asked again."""
    verdicts: dict[int, None | Exception] = {}
    while len(verdicts) < len(actions):
        # Of several requests for one server each must see what the one before it wrote.
        first = {action.server_id: place for place, action in reversed(list(enumerate(actions))) if place not in verdicts}
        places = sorted(first.values())
        found = await _act_once(transaction, [actions[place] for place in places])
        verdicts.update(zip(places, found, strict=True))
    return [verdicts[place] for place in range(len(actions))]


async def _act_once(transaction: Transaction, actions: Sequence[Action]) -> list[None | Exception]:
    taking = [action.server_id for action in actions if action.kind.takes_over]
    live = await operations.live_of_servers(transaction, taking) if taking else {}
    standings = await servers.lock(transaction, [action.server_id for action in actions])
    verdicts: list[None | Exception] = []
    admitted: list[tuple[Action, Standing]] = []
    for action in actions:
        try:
            after = _after(action, standings.get(action.server_id))
        except KilonovaError as error:
            verdicts.append(error)
            continue
        verdicts.append(None)
        if not _is_under_way(action, live):
            admitted.append((action, after))
    touched = await operations.cancel(transaction, _taken(admitted, live))
    new = [action.operation(standing.cell, _input(action, standing, live, touched)) for action, standing in admitted]
    await operations.insert(transaction, new)
    await servers.save(transaction, [standing for _, standing in admitted])
    return verdicts


def _after(action: Action, standing: Standing | None) -> Standing:
    """The server as the request leaves it. Raises errors.NotFound, errors.Conflict."""
    if standing is None or standing.deleted:
        raise NotFound(f"Instance {action.server_id} could not be found.")
    # Told before the state is: without a host it could be done in no other state either.
    if standing.host is None and standing.task_state is None and not action.kind.takes_over:
        raise Conflict(f"Cannot '{action.kind.name}' instance {standing.id}: it has no host. Its fault says why.")
    state = lifecycle.after(action.kind.event_for(action.content), standing.state, standing.id)
    return replace(standing, task_state=state.task, updated_at=now())


def _is_under_way(action: Action, live: Live) -> bool:
    """Whether the same taking over runs already: asking twice is asking once."""
    return any(kind == action.kind.name for _, kind in live.get(action.server_id, ()))


def _taken(admitted: Sequence[tuple[Action, Standing]], live: Live) -> dict[str, str]:
    """The operations that end over their holders' heads, and why."""
    return {
        operation_id: f"Ended by {action.kind.name}."
        for action, _ in admitted
        for operation_id, _ in live.get(action.server_id, ())
    }


def _input(action: Action, standing: Standing, live: Live, touched: Mapping[str, Sequence[str]]) -> Mapping[str, Any]:
    if not action.kind.takes_over:
        return {**action.content, "host": standing.host}
    hosts = {host for operation_id, _ in live.get(action.server_id, ()) for host in touched.get(operation_id, ())}
    if standing.host is not None:
        hosts.add(standing.host)
    return {**action.content, "hosts": sorted(hosts)}
