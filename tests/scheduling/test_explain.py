from dataclasses import replace

import orjson

from kilonova.domain.resources import Miss
from kilonova.scheduling.explain import details, from_json, message, to_json

from .cloud import REQUEST, HostLine, codes_of, decide, image, root_of, snapshot

THREE = (HostLine("h1"), HostLine("h2"), HostLine("h3", enabled=False))


def lacking(*hosts: str, asked: int = 64, most_free: int | None = 48, subject: str = "VCPU") -> Miss:
    return Miss(LACKING, subject, tuple(root_of(host) for host in hosts), asked, most_free)


LACKING, NO_TRAIT, HAS_TRAIT = "resource.capacity", "trait.missing", "trait.forbidden"


def test_the_message_counts_in_words_and_tells_the_nearest_miss() -> None:
    explanation = decide(REQUEST, snapshot(*THREE, misses=(lacking("h1", "h2"),))).explanation
    assert message(explanation, amounts=True) == (
        "No valid host was found. 3 hosts were looked at: 2 lack VCPU (64 asked, the most free is 48), 1 is disabled."
    )
    assert message(explanation, amounts=False) == ("No valid host was found. 3 hosts were looked at: 2 lack VCPU, 1 is disabled.")


def test_each_of_three_hosts_falls_by_its_own_reason() -> None:
    """Case C049: counts for users, names for administrators only."""
    misses = (
        lacking("h1", asked=8192, most_free=4096, subject="MEMORY_MB"),
        Miss(NO_TRAIT, "CUSTOM_X", (root_of("h2"),)),
    )
    explanation = decide(REQUEST, snapshot(*THREE, misses=misses)).explanation
    text = message(explanation, amounts=True)
    assert text == (
        "No valid host was found. 3 hosts were looked at: 1 lacks MEMORY_MB (8192 asked, the most free is 4096), "
        "1 lacks the trait CUSTOM_X, 1 is disabled."
    )
    assert not any(host in text for host in ("h1", "h2", "h3"))
    assert details(explanation).splitlines() == [
        "3 hosts were looked at.",
        "",
        "HOSTS  REASON                                               NAMES",
        "    1  lacks MEMORY_MB (8192 asked, the most free is 4096)  h1",
        "    1  lacks the trait CUSTOM_X                             h2",
        "    1  is disabled                                          h3",
    ]


def test_one_host_is_told_of_in_the_singular() -> None:
    explanation = decide(REQUEST, snapshot(HostLine("h1", up=False))).explanation
    assert message(explanation, amounts=True) == "No valid host was found. 1 host was looked at: it is down."


def test_no_hosts_at_all_is_said() -> None:
    assert message(decide(REQUEST, snapshot()).explanation, True) == ("No valid host was found. There are no hosts to look at.")


def test_a_host_counts_under_its_first_reason_only() -> None:
    misses = (lacking("h1", "h3"), Miss(NO_TRAIT, "CUSTOM_X", (root_of("h1"), root_of("h2"))))
    decision = decide(REQUEST, snapshot(*THREE, misses=misses))
    assert codes_of(decision) == {LACKING: ["h1", "h3"], NO_TRAIT: ["h2"]}
    assert decision.explanation.looked_at == 3


def test_misses_of_one_kind_are_told_together_with_the_nearest_of_them() -> None:
    misses = (lacking("h1", most_free=3), lacking("h2", most_free=48), lacking("h3", most_free=-2))
    (reason,) = decide(REQUEST, snapshot(*THREE, misses=misses)).explanation.reasons
    assert (reason.hosts, reason.most_free) == (3, 48)


def test_the_ledgers_mark_of_a_disabled_host_is_told_as_what_it_is() -> None:
    misses = (Miss(HAS_TRAIT, "COMPUTE_STATUS_DISABLED", (root_of("h3"),)),)
    assert codes_of(decide(REQUEST, snapshot(*THREE, misses=misses))) == {"host.disabled": ["h3"]}


def test_a_host_that_the_ledger_does_not_know_is_told_of() -> None:
    cloud = snapshot(*THREE[:2])
    explanation = decide(REQUEST, replace(cloud, matched_root_ids=cloud.matched_root_ids[:0])).explanation
    assert message(explanation, True) == ("No valid host was found. 2 hosts were looked at: 2 offer no such resources.")


def test_hosts_that_stood_are_told_of_when_the_plan_failed_later() -> None:
    request = replace(REQUEST, exclude_hosts=frozenset(("h1",)))
    explanation = decide(request, snapshot(*THREE)).explanation
    assert message(explanation, True).endswith("1 was tried and failed, 1 is disabled, 1 would do.")
    assert details(explanation).splitlines()[-1].split() == ["0.000", "h2"]


def test_only_the_host_asked_for_is_looked_at() -> None:
    misses = (lacking("h1"), Miss("tree", "uuid", (root_of("h2"),)))
    asked = replace(REQUEST, only_host="h1")
    assert message(decide(asked, snapshot(*THREE, misses=misses)).explanation, True) == (
        "No valid host was found. 1 host was looked at: it lacks VCPU (64 asked, the most free is 48)."
    )
    assert not decide(replace(REQUEST, only_host="h9"), snapshot(*THREE)).explanation.looked_at


def test_what_the_image_asked_is_told() -> None:
    request = replace(REQUEST, image=image(hw_architecture="aarch64", img_hv_requested_version=">=6"))
    assert message(decide(request, snapshot(*THREE[:2])).explanation, True).endswith(
        "2 hosts were looked at: 2 cannot run the image (aarch64 >=6)."
    )


def test_names_and_scores_are_bounded() -> None:
    lines = tuple(HostLine(f"h{number}", up=number > 1200) for number in range(1, 1301))
    explanation = decide(REQUEST, snapshot(*lines)).explanation
    assert (explanation.reasons[0].hosts, len(explanation.reasons[0].names)) == (1200, 1000)
    assert (explanation.stood, len(explanation.scores)) == (100, 20)
    assert "and 200 more" in details(explanation)


def test_an_explanation_survives_json() -> None:
    explanation = decide(REQUEST, snapshot(*THREE, misses=(lacking("h1"),))).explanation
    assert from_json(orjson.loads(orjson.dumps(to_json(explanation)))) == explanation
