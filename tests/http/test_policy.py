"""The policy language: what each kind of check lets through."""

from pathlib import Path

import pytest

from kilonova.http.calls import Caller
from kilonova.http.policy import Policy, PolicyError, read_rules

ADMIN = Caller("u1", "p1", frozenset({"admin"}))
MEMBER = Caller("u2", "p2", frozenset({"member", "reader"}))
READER = Caller("u3", "p2", frozenset({"reader"}))


@pytest.mark.parametrize(
    ("check", "caller", "target", "verdict"),
    [
        ("", MEMBER, {}, True),
        ("@", MEMBER, {}, True),
        ("!", ADMIN, {}, False),
        ("role:admin", ADMIN, {}, True),
        ("role:Admin", ADMIN, {}, True),
        ("role:admin", MEMBER, {}, False),
        ("not role:admin", MEMBER, {}, True),
        ("role:member and role:reader", MEMBER, {}, True),
        ("role:member and role:reader", READER, {}, False),
        ("role:admin or role:member and project_id:%(project_id)s", MEMBER, {"project_id": "p2"}, True),
        ("role:admin or role:member and project_id:%(project_id)s", MEMBER, {"project_id": "p1"}, False),
        ("(role:admin or role:member) and project_id:%(project_id)s", ADMIN, {"project_id": "p2"}, False),
        ("project_id:%(project_id)s", MEMBER, {}, True),
        ("user_id:%(user_id)s", MEMBER, {"user_id": "u1"}, False),
        ("'public':%(visibility)s", MEMBER, {"visibility": "public"}, True),
        ("'public':%(visibility)s", MEMBER, {}, False),
        ("is_admin:True", ADMIN, {}, True),
        ("system_scope:all", ADMIN, {}, False),
        ("rule:other", ADMIN, {}, True),
    ],
)
def test_a_check_means_what_the_language_says(check, caller, target, verdict):
    policy = Policy({"asked": check, "other": "role:admin"})

    assert policy.allows("asked", caller, target) is verdict


@pytest.mark.parametrize(
    "check", ["role", "(role:admin", "role:admin)", "role:admin role:member", "not", "rule:nobody", "rule:asked"]
)
def test_a_check_that_cannot_be_read_is_refused_with_its_rule(check):
    with pytest.raises(PolicyError, match=r"asked|nobody"):
        Policy({"asked": check})


def test_an_override_replaces_the_default_and_what_refers_to_it():
    policy = Policy({"base": "role:admin", "asked": "rule:base"}, {"base": "role:member"})

    assert policy.allows("asked", MEMBER, {})
    assert not policy.allows("asked", ADMIN, {})


def test_rules_are_read_from_a_file_in_the_community_s_form(tmp_path: Path):
    file = tmp_path / "policy.yaml"
    file.write_text('# mine\n"placement:usages": "role:reader"\nadmin_api: "role:boss"\n')

    assert read_rules(file) == {"placement:usages": "role:reader", "admin_api": "role:boss"}


def test_a_file_without_rules_changes_nothing(tmp_path: Path):
    file = tmp_path / "policy.yaml"
    file.write_text("# nothing yet\n")

    assert read_rules(file) == {}


@pytest.mark.parametrize("content", ["- a\n", "a: [\n", "a: 1\n", b"\xff\xfe\x00"])
def test_a_file_that_holds_no_rules_is_refused_by_its_name(tmp_path: Path, content):
    file = tmp_path / "policy.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(PolicyError, match=r"policy\.yaml") as told:
        read_rules(file)

    assert "\n" not in str(told.value)


def test_a_missing_file_is_refused_by_its_name(tmp_path: Path):
    with pytest.raises(PolicyError, match="nowhere"):
        read_rules(tmp_path / "nowhere")
