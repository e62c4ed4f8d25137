"""How the server speaks HTTP: uvicorn's protocol, whose refusal of what is no HTTP is in a form that clients can read.

Such a request never reaches a face: neither its path nor the version it asks for is known.
"""

import sys
from http import HTTPStatus
from typing import Final

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_REASONS: Final = {
    "Invalid character in Content-Length": "The content-length header must be an integer.",
    "Content-Length overflow": "The content-length header must be an integer that a machine's word can hold.",
}
"""What the parser says of the faults that people make, in our words."""


class Protocol(HttpToolsProtocol):
    """One connection."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser could not read, which is being handled as an exception, and close the connection."""
        told = str(sys.exception() or "")
        entry = {"status": 400, "title": HTTPStatus.BAD_REQUEST.phrase, "detail": _REASONS.get(told, f"{msg} {told}".strip())}
        body = orjson.dumps({"errors": [entry]})
        head = (
            "HTTP/1.1 400 Bad Request\r\n"
            "content-type: application/json\r\n"
            f"content-length: {len(body)}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()
