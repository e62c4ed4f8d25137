"""What every handler of the network API is handed, and the names that each kind of resource goes by."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from kilonova.companions.network import view
from kilonova.companions.network.lists import chosen, listed
from kilonova.companions.network.schema import without_nulls
from kilonova.http.calls import Answer, Call
from kilonova.http.views import Shown, View
from kilonova.storage.database import Database
from kilonova.storage.networks import NETWORKS, SUBNETS, Collection, Record
from kilonova.storage.ports import PORTS
from kilonova.storage.security_groups import GROUPS, RULES


@dataclass(frozen=True, slots=True)
class NetworkParts:
    """The parts of the network face."""

    database: Database


@dataclass(frozen=True, slots=True)
class Noun:
    """One kind of resource: its key in a body, what it looks like and where its rows are."""

    one: str
    fields: Sequence[Shown[Record]]
    view: View[Record]
    rows: Collection

    @property
    def many(self) -> str:
        """The key of a list, which is also the noun's table."""
        return f"{self.one}s"

    @property
    def path(self) -> str:
        """The noun in an address."""
        return self.many.replace("_", "-")

    def bodies(self, call: Call) -> list[dict[str, Any]]:
        """What a create asks for: one resource, or several."""
        asked = [call.body[self.one]] if self.one in call.body else call.body[self.many]
        return [without_nulls(entry) for entry in asked]

    def born(self, call: Call, records: Sequence[Record]) -> Answer:
        """The answer to a create, in the form that was asked in."""
        render = self.view.at(0, call.allows)
        if self.one in call.body:
            return Answer(201, {self.one: render(records[0])})
        return Answer(201, {self.many: [render(record) for record in records]})

    def shown(self, call: Call, record: Record) -> Answer:
        """The answer with one resource."""
        return Answer(200, {self.one: chosen(call, self.view.at(0, call.allows)(record))})

    def listed(self, call: Call, records: Sequence[Record]) -> Answer:
        """The answer with all resources that pass the query, oldest first unless asked otherwise."""
        render = self.view.at(0, call.allows)
        ordered = sorted(records, key=lambda record: (record.created_at, record.id))
        return Answer(200, listed(call, [render(record) for record in ordered], self.many))


NETWORK: Final = Noun("network", view.NETWORK_FIELDS, view.NETWORK, NETWORKS)
SUBNET: Final = Noun("subnet", view.SUBNET_FIELDS, view.SUBNET, SUBNETS)
PORT: Final = Noun("port", view.PORT_FIELDS, view.PORT, PORTS)
GROUP: Final = Noun("security_group", view.GROUP_FIELDS, view.GROUP, GROUPS)
RULE: Final = Noun("security_group_rule", view.RULE_FIELDS, view.RULE, RULES)
