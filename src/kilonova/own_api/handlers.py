"""Handlers of our own resources; administrators only."""

from dataclasses import asdict

from kilonova.http.calls import Answer, Call
from kilonova.own_api.explaining import explanation_of
from kilonova.own_api.parts import OwnParts
from kilonova.reconcilers.audit import audit, repair


async def show_explanation(call: Call, parts: OwnParts) -> Answer:
    """Why a server is where it is, or nowhere."""
    async with parts.database.read() as transaction:
        return Answer(body={"explanation": await explanation_of(transaction, call.path["server"])})


async def show_audit(call: Call, parts: OwnParts) -> Answer:
    """What is not as it must be, now."""
    return Answer(body={"findings": [asdict(entry) for entry in await audit(parts.database, parts.reads)]})


async def repair_audit(call: Call, parts: OwnParts) -> Answer:
    """Set right what can be; what was found before."""
    return Answer(body={"repaired": [asdict(entry) for entry in await repair(parts.database)]})


async def list_points(call: Call, parts: OwnParts) -> Answer:
    """The names that rules may use."""
    return Answer(body={"points": list(parts.chaos.points())})


async def list_rules(call: Call, parts: OwnParts) -> Answer:
    """All rules with how often each fired."""
    return Answer(body={"rules": [rule.as_json() for rule in parts.chaos.list()]})


async def create_rule(call: Call, parts: OwnParts) -> Answer:
    """Take a rule; every process has it when the answer leaves."""
    rule = parts.chaos.add(call.body)
    await parts.chaos.share(parts.bus)
    return Answer(201, rule.as_json())


async def delete_rule(call: Call, parts: OwnParts) -> Answer:
    """Delete a rule; what it holds goes on."""
    parts.chaos.remove(call.path["rule"])
    await parts.chaos.share(parts.bus)
    return Answer(204)


async def delete_rules(call: Call, parts: OwnParts) -> Answer:
    """Delete all rules."""
    parts.chaos.clear()
    await parts.chaos.share(parts.bus)
    return Answer(204)
