"""Microversions at the door (behaviour.md section 0)."""

import pytest

from kilonova.domain.errors import BadRequest
from kilonova.http.versions import NotAcceptable, Versions

LEGACY = "x-openstack-nova-api-version"
COMPUTE = Versions("compute", 2, 1, 104, 1003, legacy_header=LEGACY)
OWN = Versions("compute", 2, 1, 104, 1003, lenient=True, legacy_header=LEGACY)


@pytest.mark.parametrize(
    ("headers", "version"),
    [
        ({}, 1),
        ({"openstack-api-version": "compute 2.53"}, 53),
        ({"openstack-api-version": "placement 1.9, compute 2.60"}, 60),
        ({"openstack-api-version": "volume 3.1"}, 1),
        ({LEGACY: "2.10"}, 10),
        ({"openstack-api-version": "compute 2.90", LEGACY: "2.10"}, 90),
        ({"openstack-api-version": "compute latest"}, 104),
        ({"openstack-api-version": "compute 2.1001"}, 1001),
        ({"openstack-api-version": "compute 2.1003"}, 1003),
    ],
)
def test_the_version_asked_for_is_served(headers, version):
    assert COMPUTE.asked(headers) == version


@pytest.mark.parametrize("number", ["2.105", "2.999", "2.1000", "2.1004", "2.0", "1.1", "3.1"])
def test_what_is_not_served_is_not_acceptable(number):
    with pytest.raises(NotAcceptable, match=r"Minimum is 2.1 and maximum is 2.104"):
        COMPUTE.asked({"openstack-api-version": f"compute {number}"})


@pytest.mark.parametrize("number", ["2", "2.01", "two", "2.1.1", ""])
def test_what_is_no_version_is_a_bad_request(number):
    with pytest.raises(BadRequest):
        COMPUTE.asked({"openstack-api-version": f"compute {number}"})


def test_our_own_address_advertises_our_versions_and_serves_what_lies_between_as_the_newest_of_the_community():
    assert OWN.asked({"openstack-api-version": "compute latest"}) == 1003
    assert OWN.asked({"openstack-api-version": "compute 2.500"}) == 104
    assert OWN.answer_headers(104)["OpenStack-API-Version"] == "compute 2.104"


def test_both_headers_tell_what_was_served():
    headers = COMPUTE.answer_headers(53)

    assert headers["OpenStack-API-Version"] == "compute 2.53"
    assert headers["X-OpenStack-Nova-API-Version"] == "2.53"
    assert "X-OpenStack-Nova-API-Version" in headers["Vary"]
