"""What users write to a server: updates, metadata, tags, and what a lock keeps off."""

import pytest

from .cloud import Cloud, server

pytestmark = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)


async def test_an_update_changes_what_it_names(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    body = {"server": {"name": "new", "description": None, "accessIPv4": "1.2.3.4", "OS-DCF:diskConfig": "AUTO"}}
    shown = (await cloud.call("PUT", f"/servers/{made.id}", body)).json()["server"]
    assert (shown["name"], shown["accessIPv4"], shown["OS-DCF:diskConfig"]) == ("new", "1.2.3.4", "AUTO")
    assert "OS-EXT-STS:vm_state" in shown
    assert (await cloud.get(f"/servers/{made.id}"))["server"]["name"] == "new"


async def test_the_answer_to_an_update_was_short_before_2_75(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    shown = (await cloud.call("PUT", f"/servers/{made.id}", {"server": {"name": "x"}}, version="2.74")).json()["server"]
    assert "OS-EXT-STS:vm_state" not in shown
    assert {"addresses", "locked", "server_groups"} <= set(shown)


@pytest.mark.parametrize(
    ("body", "version", "status"),
    [
        ({"hostname": "h1"}, "2.89", 400),
        ({"hostname": "h1"}, "2.90", 200),
        ({"description": "d"}, "2.18", 400),
        ({"pinned_availability_zone": "nova"}, "2.103", 400),
        ({"pinned_availability_zone": "nova"}, "2.104", 200),
        ({"pinned_availability_zone": "moon"}, "2.104", 409),
        ({"pinned_availability_zone": None}, "2.104", 200),
        ({"nonsense": 1}, "2.104", 400),
    ],
)  # fmt: skip
async def test_each_version_knows_what_may_be_updated(cloud: Cloud, body: dict[str, str], version: str, status: int) -> None:
    made = server()
    await cloud.add(made)
    assert (await cloud.call("PUT", f"/servers/{made.id}", {"server": body}, version=version)).status_code == status


async def test_metadata_is_added_replaced_and_removed(cloud: Cloud) -> None:
    made = server(metadata={"a": "1"})
    await cloud.add(made)
    path = f"/servers/{made.id}/metadata"
    assert (await cloud.call("POST", path, {"metadata": {"b": "2"}})).json() == {"metadata": {"a": "1", "b": "2"}}
    assert (await cloud.call("PUT", f"{path}/a", {"meta": {"a": "3"}})).json() == {"meta": {"a": "3"}}
    assert (await cloud.call("PUT", f"{path}/a", {"meta": {"b": "3"}})).status_code == 400
    assert await cloud.get(f"{path}/a") == {"meta": {"a": "3"}}
    assert (await cloud.call("DELETE", f"{path}/a")).status_code == 204
    assert (await cloud.call("DELETE", f"{path}/a")).status_code == 404
    assert (await cloud.call("GET", f"{path}/a")).status_code == 404
    assert (await cloud.call("PUT", path, {"metadata": {"c": "4"}})).json() == {"metadata": {"c": "4"}}
    assert await cloud.get(path) == {"metadata": {"c": "4"}}
    many = {"metadata": {f"k{number}": "v" for number in range(128)}}
    assert (await cloud.call("POST", path, many)).status_code == 403
    assert await cloud.get(path) == {"metadata": {"c": "4"}}


async def test_tags_are_set_one_by_one_and_all_at_once(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    path = f"/servers/{made.id}/tags"
    created = await cloud.call("PUT", f"{path}/red")
    assert (created.status_code, created.headers["location"]) == (201, f"http://cloud/compute/v2.1{path}/red")
    assert (await cloud.call("PUT", f"{path}/red")).status_code == 204
    assert (await cloud.call("GET", f"{path}/red")).status_code == 204
    assert (await cloud.call("PUT", f"{path}/a,b")).status_code == 400
    assert (await cloud.call("PUT", path, {"tags": ["b", "a"]})).json() == {"tags": ["a", "b"]}
    assert (await cloud.call("GET", f"{path}/red")).status_code == 404
    assert (await cloud.call("DELETE", f"{path}/a")).status_code == 204
    assert (await cloud.call("DELETE", f"{path}/a")).status_code == 404
    assert (await cloud.call("DELETE", path)).status_code == 204
    assert await cloud.get(path) == {"tags": []}
    assert (await cloud.call("PUT", path, {"tags": [f"t{number}" for number in range(51)]})).status_code == 400
    await cloud.call("PUT", path, {"tags": [f"t{number}" for number in range(50)]})
    assert (await cloud.call("PUT", f"{path}/more")).status_code == 400
    assert (await cloud.call("GET", path, version="2.25")).status_code == 404


async def test_a_lock_keeps_the_project_off_but_not_administrators(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    path = f"/servers/{made.id}"
    assert (await cloud.call("POST", f"{path}/action", {"lock": {"locked_reason": "mine"}})).status_code == 202
    shown = (await cloud.get(path))["server"]
    assert (shown["locked"], shown["locked_reason"]) == (True, "mine")
    assert (await cloud.call("POST", f"{path}/action", {"os-stop": None})).status_code == 409
    assert (await cloud.call("DELETE", path)).status_code == 409
    assert (await cloud.call("POST", f"{path}/metadata", {"metadata": {"a": "b"}})).status_code == 409
    assert (await cloud.call("PUT", f"{path}/tags/a")).status_code == 409
    assert (await cloud.call("DELETE", path, token="admin")).status_code == 204
    assert (await cloud.call("POST", f"{path}/action", {"unlock": None})).status_code == 202
    assert (await cloud.call("DELETE", path)).status_code == 204


async def test_what_an_administrator_locked_an_owner_does_not_unlock(cloud: Cloud) -> None:
    made = server()
    await cloud.add(made)
    path = f"/servers/{made.id}/action"
    await cloud.call("POST", path, {"lock": None}, token="admin", version="2.1")
    assert (await cloud.call("POST", path, {"unlock": None})).status_code == 403
    assert (await cloud.call("POST", path, {"unlock": None}, token="admin")).status_code == 202
