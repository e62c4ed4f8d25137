"""One process that claims: `python -m tests.processes.claimer URL WAY`. It reads rounds on its input, one a line of JSON, and
answers each with the consumers that won. WAY is `alone`, a transaction a claim, or `grouped`, as the placement API does it.
"""

import asyncio
import sys

import orjson

from kilonova.domain.errors import OverCapacity
from kilonova.domain.ledger import ConsumerWrite
from kilonova.operations.ledger import Asked, Claimer, claim
from kilonova.storage.database import Database
from kilonova.storage.postgresql import PostgresqlDatabase


async def _wins(database: Database, claimer: Claimer | None, provider: int, consumer: str) -> bool:
    write = ConsumerWrite(consumer, "p", "u", "INSTANCE", {provider: {"VCPU": 1}}, None)
    try:
        if claimer is None:
            await claim(database, [write])
        elif not await claimer.claim([write]):
            await claimer.write(Asked([write]))
    except OverCapacity:
        return False
    return True


async def main() -> None:
    database: Database = await PostgresqlDatabase.connect(sys.argv[1], connections=6, seconds=30)
    claimer = Claimer(database, most=2) if sys.argv[2] == "grouped" else None
    loop = asyncio.get_running_loop()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        asked = orjson.loads(line)
        provider = asked["provider"]
        wins = await asyncio.gather(*(_wins(database, claimer, provider, consumer) for consumer in asked["consumers"]))
        won = [consumer for consumer, win in zip(asked["consumers"], wins, strict=True) if win]
        sys.stdout.write(orjson.dumps(won).decode() + "\n")
        sys.stdout.flush()
    await database.close()


if __name__ == "__main__":
    asyncio.run(main())
