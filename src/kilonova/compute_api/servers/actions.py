"""What is done to a server through POST /servers/{server_id}/action: the way in, and the actions that need few words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.servers import rules
from kilonova.compute_api.servers.finding import asked_by, get_server, get_unlocked
from kilonova.domain.errors import BadRequest, Conflict, Forbidden
from kilonova.http.calls import Action, Answer, Call, Handler
from kilonova.http.shapes import Checker
from kilonova.storage import server_edits
from kilonova.storage.database import Transaction

NOT_YET: Final = frozenset(
    (
        "addFixedIp", "addFloatingIp", "addSecurityGroup", "changePassword", "confirmResize", "createBackup", "createImage",
        "evacuate", "injectNetworkInfo", "migrate", "os-getRDPConsole", "os-getSerialConsole", "os-getSPICEConsole",
        "os-getVNCConsole", "os-migrateLive", "pause", "rebuild", "removeFixedIp", "removeFloatingIp", "removeSecurityGroup",
        "rescue", "resetNetwork", "resize", "restore", "resume", "revertResize", "shelve", "shelveOffload", "suspend",
        "trigger_crash_dump", "unpause", "unrescue", "unshelve",
    )
)  # fmt: skip
"""Actions of the community's service that are not served: they are refused as unknown ones are."""

_CHECKER: Final = Checker()
_MOST_LINES: Final = 2**31 - 1


def dispatch(actions: Sequence[Action]) -> Handler:
    """The handler of the action path: it finds the row that the body's only key names, and keeps its promises."""
    rows: dict[str, list[Action]] = {}
    for action in actions:
        rows.setdefault(action.name, []).append(action)

    async def act(call: Call, parts: ComputeParts) -> Answer:
        body = call.body
        if not isinstance(body, dict) or len(body) != 1:
            raise BadRequest("The body must be an object with exactly one key, which names the action.")
        name = next(iter(body))
        row = next((entry for entry in rows.get(name, ()) if entry.serves(call.version)), None)
        if row is None:
            raise BadRequest(f"There is no such action: {name}")
        if not call.allows(row.rule, {}):
            raise Forbidden(f"Policy doesn't allow {row.rule} to be performed.")
        if row.body is not None:
            _CHECKER.check(row.body, call.version, body)
        return await row.handler(replace(call, body=body[name]), parts)

    return act


async def _operate(call: Call, parts: ComputeParts, rule: str, kind: str, content: dict[str, Any]) -> Answer:
    async with parts.database.read() as transaction:
        server = await get_unlocked(transaction, call, rule)
    await parts.acceptor.act(asked_by(call), kind, server.id, content)
    return Answer(202)


async def start(call: Call, parts: ComputeParts) -> Answer:
    """{"os-start": null}"""
    return await _operate(call, parts, rules.START, "start", {})


async def stop(call: Call, parts: ComputeParts) -> Answer:
    """{"os-stop": null}"""
    return await _operate(call, parts, rules.STOP, "stop", {})


async def reboot(call: Call, parts: ComputeParts) -> Answer:
    """{"reboot": {"type": "SOFT" | "HARD"}}"""
    return await _operate(call, parts, rules.REBOOT, "reboot", {"hard": call.body["type"].upper() == "HARD"})


async def force_delete(call: Call, parts: ComputeParts) -> Answer:
    """{"forceDelete": null}"""
    return await _operate(call, parts, rules.FORCE_DELETE, "delete", {})


async def lock(call: Call, parts: ComputeParts) -> Answer:
    """{"lock": null}, or with a reason from 2.73: keeps everybody of the project from changing the server."""
    # Before 2.73 anything could stand beside the name; nothing of it was a reason.
    reason = call.body.get("locked_reason") if call.version >= 73 and call.body else None

    async def work(transaction: Transaction) -> None:
        server = await get_server(transaction, call, rules.LOCK)
        by = "owner" if server.project_id == call.caller.project_id else "admin"
        await server_edits.edit(transaction, server.id, {"locked_by": by, "locked_reason": reason})

    await parts.database.transact(work)
    return Answer(202)


async def unlock(call: Call, parts: ComputeParts) -> Answer:
    """{"unlock": null}"""

    async def work(transaction: Transaction) -> None:
        server = await get_server(transaction, call, rules.UNLOCK)
        target = {"project_id": server.project_id, "user_id": server.user_id}
        if server.locked_by == "admin" and not call.allows(rules.UNLOCK_OVERRIDE, target):
            raise Forbidden(f"Policy doesn't allow {rules.UNLOCK_OVERRIDE} to be performed.")
        await server_edits.edit(transaction, server.id, {"locked_by": None, "locked_reason": None})

    await parts.database.transact(work)
    return Answer(202)


async def reset_state(call: Call, parts: ComputeParts) -> Answer:
    """{"os-resetState": {"state": "active" | "error"}}"""

    async def work(transaction: Transaction) -> None:
        server = await get_server(transaction, call, rules.RESET_STATE)
        await server_edits.reset_state(transaction, server.id, f"reset-{call.body['state']}")

    await parts.database.transact(work)
    return Answer(202)


async def console_output(call: Call, parts: ComputeParts) -> Answer:
    """{"os-getConsoleOutput": {"length": lines}}: the end of what the guest wrote on its console."""
    async with parts.database.read() as transaction:
        server = await get_server(transaction, call, rules.CONSOLE_OUTPUT)
    if server.host is None:
        raise Conflict(f"Instance {server.id} is not ready: it is on no host, so it has no console.")
    length = call.body.get("length")
    # -1 is how the community's clients ask for all.
    lines = None if length is None or int(length) < 0 else min(int(length), _MOST_LINES)
    return Answer(body={"output": await parts.reads.console(server.host, server.id, lines)})
