"""What services look like."""

from typing import Final

from kilonova.compute_api.services.rows import Service
from kilonova.domain.clock import iso_micro
from kilonova.http.views import Shown, View

SERVICE: Final = View[Service](
    [
        Shown("id", lambda item: item.number, until=52),
        Shown("id", lambda item: item.id, since=53),
        Shown("binary", lambda item: item.binary),
        Shown("host", lambda item: item.host),
        Shown("zone", lambda item: item.zone),
        Shown("status", lambda item: "disabled" if item.disabled else "enabled"),
        Shown("state", lambda item: "up" if item.up else "down"),
        Shown("updated_at", lambda item: iso_micro(item.seen_at)),
        Shown("disabled_reason", lambda item: item.disabled_reason),
        Shown("forced_down", lambda item: item.forced_down, since=11),
    ]
)
