"""The version documents, which clients read before anything else."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx

from kilonova.compute_api.versions_doc.handlers import root_routes, version_routes
from kilonova.http.calls import Route
from kilonova.http.errors import compute_form
from kilonova.http.face import Face, FaceSettings
from kilonova.http.policy import Policy

from .cloud import COMPUTE, Tokens


async def fetch(path: str, prefix: str, routes: Sequence[Route]) -> httpx.Response:
    face: Any = Face(FaceSettings("compute", prefix, compute_form, COMPUTE), routes, None, Tokens(), Policy({}))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=face), base_url="http://cloud") as client:
        return await client.get(path)


async def test_the_version_describes_itself() -> None:
    for path in ("/compute/v2.1", "/compute/v2.1/"):
        answer = await fetch(path, "/compute/v2.1", version_routes(COMPUTE))
        assert answer.status_code == 200
        version = answer.json()["version"]
        assert (version["id"], version["status"]) == ("v2.1", "CURRENT")
        assert (version["version"], version["min_version"]) == ("2.104", "2.1")
        assert version["links"][0] == {"rel": "self", "href": "http://cloud/compute/v2.1/"}


async def test_the_root_lists_the_version() -> None:
    answer = await fetch("/compute/", "/compute", root_routes(COMPUTE))
    assert answer.status_code == 300
    assert answer.json()["versions"][0]["links"][0]["href"] == "http://cloud/compute/v2.1/"


async def test_our_own_face_advertises_our_own_versions() -> None:
    answer = await fetch("/own/compute/v2.1/", "/own/compute/v2.1", version_routes(replace(COMPUTE, lenient=True)))
    assert answer.json()["version"]["version"] == "2.1003"
