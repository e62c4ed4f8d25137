import asyncio
import hashlib
from collections.abc import AsyncIterator

import pytest

from kilonova.companions.image.files import CHUNK
from kilonova.domain.errors import Conflict, NotFound

from .cloud import CALLERS, OCTETS, ImageCloud


async def test_what_is_uploaded_is_what_is_downloaded(cloud: ImageCloud) -> None:
    data = bytes(range(256)) * (CHUNK // 128)
    image_id = (await cloud.new(data=data))["id"]
    image = (await cloud.ask("GET", f"/v2/images/{image_id}")).json()
    assert (image["status"], image["size"], image["os_hash_algo"]) == ("active", len(data), "sha512")
    assert image["checksum"] == hashlib.md5(data, usedforsecurity=False).hexdigest()
    assert image["os_hash_value"] == hashlib.sha512(data).hexdigest()
    answer = await cloud.ask("GET", f"/v2/images/{image_id}/file")
    assert answer.content == data
    assert (answer.headers["Content-MD5"], answer.headers["Content-Type"]) == (image["checksum"], OCTETS)
    assert answer.headers["Content-Length"] == str(len(data))


async def test_an_image_without_data_has_no_content(cloud: ImageCloud) -> None:
    image_id = (await cloud.new())["id"]
    assert (await cloud.ask("GET", f"/v2/images/{image_id}/file")).status_code == 204


async def test_data_comes_once_from_its_owner_and_as_octets(cloud: ImageCloud) -> None:
    image_id = (await cloud.new("admin", visibility="public", data=b"first"))["id"]
    assert (await cloud.upload(image_id, b"second", "admin")).status_code == 409
    assert (await cloud.upload(image_id, b"mine", "red")).status_code == 403
    assert (await cloud.ask("PUT", f"/v2/images/{image_id}/file", json={})).status_code == 415
    assert (await cloud.ask("GET", f"/v2/images/{image_id}/file")).content == b"first"


async def test_two_uploads_at_once_have_one_winner(cloud: ImageCloud) -> None:
    image_id = (await cloud.new())["id"]
    answers = await asyncio.gather(*[cloud.upload(image_id, word) for word in (b"one", b"two")])
    assert sorted(answer.status_code for answer in answers) == [204, 409]


async def test_an_upload_that_breaks_off_leaves_nothing_and_can_be_tried_again(cloud: ImageCloud) -> None:
    image_id = (await cloud.new())["id"]

    async def torn() -> AsyncIterator[bytes]:
        yield b"x" * CHUNK
        raise ConnectionResetError("the client is gone")

    with pytest.raises(ConnectionResetError):
        await cloud.service.store(image_id, torn())
    assert list(cloud.directory.iterdir()) == []
    assert (await cloud.upload(image_id, b"whole")).status_code == 204


async def test_a_delete_during_an_upload_wins(cloud: ImageCloud) -> None:
    image_id = (await cloud.new())["id"]

    async def deleted_meanwhile() -> AsyncIterator[bytes]:
        yield b"x" * CHUNK
        with pytest.raises(Conflict):
            await cloud.service.store(image_id, deleted_meanwhile())
        assert (await cloud.ask("DELETE", f"/v2/images/{image_id}")).status_code == 204

    with pytest.raises(NotFound):
        await cloud.service.store(image_id, deleted_meanwhile())
    assert list(cloud.directory.iterdir()) == []


async def test_a_restart_undoes_uploads_that_were_cut_off(cloud: ImageCloud) -> None:
    image_id = (await cloud.new())["id"]
    started, forever = asyncio.Event(), asyncio.Event()

    async def hanging() -> AsyncIterator[bytes]:
        yield b"x" * CHUNK
        started.set()
        await forever.wait()

    upload = asyncio.create_task(cloud.service.store(image_id, hanging()))
    await started.wait()
    assert (await cloud.service.get(CALLERS["red"], image_id)).status == "saving"
    await cloud.service.recover()
    assert (await cloud.service.get(CALLERS["red"], image_id)).status == "queued"
    assert list(cloud.directory.iterdir()) == []
    upload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upload


async def test_a_deactivated_image_keeps_its_data_from_users(cloud: ImageCloud) -> None:
    image_id = (await cloud.new(data=b"x"))["id"]
    path = f"/v2/images/{image_id}"
    assert (await cloud.ask("POST", f"{path}/actions/deactivate")).status_code == 204
    assert (await cloud.ask("GET", f"{path}/file")).status_code == 403
    assert (await cloud.ask("GET", f"{path}/file", "admin")).content == b"x"
    assert (await cloud.ask("POST", f"{path}/actions/reactivate")).status_code == 204
    assert (await cloud.ask("GET", f"{path}/file")).content == b"x"
    queued = (await cloud.new())["id"]
    assert (await cloud.ask("POST", f"/v2/images/{queued}/actions/deactivate")).status_code == 403
