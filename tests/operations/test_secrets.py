"""What rides sealed on an operation, and the keys that seal it."""

from pathlib import Path

import pytest
from sqlalchemy import text

from kilonova.bus import Message
from kilonova.bus.messages import decode_commands
from kilonova.operations.secrets import Keyring, SecretLost
from kilonova.storage.statement import Statement

from .cloud import Cloud

RIDING = Statement(text("SELECT secret FROM operations WHERE secret IS NOT NULL"))

KEYS = [bytes([number]) * 32 for number in (1, 2)]
SECRET = {"admin_password": "hunter2"}


def test_a_secret_is_opened_with_its_own_operation_alone() -> None:
    ring = Keyring(KEYS[:1])
    sealed = ring.seal("operation-1", SECRET)

    assert b"hunter2" not in sealed
    assert ring.open("operation-1", sealed) == SECRET
    with pytest.raises(SecretLost):
        ring.open("operation-2", sealed)


def test_the_first_key_seals_and_all_open() -> None:
    sealed = Keyring(KEYS[:1]).seal("operation", SECRET)

    assert Keyring([KEYS[1], KEYS[0]]).open("operation", sealed) == SECRET
    with pytest.raises(SecretLost):
        Keyring(KEYS[1:]).open("operation", sealed)


def test_a_missing_key_file_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "operations.keys"
    sealed = Keyring.of_file(path).seal("operation", SECRET)

    assert path.stat().st_mode & 0o777 == 0o600
    assert Keyring.of_file(path).open("operation", sealed) == SECRET


async def test_a_password_rides_sealed_to_the_host_and_is_erased_when_the_create_ends(cloud: Cloud) -> None:
    told = []

    async def listen(message: Message) -> None:
        told.extend(command.input.get("admin_password") for command in decode_commands(message.data)[1])

    rule = cloud.order("create.build", "before")
    for name in cloud.hosts:
        await cloud.bus.subscribe(f"host.{name}.command", listen)
    server = await cloud.create(secret=SECRET)
    await cloud.met(rule)
    async with cloud.database.read() as transaction:
        (riding,) = await transaction.rows(RIDING)
    assert b"hunter2" not in bytes(riding[0])
    cloud.lift(rule)
    await cloud.ended(server)
    async with cloud.database.read() as transaction:
        assert not await transaction.rows(RIDING)
    assert told == ["hunter2"]
    await cloud.is_clean()
