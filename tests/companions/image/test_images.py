import pytest

from kilonova.domain.clock import new_uuid
from kilonova.domain.errors import NotFound

from .cloud import CALLERS, URL, ImageCloud


async def test_anybody_may_ask_which_versions_there_are(cloud: ImageCloud) -> None:
    answer = await cloud.http.get("/image")
    assert answer.status_code == 300
    first = answer.json()["versions"][0]
    assert first["status"] == "CURRENT"
    assert first["links"] == [{"rel": "self", "href": f"{URL}/image/v2/"}]
    assert (await cloud.http.get("/image/v2/images")).status_code == 401


async def test_a_new_image_waits_for_its_data_and_shows_properties_beside_attributes(cloud: ImageCloud) -> None:
    body = {"name": "n", "min_disk": 3, "tags": ["a", "a"], "owner_specified.openstack.md5": "", "trait:X": "required"}
    answer = await cloud.ask("POST", "/v2/images", json=body)
    assert answer.status_code == 201
    image = answer.json()
    assert answer.headers["Location"] == f"{URL}/image/v2/images/{image['id']}"
    assert image["status"] == "queued"
    assert (image["owner"], image["visibility"], image["min_disk"], image["tags"]) == ("red", "shared", 3, ["a"])
    assert (image["owner_specified.openstack.md5"], image["trait:X"]) == ("", "required")
    assert image["file"] == f"/v2/images/{image['id']}/file"
    assert (await cloud.ask("GET", f"/v2/images/{image['id']}")).json() == image


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"id": "not-a-uuid"}, 400),
        ({"name": "a\0b"}, 400),
        ({"disk_format": "floppy"}, 400),
        ({"visibility": "secret"}, 400),
        ({"min_ram": -1}, 400),
        ({"min_ram": True}, 400),
        ({"hw_cpu_cores": 4}, 400),
        ({"tags": [""]}, 400),
        ({"status": "active"}, 403),
        ({"visibility": "public"}, 403),
        ({"owner": "blue"}, 403),
        ({f"p{number}": "" for number in range(129)}, 413),
    ],
)
async def test_an_image_that_cannot_be_is_refused(cloud: ImageCloud, body: object, status: int) -> None:
    answer = await cloud.ask("POST", "/v2/images", json=body)
    assert answer.status_code == status
    assert await cloud.names() == []


async def test_an_id_may_be_chosen_once(cloud: ImageCloud) -> None:
    image_id = new_uuid()
    await cloud.new(id=image_id)
    assert (await cloud.ask("POST", "/v2/images", json={"id": image_id})).status_code == 409


async def test_a_private_image_is_not_there_for_another_project(cloud: ImageCloud) -> None:
    image_id = (await cloud.new())["id"]
    for method in ("GET", "DELETE"):
        assert (await cloud.ask(method, f"/v2/images/{image_id}", "blue")).status_code == 404
    assert (await cloud.patch(image_id, {"op": "add", "path": "/a", "value": "b"}, token="blue")).status_code == 404
    assert await cloud.names(token="blue") == []
    assert await cloud.names(token="admin") == ["cirros"]
    with pytest.raises(NotFound):
        await cloud.service.get(CALLERS["blue"], image_id)


async def test_an_open_image_can_be_seen_but_not_changed_by_others(cloud: ImageCloud) -> None:
    public = (await cloud.new("admin", name="public", visibility="public"))["id"]
    await cloud.new("red", name="ours", visibility="community")
    assert await cloud.names(token="blue") == ["public"]
    assert await cloud.names("?visibility=community", token="blue") == ["ours"]
    assert await cloud.names("?visibility=all&sort=name:asc", token="blue") == ["ours", "public"]
    assert (await cloud.ask("DELETE", f"/v2/images/{public}", "blue")).status_code == 403
    assert (await cloud.patch(public, {"op": "add", "path": "/a", "value": "b"})).status_code == 403
    assert (await cloud.ask("POST", "/v2/images", "looker", json={"name": "x"})).status_code == 403


async def test_the_cloud_gets_an_image_as_it_needs_it(cloud: ImageCloud) -> None:
    made = await cloud.new(data=b"12345", min_disk=2, min_ram=64, hw_disk_bus="virtio")
    image = await cloud.service.get(CALLERS["red"], made["id"])
    assert (image.status, image.size_bytes, image.min_disk_gb, image.min_ram_mb) == ("active", 5, 2, 64)
    assert image.properties == {"hw_disk_bus": "virtio"}


async def test_a_patch_sets_and_removes(cloud: ImageCloud) -> None:
    image_id = (await cloud.new(old="1"))["id"]
    answer = await cloud.patch(
        image_id,
        {"op": "replace", "path": "/name", "value": "new"},
        {"op": "add", "path": "/a~1b", "value": "c"},
        {"op": "replace", "path": "/tags", "value": ["t"]},
        {"op": "remove", "path": "/old"},
    )
    assert answer.status_code == 200
    image = (await cloud.ask("GET", f"/v2/images/{image_id}")).json()
    assert image == answer.json()
    assert (image["name"], image["a/b"], image["tags"]) == ("new", "c", ["t"])
    assert "old" not in image


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"op": "replace", "path": "/none", "value": "x"}, 409),
        ({"op": "remove", "path": "/none"}, 409),
        ({"op": "remove", "path": "/name"}, 403),
        ({"op": "replace", "path": "/size", "value": 1}, 403),
        ({"op": "replace", "path": "/visibility", "value": "public"}, 403),
        ({"op": "replace", "path": "/disk_format", "value": "iso"}, 403),
        ({"op": "replace", "path": "/owner", "value": "blue"}, 403),
        ({"op": "add", "path": "/a/b", "value": "x"}, 400),
        ({"op": "add", "path": "/a"}, 400),
        ({"op": "move", "path": "/a"}, 400),
    ],
)
async def test_a_refused_patch_changes_nothing(cloud: ImageCloud, change: object, status: int) -> None:
    image_id = (await cloud.new(data=b"x"))["id"]
    before = (await cloud.ask("GET", f"/v2/images/{image_id}")).json()
    answer = await cloud.patch(image_id, {"op": "add", "path": "/first", "value": "x"}, change)
    assert answer.status_code == status
    assert (await cloud.ask("GET", f"/v2/images/{image_id}")).json() == before


async def test_a_patch_has_a_media_type_of_its_own(cloud: ImageCloud) -> None:
    image_id = (await cloud.new())["id"]
    assert (await cloud.ask("PATCH", f"/v2/images/{image_id}", json=[])).status_code == 415


async def test_tags_come_and_go(cloud: ImageCloud) -> None:
    image_id = (await cloud.new())["id"]
    path = f"/v2/images/{image_id}/tags/gold"
    assert (await cloud.ask("PUT", path)).status_code == 204
    assert await cloud.names("?tag=gold") == ["cirros"]
    assert (await cloud.ask("DELETE", path)).status_code == 204
    assert (await cloud.ask("DELETE", path)).status_code == 404


async def test_a_protected_image_is_not_deleted(cloud: ImageCloud) -> None:
    image_id = (await cloud.new(protected=True, data=b"x"))["id"]
    assert (await cloud.ask("DELETE", f"/v2/images/{image_id}")).status_code == 403
    await cloud.patch(image_id, {"op": "replace", "path": "/protected", "value": False})
    assert (await cloud.ask("DELETE", f"/v2/images/{image_id}")).status_code == 204
    assert (await cloud.ask("GET", f"/v2/images/{image_id}")).status_code == 404
    assert list(cloud.directory.iterdir()) == []


async def test_schemas_name_every_attribute(cloud: ImageCloud) -> None:
    shown = (await cloud.ask("GET", "/v2/schemas/image")).json()["properties"]
    assert set(shown) == set(await cloud.new())
    assert (await cloud.ask("GET", "/v2/schemas/images")).json()["name"] == "images"
    assert (await cloud.ask("GET", "/v2/info/import")).json()["import-methods"]["value"] == []
