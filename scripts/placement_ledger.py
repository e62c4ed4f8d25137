"""A small client of a placement service for fixtures: makes providers with all that belongs to them, and empties a ledger.

It needs the standard library alone, as it runs in the environment of the suite.
"""

import http.client
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

SECONDS = 30.0
ADMIN = {"x-auth-token": "admin", "x-roles": "admin", "content-type": "application/json", "accept": "application/json"}


class FixtureError(RuntimeError):
    """The service did not take what a fixture asked of it."""


@dataclass(frozen=True, slots=True)
class Provider:
    """What a fixture wants: inventories by class (a total, or a whole inventory), traits, aggregates, and its parent's name."""

    name: str
    inventories: Mapping[str, int | Mapping[str, Any]] = field(default_factory=dict)
    traits: Sequence[str] = ()
    aggregates: Sequence[str] = ()
    parent: str = ""
    uuid: str = ""


class Ledger:
    """The ledger behind addresses that are asked in turn; the providers that were made through it are known by their names."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._places = itertools.cycle([(parts.netloc, parts.path.rstrip("/")) for parts in map(urlsplit, urls)])
        self.uuids: dict[str, str] = {}

    def make(self, *providers: Provider) -> None:
        """Make providers, parents before their children, with all that they have."""
        for provider in providers:
            self._make(provider)

    def claim(self, provider: str, amounts: Mapping[str, int], project: str, user: str) -> str:
        """Have a new consumer, whose uuid is given back, hold amounts of a provider that is named."""
        consumer = str(uuid4())
        body = {
            "allocations": {self.uuids[provider]: {"resources": dict(amounts)}},
            "project_id": project,
            "user_id": user,
            "consumer_generation": None,
        }
        # Before 1.38 a consumer has no type.
        self.ask("PUT", f"/allocations/{consumer}", body, version="1.36")
        return consumer

    def make_class(self, name: str) -> None:
        """Make sure that a resource class exists."""
        if name.startswith("CUSTOM_"):
            self.ask("PUT", f"/resource_classes/{name}")

    def empty(self) -> None:
        """Remove all that can be asked for: allocations, providers, custom classes and traits. Raises FixtureError."""
        providers = self.ask("GET", "/resource_providers")["resource_providers"]
        for provider in providers:
            held = self.ask("GET", f"/resource_providers/{provider['uuid']}/allocations")["allocations"]
            for consumer in held:
                self.ask("DELETE", f"/allocations/{consumer}", gone_is_fine=True)
        for provider in _leaves_first(providers):
            self.ask("DELETE", f"/resource_providers/{provider['uuid']}")
        for name in self.ask("GET", "/resource_classes")["resource_classes"]:
            if name["name"].startswith("CUSTOM_"):
                self.ask("DELETE", f"/resource_classes/{name['name']}")
        for trait in self.ask("GET", "/traits?name=startswith:CUSTOM_")["traits"]:
            self.ask("DELETE", f"/traits/{trait}")
        if self.ask("GET", "/resource_providers")["resource_providers"]:
            raise FixtureError("the ledger is not empty")

    def ask(self, method: str, path: str, body: object = None, version: str = "1.39", *, gone_is_fine: bool = False) -> Any:
        """One request as an administrator, and the answer's body. Raises FixtureError for all but success."""
        netloc, prefix = next(self._places)
        connection = http.client.HTTPConnection(netloc, timeout=SECONDS)
        headers = {**ADMIN, "openstack-api-version": f"placement {version}"}
        try:
            connection.request(method, prefix + path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status >= 300 and not (gone_is_fine and answer.status == 404):
            raise FixtureError(f"{method} {path} gave {answer.status}: {content.decode(errors='replace')}")
        return json.loads(content) if content else None

    def _make(self, provider: Provider) -> None:
        uuid = provider.uuid or str(uuid4())
        body = {"name": provider.name, "uuid": uuid}
        if provider.parent:
            body["parent_provider_uuid"] = self.uuids[provider.parent]
        generation = self.ask("POST", "/resource_providers", body)["generation"]
        self.uuids[provider.name] = uuid
        path = f"/resource_providers/{uuid}"
        if provider.aggregates:
            body = {"aggregates": list(provider.aggregates), "resource_provider_generation": generation}
            generation = self.ask("PUT", f"{path}/aggregates", body)["resource_provider_generation"]
        for name, wanted in provider.inventories.items():
            self.make_class(name)
            # Of one class a consumer may have all that there is, but no more.
            inventory = {"total": wanted} if isinstance(wanted, int) else dict(wanted)
            body = {
                "max_unit": inventory["total"],
                **inventory,
                "resource_class": name,
                "resource_provider_generation": generation,
            }
            generation = self.ask("POST", f"{path}/inventories", body)["resource_provider_generation"]
        if provider.traits:
            for trait in provider.traits:
                if trait.startswith("CUSTOM_"):
                    self.ask("PUT", f"/traits/{trait}")
            self.ask("PUT", f"{path}/traits", {"traits": list(provider.traits), "resource_provider_generation": generation})


def _leaves_first(providers: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    parents = {provider["uuid"]: provider["parent_provider_uuid"] for provider in providers}

    def depth(uuid: str) -> int:
        above = parents[uuid]
        return 0 if above is None else depth(above) + 1

    return sorted(providers, key=lambda provider: depth(provider["uuid"]), reverse=True)
