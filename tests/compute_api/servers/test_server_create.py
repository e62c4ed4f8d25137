"""POST /servers: what is taken, what is refused, and what becomes a wish."""

from typing import Any

import httpx
import pytest

from kilonova.storage.database import Transaction
from kilonova.storage.keypairs import Keypair, insert_keypair

from .cloud import IMAGE, LARGE_IMAGE, NETWORK, ODD_IMAGE, QUEUED_IMAGE, Cloud

LOCAL_IMAGE = {
    "uuid": IMAGE, "boot_index": 0, "source_type": "image", "destination_type": "local", "delete_on_termination": True,
}  # fmt: skip


async def create(
    cloud: Cloud, *, version: str = "2.100", token: str = "member", hints: Any = None, **more: Any
) -> httpx.Response:
    body: dict[str, Any] = {"name": "web", "flavorRef": "f1", "imageRef": IMAGE, "networks": "none", **more}
    whole = {"server": {name: value for name, value in body.items() if value is not ...}}
    if hints is not None:
        whole["os:scheduler_hints"] = hints
    return await cloud.call("POST", "/servers", whole, version=version, token=token)


async def test_a_create_answers_with_id_links_password_and_location(cloud: Cloud) -> None:
    answer = await create(cloud)
    assert answer.status_code == 202
    shown = answer.json()["server"]
    assert set(shown) == {"id", "links", "adminPass", "security_groups", "OS-DCF:diskConfig"}
    assert answer.headers["location"] == f"http://cloud/compute/v2.1/servers/{shown['id']}"
    assert {link["rel"]: link["href"] for link in shown["links"]}["bookmark"] == f"http://cloud/compute/servers/{shown['id']}"
    wish = cloud.acceptor.wishes[0]
    assert (wish.name, wish.hostname, wish.networks, wish.image_id) == ("web", "web", (), IMAGE)
    assert wish.description is None


async def test_the_body_of_the_usual_client_is_taken(cloud: Cloud) -> None:
    answer = await create(cloud, min_count=1, max_count=1, networks=[{"uuid": NETWORK}], block_device_mapping_v2=[LOCAL_IMAGE])
    assert answer.status_code == 202
    assert cloud.acceptor.wishes[0].networks[0].network_id == NETWORK


async def test_several_servers_are_numbered(cloud: Cloud) -> None:
    answer = await create(cloud, name="My web", min_count=2, max_count="3", return_reservation_id=True)
    assert answer.json() == {"reservation_id": cloud.acceptor.wishes[0].reservation_id}
    assert [wish.name for wish in cloud.acceptor.wishes] == ["My web-1", "My web-2", "My web-3"]
    assert [wish.hostname for wish in cloud.acceptor.wishes] == ["my-web-1", "my-web-2", "my-web-3"]


async def test_the_quota_cuts_a_request_between_least_and_most(cloud: Cloud) -> None:
    cloud.acceptor.most = 2
    assert (await create(cloud, min_count=1, max_count=5)).status_code == 202
    assert len(cloud.acceptor.wishes) == 2
    refused = await create(cloud, min_count=3, max_count=5)
    assert refused.status_code == 403
    assert "Requested 5" in refused.json()["forbidden"]["message"]


@pytest.mark.parametrize(
    ("more", "version", "status"),
    [
        ({"networks": ...}, "2.36", 202),
        ({"networks": ...}, "2.37", 400),
        ({"networks": "auto"}, "2.36", 400),
        ({"networks": []}, "2.36", 202),
        ({"networks": [{"uuid": NETWORK, "tag": "nic"}]}, "2.36", 202),
        ({"networks": [{"uuid": NETWORK, "tag": "nic"}]}, "2.40", 400),
        ({"networks": [{"uuid": NETWORK, "tag": "nic"}]}, "2.42", 202),
        ({"description": "x"}, "2.18", 400),
        ({"description": "x"}, "2.19", 202),
        ({"tags": ["a"]}, "2.51", 400),
        ({"tags": ["a"]}, "2.52", 202),
        ({"tags": ["a,b"]}, "2.52", 400),
        ({"trusted_image_certificates": ["c"]}, "2.62", 400),
        ({"trusted_image_certificates": ["c"]}, "2.63", 202),
        ({"hostname": "a-b"}, "2.89", 400),
        ({"hostname": "a-b"}, "2.90", 202),
        ({"hostname": "a.b"}, "2.90", 400),
        ({"hostname": "a.b"}, "2.94", 202),
        ({"personality": []}, "2.56", 202),
        ({"personality": [{"path": "/a", "contents": "eA=="}]}, "2.56", 400),
        ({"personality": []}, "2.57", 400),
        ({"block_device_mapping_v2": [{**LOCAL_IMAGE, "tag": "d"}]}, "2.32", 202),
        ({"block_device_mapping_v2": [{**LOCAL_IMAGE, "tag": "d"}]}, "2.33", 400),
        ({"kilonova:unknown": 1}, "2.100", 400),
    ],
)  # fmt: skip
async def test_each_version_knows_its_fields(cloud: Cloud, more: dict[str, Any], version: str, status: int) -> None:
    whole = dict(more)
    if version < "2.37" or len(version) < 4:
        whole.setdefault("networks", ...)
    assert (await create(cloud, version=version, **whole)).status_code == status


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"flavorRef": "nope"}, "flavor nope could not be found"),
        ({"flavorRef": "secret"}, "could not be found"),
        ({"imageRef": "60000000-0000-4000-8000-000000000000"}, "could not be found"),
        ({"imageRef": QUEUED_IMAGE}, "not active"),
        ({"imageRef": LARGE_IMAGE}, "memory is too small"),
        ({"imageRef": ODD_IMAGE}, "CUSTOM_NONE"),
        ({"imageRef": ...}, "volume is not yet served"),
        ({"key_name": "nope"}, "key_name"),
        ({"user_data": "%%%"}, "base64"),
        ({"availability_zone": "moon"}, "availability zone is not available"),
        ({"networks": [{"port": NETWORK}, {"port": NETWORK}]}, "more than once"),
        ({"networks": [{"uuid": IMAGE}]}, "could not be found"),
        ({"networks": [{"port": NETWORK}], "min_count": 2}, "multiple"),
        ({"min_count": 3, "max_count": 2}, "min_count"),
        ({"block_device_mapping_v2": [{"source_type": "volume", "uuid": IMAGE, "boot_index": None}]}, "volumes"),
        ({"hints": {"group": IMAGE}}, "group"),
        ({"name": " web"}, "name"),
        ({"accessIPv4": "1.2.3"}, "accessIPv4"),
    ],
)
async def test_what_cannot_be_is_refused_by_name_and_writes_nothing(cloud: Cloud, more: dict[str, Any], words: str) -> None:
    answer = await create(cloud, **more)
    assert answer.status_code == 400
    assert words in answer.json()["badRequest"]["message"]
    assert cloud.acceptor.wishes == []


async def test_a_flavor_without_disk_and_a_named_host_are_for_administrators(cloud: Cloud) -> None:
    assert (await create(cloud, flavorRef="nodisk")).status_code == 403
    assert (await create(cloud, flavorRef="nodisk", token="admin")).status_code == 202
    assert (await create(cloud, availability_zone="nova:host-1")).status_code == 403
    assert (await create(cloud, host="host-1")).status_code == 403
    assert (await create(cloud, host="host-1", token="admin")).status_code == 400
    assert (await create(cloud, token="reader")).status_code == 403


async def test_key_user_data_metadata_and_hints_become_part_of_the_wish(cloud: Cloud) -> None:
    async def work(transaction: Transaction) -> None:
        await insert_keypair(transaction, Keypair("k", "ssh", "aa", "ssh-rsa AAAA", "user-1", 0))

    await cloud.database.transact(work)
    answer = await create(
        cloud, key_name="k", user_data="aGk=", metadata={"a": "b"}, tags=["z", "a"], config_drive="true",
        security_groups=[{"name": "web"}, {"name": "web"}], hints={"same_host": IMAGE}, availability_zone="nova",
        **{"OS-DCF:diskConfig": "AUTO"},
    )  # fmt: skip
    wish = cloud.acceptor.wishes[0]
    assert (wish.key_data, wish.user_data, wish.metadata, wish.tags) == ("ssh-rsa AAAA", "aGk=", {"a": "b"}, ("a", "z"))
    assert (wish.config_drive, wish.security_groups, wish.hints, wish.zone) == (True, ("web",), {"same_host": IMAGE}, "nova")
    shown = await cloud.get(f"/servers/{answer.json()['server']['id']}")
    assert shown["server"]["OS-DCF:diskConfig"] == "AUTO"
    assert shown["server"]["scheduler_hints"] == {"same_host": IMAGE}


async def test_too_much_metadata_is_over_the_quota(cloud: Cloud) -> None:
    answer = await create(cloud, metadata={f"k{number}": "v" for number in range(129)})
    assert answer.status_code == 403
