"""What rides on an operation and must not be readable at rest: sealed with its id, so that it fits no other operation."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kilonova.domain.errors import KilonovaError
from kilonova.storage.key_files import read_keys

_NONCE: Final = 12


class SecretLost(KilonovaError):
    """No key of the keyring opens it: the keyring is not the one that it was sealed with, or it was moved."""

    code = "operation.secret_lost"


class Keyring:
    """Keys of 16, 24 or 32 bytes: the first seals, all open, so that keys can be replaced one after the other."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = [AESGCM(key) for key in keys]

    @classmethod
    def of_file(cls, path: Path) -> "Keyring":
        """The keys of a file, one a line in hexadecimal; a missing file is made with one new key, for its owner only."""
        return cls([bytes.fromhex(key) for key in read_keys(path, lambda: AESGCM.generate_key(256).hex())])

    @classmethod
    def of_process(cls) -> "Keyring":
        """One new key that ends with the process, for who keeps nothing on disk."""
        return cls([AESGCM.generate_key(256)])

    def seal(self, operation_id: str, secret: Mapping[str, Any]) -> bytes:
        """The secret as it is stored with its operation."""
        nonce = os.urandom(_NONCE)
        return nonce + self._keys[0].encrypt(nonce, orjson.dumps(secret), operation_id.encode())

    def open(self, operation_id: str, sealed: bytes) -> Mapping[str, Any]:
        """The secret. Raises SecretLost."""
        for key in self._keys:
            try:
                found: Mapping[str, Any] = orjson.loads(key.decrypt(sealed[:_NONCE], sealed[_NONCE:], operation_id.encode()))
            except InvalidTag:
                continue
            return found
        raise SecretLost(f"No key opens what rides on operation {operation_id}.")
