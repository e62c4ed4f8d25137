"""Tokens as sealed claims: nothing is stored when one is issued, and any process with the keys can read it."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from kilonova.domain.errors import Unauthorized
from kilonova.storage.key_files import read_keys


@dataclass(frozen=True, slots=True)
class Claims:
    """What a token says. Roles are not in it: they are looked up, so that taking one away works at once.

    `target` is a project's id, "system", or "" without a scope. `stamp` is of the user's password (see `stamp_of`): a
    changed password ends the tokens made before. Times are microseconds. `audit_ids` is this token's own id and, for one
    made from another token, that one's.
    """

    user_id: str
    target: str
    methods: tuple[str, ...]
    audit_ids: tuple[str, ...]
    issued_at: int
    expires_at: int
    stamp: str


def new_audit_id() -> str:
    """An id to revoke a token by."""
    return secrets.token_urlsafe(12)


def stamp_of(password_hash: str) -> str:
    """A short mark that changes with the password and tells nothing of it."""
    return hashlib.sha256(password_hash.encode()).hexdigest()[:8]


class Seal:
    """Encrypts and signs claims with the first key; reads what any of the keys made."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._fernet = MultiFernet([Fernet(key) for key in keys])

    def closed(self, claims: Claims) -> str:
        """The token."""
        return self._fernet.encrypt(orjson.dumps(astuple(claims))).decode("ascii")

    def opened(self, token: str) -> Claims:
        """The claims of a token that one of our keys made, expired or not. Raises errors.Unauthorized."""
        try:
            payload = self._fernet.decrypt(token.encode("ascii", "replace"))
        except InvalidToken as error:
            raise Unauthorized("The token is not valid.") from error
        user_id, target, methods, audit_ids, issued_at, expires_at, stamp = orjson.loads(payload)
        return Claims(user_id, target, tuple(methods), tuple(audit_ids), issued_at, expires_at, stamp)


def load_keys(path: Path) -> Sequence[bytes]:
    """The keys in a file; a missing file is made with one new key."""
    return [key.encode() for key in read_keys(path, lambda: Fernet.generate_key().decode())]
