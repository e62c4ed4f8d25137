"""The door of a running cloud, as commands find it: a state directory's url and token, or a name in clouds.yaml."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import yaml

from kilonova.domain.errors import KilonovaError, NotFound, Unavailable

SECONDS: Final = 60.0
"""How long one answer may take."""


@dataclass(frozen=True, slots=True)
class Door:
    """Where a running cloud answers ("http://host:port"), and with which token."""

    url: str
    token: str

    def is_open(self) -> bool:
        """Whether anybody answers there."""
        try:
            return httpx.get(f"{self.url}/healthz", timeout=SECONDS).status_code < 600
        except httpx.TransportError:
            return False

    def ask(self, method: str, path: str) -> Any:
        """The JSON of an answer. Raises errors.Unavailable, errors.NotFound, KilonovaError."""
        try:
            answer = httpx.request(method, f"{self.url}{path}", headers={"X-Auth-Token": self.token}, timeout=SECONDS)
        except httpx.HTTPError as error:
            raise Unavailable(f"{self.url} does not answer: {error}") from error
        if answer.status_code == 404:
            raise NotFound(answer.text)
        if answer.is_error:
            raise KilonovaError(f"{self.url} answered {answer.status_code}: {answer.text}")
        return answer.json()


def door_of_state(state: Path) -> Door | None:
    """The door that a `kilonova up` wrote down; None where it never ran."""
    try:
        return Door((state / "url").read_text().strip(), (state / "token").read_text().strip())
    except FileNotFoundError:
        return None


def door_of_cloud(name: str) -> Door:
    """The door of a cloud in clouds.yaml (OS_CLIENT_CONFIG_FILE, here, ~/.config/openstack, /etc/openstack).

    Raises errors.NotFound for a name that is not there, errors.Unavailable.
    """
    auth = _entry(name)["auth"]
    scope = {"name": auth["project_name"], "domain": {"id": auth.get("project_domain_id", "default")}}
    user = {"name": auth["username"], "domain": {"id": auth.get("user_domain_id", "default")}, "password": auth["password"]}
    body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": {"project": scope}}}
    base = auth["auth_url"].rstrip("/").removesuffix("/v3")
    try:
        answer = httpx.post(f"{base}/v3/auth/tokens", json=body, timeout=SECONDS)
    except httpx.HTTPError as error:
        raise Unavailable(f"{base} does not answer: {error}") from error
    if answer.is_error:
        raise KilonovaError(f"{base} answered {answer.status_code}: {answer.text}")
    return Door(base.removesuffix("/identity"), answer.headers["x-subject-token"])


def _entry(name: str) -> dict[str, Any]:
    places = [
        os.environ.get("OS_CLIENT_CONFIG_FILE", ""),
        "clouds.yaml",
        str(Path.home() / ".config/openstack/clouds.yaml"),
        "/etc/openstack/clouds.yaml",
    ]
    for place in places:
        if place and Path(place).is_file():
            found = yaml.safe_load(Path(place).read_text()).get("clouds", {}).get(name)
            if found:
                return dict(found)
    raise NotFound(f"There is no cloud {name} in any clouds.yaml.")
