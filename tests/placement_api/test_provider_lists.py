"""Lists of resource providers say of each what it says of itself, at every version and after every change."""

from typing import Any

import pytest

from kilonova.domain.clock import new_uuid
from tests.placement_api.placement_client import Client


async def listed(client: Client, query: str = "") -> list[dict[str, Any]]:
    answer = await client.get(f"/resource_providers{query}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["resource_providers"]
    return found


async def agrees(client: Client) -> None:
    """Each entry of the list, to the order of its keys, is what the provider itself answers."""
    for entry in await listed(client):
        shown = (await client.get(f"/resource_providers/{entry['uuid']}")).json()
        assert list(entry.items()) == list(shown.items())


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.5", "1.6", "1.10", "1.11", "1.13", "1.14", "1.39", "1.1002"])
async def test_an_entry_is_what_the_provider_shows(client: Client, version: str) -> None:
    root = await client.provider('a "quoted" näme \\ with a slash')
    await client.provider(parent=await client.provider(parent=root, VCPU=1))
    at = client.at(version)
    assert len(await listed(at)) == 3
    await agrees(at)


async def test_links_begin_with_the_path_of_the_face(client: Client, own_client: Client) -> None:
    uuid = await client.provider()
    for asked, prefix in ((client, "/placement"), (own_client, "/own/placement")):
        (entry,) = await listed(asked)
        assert entry["links"][0]["href"] == f"{prefix}/resource_providers/{uuid}"


async def test_a_list_follows_every_change(client: Client) -> None:
    root, other = await client.provider("root", VCPU=4), await client.provider("other")
    child = await client.provider("child", root, DISK_GB=4)
    await agrees(client)
    await client.put(f"/resource_providers/{child}", {"name": "renamed"})
    await agrees(client)
    await client.claim(new_uuid(), root, VCPU=1)
    await client.traits(root, "CUSTOM_A")
    await agrees(client)
    await client.put(f"/resource_providers/{root}", {"name": "root", "parent_provider_uuid": other})
    await agrees(client)
    moved = {entry["uuid"]: entry["root_provider_uuid"] for entry in await listed(client)}
    assert moved == {root: other, child: other, other: other}
    await client.delete(f"/resource_providers/{child}")
    added = await client.provider("child", other)
    await agrees(client)
    assert {entry["uuid"] for entry in await listed(client)} == {root, other, added}


async def test_a_list_has_the_order_of_the_ledger(client: Client) -> None:
    made = [await client.provider(f"p{number}") for number in range(5)]
    await client.delete(f"/resource_providers/{made[1]}")
    made = [*made[:1], *made[2:], await client.provider("last")]
    assert [entry["uuid"] for entry in await listed(client)] == made


async def test_an_empty_list_is_a_list(client: Client) -> None:
    assert (await client.get("/resource_providers")).json() == {"resource_providers": []}
