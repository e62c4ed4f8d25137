"""Delete: take the guest off every host that may have it, give back its cards, then all it holds in one transaction."""

from kilonova.operations.destroy import destroy
from kilonova.operations.end import End
from kilonova.operations.run import JSON, Run

STEPS = ("destroy", "release", "finish")


async def delete(run: Run) -> None:
    """Input: `hosts`, every host that the server or an operation cancelled by this one has touched."""
    for place, host in enumerate(run.input["hosts"]):
        await destroy(run, host, place)

    # Even where no host was touched: a call to the network service cannot be fenced and may have come late.
    async def release() -> JSON:
        await run.networks.release(run.server_id)
        return {}

    await run.step("release", release)
    await run.end(End("deleted", release=True, leaves_host=True))
