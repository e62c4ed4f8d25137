"""What Kilonova asks of an identity service, whichever it is."""

from typing import Protocol

from kilonova.http.calls import Caller


class IdentityService(Protocol):
    """Tokens; the answer may come from a cache for as long as the token and its revocation allow."""

    async def caller(self, token: str) -> Caller:
        """Who the token speaks for. Raises errors.Unauthorized, errors.Unavailable."""
        ...
