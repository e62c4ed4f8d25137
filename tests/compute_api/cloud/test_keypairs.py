from cryptography.hazmat.primitives import serialization

from .site import Cloud

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me@here"


def _body(name: str, **more: str) -> dict[str, dict[str, str]]:
    return {"keypair": {"name": name, "public_key": KEY, **more}}


async def test_a_given_key_is_kept_with_its_fingerprint(cloud: Cloud) -> None:
    answer = await cloud.call("POST", "/os-keypairs", _body("k"), who="user")
    assert answer.status_code == 200
    made = answer.json()["keypair"]
    assert made["fingerprint"].count(":") == 15
    assert made["user_id"] == "u-user"
    assert not {"private_key", "type"} & made.keys()
    shown = (await cloud.get("/os-keypairs/k", who="user", at="2.2"))["keypair"]
    assert (shown["type"], shown["public_key"], shown["deleted"]) == ("ssh", KEY, False)
    assert (await cloud.call("GET", "/os-keypairs/k", who="other")).status_code == 404


async def test_statuses_were_corrected_in_22(cloud: Cloud) -> None:
    assert (await cloud.call("POST", "/os-keypairs", _body("k"), at="2.2")).status_code == 201
    assert (await cloud.call("DELETE", "/os-keypairs/k", at="2.2")).status_code == 204
    await cloud.call("POST", "/os-keypairs", _body("k"))
    assert (await cloud.call("DELETE", "/os-keypairs/k")).status_code == 202
    assert (await cloud.call("DELETE", "/os-keypairs/k")).status_code == 404


async def test_a_pair_is_made_until_291(cloud: Cloud) -> None:
    made = (await cloud.call("POST", "/os-keypairs", {"keypair": {"name": "k"}}, at="2.91")).json()["keypair"]
    private = serialization.load_pem_private_key(made["private_key"].encode(), None)
    public = private.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    assert made["public_key"].startswith(public.decode())
    assert (await cloud.call("POST", "/os-keypairs", {"keypair": {"name": "l"}}, at="2.92")).status_code == 400


async def test_a_certificate_is_made_and_taken(cloud: Cloud) -> None:
    body = {"keypair": {"name": "k", "type": "x509"}}
    made = (await cloud.call("POST", "/os-keypairs", body, at="2.2")).json()["keypair"]
    assert made["public_key"].startswith("-----BEGIN CERTIFICATE")
    assert made["fingerprint"].count(":") == 19
    again = {"keypair": {"name": "l", "type": "x509", "public_key": made["public_key"]}}
    assert (await cloud.call("POST", "/os-keypairs", again, at="2.2")).json()["keypair"]["fingerprint"] == made["fingerprint"]


async def test_what_is_no_key_is_refused(cloud: Cloud) -> None:
    for kind in ("ssh", "x509"):
        body = {"keypair": {"name": "k", "type": kind, "public_key": "nonsense"}}
        assert (await cloud.call("POST", "/os-keypairs", body, at="2.2")).status_code == 400


async def test_names_may_have_more_signs_since_292(cloud: Cloud) -> None:
    assert (await cloud.call("POST", "/os-keypairs", _body("me@here.org"), at="2.91")).status_code == 400
    assert (await cloud.call("POST", "/os-keypairs", _body("me@here.org"), at="2.92")).status_code == 201
    for bad in ("", " k", "k ", "k/l", "x" * 256):
        assert (await cloud.call("POST", "/os-keypairs", _body(bad), at="2.92")).status_code == 400


async def test_administrators_act_for_others_since_210(cloud: Cloud) -> None:
    assert (await cloud.call("POST", "/os-keypairs", _body("k", user_id="u-other"), at="2.10")).status_code == 201
    assert (await cloud.call("POST", "/os-keypairs", _body("k", user_id="u-other"), at="2.10", who="user")).status_code == 403
    assert len((await cloud.get("/os-keypairs?user_id=u-other", at="2.10"))["keypairs"]) == 1
    assert (await cloud.call("GET", "/os-keypairs?user_id=u-other", at="2.10", who="user")).status_code == 403
    assert len((await cloud.get("/os-keypairs", who="other"))["keypairs"]) == 1


async def test_lists_have_pages_since_235(cloud: Cloud) -> None:
    for name in ("b", "a", "c"):
        await cloud.call("POST", "/os-keypairs", _body(name))
    page = await cloud.get("/os-keypairs?limit=2", at="2.35")
    assert [pair["keypair"]["name"] for pair in page["keypairs"]] == ["a", "b"]
    assert page["keypairs_links"][0]["href"].endswith("limit=2&marker=b")
    rest = await cloud.get("/os-keypairs?limit=2&marker=b", at="2.35")
    assert [pair["keypair"]["name"] for pair in rest["keypairs"]] == ["c"]
    assert len((await cloud.get("/os-keypairs?limit=2"))["keypairs"]) == 3
    assert (await cloud.call("GET", "/os-keypairs?marker=zz", at="2.35")).status_code == 400


async def test_a_name_is_taken_once_and_quota_holds(cloud: Cloud) -> None:
    await cloud.call("POST", "/os-keypairs", _body("a"))
    assert (await cloud.call("POST", "/os-keypairs", _body("a"))).status_code == 409
    for name in ("b", "c"):
        await cloud.call("POST", "/os-keypairs", _body(name))
    assert (await cloud.call("POST", "/os-keypairs", _body("d"))).status_code == 403
    assert (await cloud.call("POST", "/os-keypairs", _body("d"), who="user")).status_code == 200
