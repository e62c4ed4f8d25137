"""What keypairs look like."""

from collections.abc import Sequence
from typing import Final

from kilonova.domain.clock import iso_micro
from kilonova.http.views import Shown, View
from kilonova.storage.keypairs import Keypair

_CORE: Final[Sequence[Shown[Keypair]]] = (
    Shown("name", lambda pair: pair.name),
    Shown("public_key", lambda pair: pair.public_key),
    Shown("fingerprint", lambda pair: pair.fingerprint),
    Shown("type", lambda pair: pair.type, since=2),
)
LISTED: Final = View[Keypair](_CORE)
CREATED: Final = View[Keypair]((*_CORE, Shown("user_id", lambda pair: pair.user_id)))
FULL: Final = View[Keypair](
    (
        *_CORE,
        Shown("user_id", lambda pair: pair.user_id),
        Shown("id", lambda pair: pair.id),
        Shown("created_at", lambda pair: iso_micro(pair.created_at)),
        Shown("updated_at", lambda pair: None),
        Shown("deleted", lambda pair: False),
        Shown("deleted_at", lambda pair: None),
    )
)
