"""What Kilonova asks of an identity service, whichever it is."""

from collections.abc import Mapping
from typing import Protocol

from kilonova.http.calls import Caller


class IdentityService(Protocol):
    """Tokens; the answer may come from a cache for as long as the token and its revocation allow."""

    async def caller(self, token: str, headers: Mapping[str, str]) -> Caller:
        """Who the token speaks for; `headers` are the request's, names in lower case.

        Raises errors.Unauthorized, errors.Unavailable.
        """
        ...

    async def close(self) -> None:
        """Give back what is held: connections to a service elsewhere."""
        ...
