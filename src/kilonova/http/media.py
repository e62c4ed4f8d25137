"""Media types at the door: what a client accepts, and what a refusal looks like for one that does not read JSON."""

from html import escape
from typing import Final

JSON: Final = "application/json"
HTML: Final = "text/html"
TEXT: Final = "text/plain"
_KNOWN: Final = 1_000
"""Clients send a handful of different headers; a stranger's many do not fill the memory."""


class Accepted:
    """Which of our media types a client takes best, by its `accept` header. Headers that were seen are remembered."""

    def __init__(self, *offers: str) -> None:
        self._offers = offers
        self._seen: dict[str | None, str] = {None: offers[0], "*/*": offers[0]}

    def best(self, accept: str | None) -> str:
        """The offer that suits best, the first of those that suit alike; "" where none does."""
        found = self._seen.get(accept)
        if found is None and accept is not None:
            if len(self._seen) >= _KNOWN:
                return _best(self._offers, accept)
            found = self._seen[accept] = _best(self._offers, accept)
        return found or ""


def _best(offers: tuple[str, ...], accept: str) -> str:
    ranges = _ranges(accept)
    suited = [(_quality(offer, ranges), offer) for offer in offers]
    quality, offer = max(suited, key=lambda pair: pair[0])
    return offer if quality > 0 else ""


def _ranges(accept: str) -> dict[str, float]:
    """Media ranges with their qualities. Source: RFC 9110, 12.5.1."""
    found: dict[str, float] = {}
    for entry in accept.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        quality = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        try:
            found[name] = float(quality)
        except ValueError:
            found[name] = 1.0
    return found


def _quality(offer: str, ranges: dict[str, float]) -> float:
    """The quality of the range that names the offer most closely."""
    for name in (offer, f"{offer.partition('/')[0]}/*", "*/*"):
        if name in ranges:
            return ranges[name]
    return 0.0


def page(title: str, status: int, sentence: str) -> str:
    """A refusal as a web page."""
    head = escape(f"{status} {title}")
    return f"<html><head><title>{head}</title></head><body><h1>{head}</h1><p>{escape(sentence)}</p></body></html>"


def plain(title: str, status: int, sentence: str) -> str:
    """A refusal as text."""
    return f"{status} {title}\n\n{sentence}\n"
