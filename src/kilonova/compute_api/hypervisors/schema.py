"""What hypervisors take."""

from typing import Final

from kilonova.compute_api.queries import NUMBER, TEXT, list_query
from kilonova.http.shapes import BOOLEAN

LIST: Final = list_query(
    {"limit": NUMBER, "marker": TEXT, "hypervisor_hostname_pattern": TEXT, "with_servers": BOOLEAN},
    since={"limit": 33, "marker": 33, "hypervisor_hostname_pattern": 53, "with_servers": 53},
)
SHOW: Final = list_query({"with_servers": BOOLEAN}, since={"with_servers": 53})
