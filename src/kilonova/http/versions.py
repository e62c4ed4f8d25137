"""Microversions at the door: which header asks, what is served, what the answer says. Only HTTP faces know these numbers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kilonova.domain.errors import BadRequest, KilonovaError


class NotAcceptable(KilonovaError):
    """The version is well formed but not served here; `served` are the lowest and the highest that are."""

    code = "version.not_acceptable"

    def __init__(self, sentence: str, served: tuple[str, str]) -> None:
        super().__init__(sentence)
        self.served = served


_FORM = re.compile(r"([0-9]{1,9})\.(0|[1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True)
class Versions:
    """What one face serves: `service` as in the header, the major number, the minors from `lowest` to `highest`.

    `own` is the highest of our own minors (1001 and up), honoured wherever it is sent explicitly; `advertised` is what
    `latest` means, and with `lenient` what lies between `highest` and 1001 is served as `highest` (behaviour.md section 0).
    `legacy_header` is the older header that carries the bare number. `malformed` and `unserved` are sentences about what was
    asked for, with `{asked}`, `{lowest}` and `{highest}` in them.
    """

    service: str
    major: int
    lowest: int
    highest: int
    own: int
    lenient: bool = False
    legacy_header: str = ""
    malformed: str = "API Version String {asked} is of invalid format. Must be of format MajorNum.MinorNum."
    unserved: str = "Version {asked} is not supported by the API. Minimum is {lowest} and maximum is {highest}."

    @property
    def advertised(self) -> int:
        """The minor that version documents name as the newest."""
        return self.own if self.lenient else self.highest

    def asked(self, headers: Mapping[str, str]) -> int:
        """The minor number to serve. Raises BadRequest for a malformed version, NotAcceptable for one not served."""
        wanted = self._wanted(headers)
        if wanted is None:
            return self.lowest
        if wanted.lower() == "latest":
            return self.advertised
        match = _FORM.fullmatch(wanted)
        if match is None:
            raise BadRequest(self.malformed.format(asked=wanted))
        major, minor = int(match[1]), int(match[2])
        if major == self.major:
            if self.lowest <= minor <= self.highest or 1001 <= minor <= self.own:
                return minor
            if self.lenient and self.highest < minor < 1001:
                return self.highest
        served = f"{self.major}.{self.lowest}", f"{self.major}.{self.advertised}"
        raise NotAcceptable(self.unserved.format(asked=wanted, lowest=served[0], highest=served[1]), served)

    def _wanted(self, headers: Mapping[str, str]) -> str | None:
        for entry in headers.get("openstack-api-version", "").split(","):
            service, _, number = entry.strip().partition(" ")
            if service.lower() == self.service:
                return number.strip()
        return headers.get(self.legacy_header) if self.legacy_header else None

    def answer_headers(self, version: int) -> dict[str, str]:
        """The headers that tell the client what it was served."""
        number = f"{self.major}.{version}"
        if not self.legacy_header:
            return {"openstack-api-version": f"{self.service} {number}", "vary": self.vary}
        return {
            "OpenStack-API-Version": f"{self.service} {number}",
            "X-OpenStack-Nova-API-Version": number,
            "Vary": self.vary,
        }

    @property
    def vary(self) -> str:
        """The request's headers that an answer depends on."""
        return "OpenStack-API-Version, X-OpenStack-Nova-API-Version" if self.legacy_header else "openstack-api-version"


UNVERSIONED = Versions(service="", major=0, lowest=0, highest=0, own=0)
"""For faces that have no microversions."""
