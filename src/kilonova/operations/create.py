"""Create: find a host, give the server its network cards, build it there; elsewhere where that fails; bury it where none fits."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kilonova.companions.network.contract import Binding
from kilonova.domain.operation import ERROR
from kilonova.domain.wish import Wish
from kilonova.operations.destroy import destroy
from kilonova.operations.end import End
from kilonova.operations.place import Unplaced
from kilonova.operations.run import JSON, Run, StepFailed
from kilonova.scheduling.explain import details, message

STEPS = ("claim", "network", "build", "destroy", "release", "finish")


async def create(run: Run) -> None:
    """Input: `attempts`, on how many hosts a build may be tried."""
    wish = await run.wish()
    failures: dict[str, str] = {}
    for attempt in range(run.input["attempts"]):
        placed = await run.place(wish, frozenset(failures), "network" if wish.networks else "build", attempt)
        if isinstance(placed, Unplaced):
            await _give_up(run, placed, failures)
            return
        try:
            ports = await _cards(run, wish, placed, attempt)
            content = {**_guest(wish, placed, ports), **run.secret()}
            await run.command("build", placed["host"], content, attempt)
        except StepFailed as failure:
            failures[placed["host"]] = str(failure)
            await destroy(run, placed["host"], attempt)
            continue
        built = End("built", addresses=ports, built_on=placed["host"], failed_hosts=tuple(failures))
        await run.end(built)
        return
    await _give_up(run, None, failures)


async def fail(run: Run, sentence: str) -> None:
    """End a create that cannot go on: the server is in error, holds nothing and says why."""
    await _release_cards(run)
    fault = {"code": 500, "message": sentence, "details": ""}
    await run.end(End("buried", ERROR, "Error", fault, release=True, leaves_host=True))


async def _cards(run: Run, wish: Wish, placed: JSON, attempt: int) -> Sequence[Mapping[str, Any]]:
    if not wish.networks:
        return ()
    binding = Binding(
        server_id=run.server_id,
        project_id=wish.project_id,
        hostname=wish.hostname,
        host=placed["host"],
        zone=placed["zone"],
        asked=wish.networks,
        security_groups=wish.security_groups,
    )

    async def bind() -> JSON:
        return {"ports": [asdict(port) for port in await run.networks.bind(binding)]}

    ports: Sequence[Mapping[str, Any]] = (await run.step("network", bind, attempt))["ports"]
    return ports


def _guest(wish: Wish, placed: JSON, ports: Sequence[Mapping[str, Any]]) -> JSON:
    """The guest as the host's driver wants it (drivers/contract.py)."""
    return {
        "name": wish.name,
        "vcpus": wish.flavor.vcpus,
        "memory_mb": wish.flavor.memory_mb,
        "disk_gb": wish.flavor.root_gb,
        "image_id": wish.image_id,
        "hostname": wish.hostname,
        "key_data": wish.key_data,
        "user_data": wish.user_data or "",
        "config_drive": wish.config_drive,
        "metadata": wish.metadata,
        "ports": ports,
        "allocations": placed["allocations"],
    }


async def _give_up(run: Run, unplaced: Unplaced | None, failures: Mapping[str, str]) -> None:
    """Bury a server that found no host, or end one whose builds failed: that one keeps its last cell and holds nothing."""
    if failures:
        await _release_cards(run)
    fault = _fault(unplaced, failures, amounts=run.show_amounts)
    await run.end(
        End(
            "buried",
            ERROR,
            "Error",
            fault,
            release=bool(failures),
            leaves_host=True,
            failed_hosts=tuple(failures),
        )
    )


def _fault(unplaced: Unplaced | None, failures: Mapping[str, str], *, amounts: bool) -> Mapping[str, Any]:
    tried = "\n".join(f"{host}: {sentence}" for host, sentence in failures.items())
    if unplaced is None:
        count = len(failures)
        text = f"Exceeded maximum number of retries. The build failed on {count} host{'s' if count != 1 else ''}."
        return {"code": 500, "message": text, "details": tried}
    table = details(unplaced.explanation)
    return {
        "code": 500,
        "message": message(unplaced.explanation, amounts),
        "details": f"{table}\n\nTried before:\n{tried}" if tried else table,
    }


async def _release_cards(run: Run) -> None:
    wish = await run.wish()
    if not wish.networks:
        return

    async def release() -> JSON:
        await run.networks.release(run.server_id)
        return {}

    await run.step("release", release)
