"""What rides sealed on an operation, and the keys that seal it."""

from pathlib import Path

import pytest

from kilonova.operations.secrets import Keyring, SecretLost

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
