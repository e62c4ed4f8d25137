"""The lifecycle table: which event may meet which state, and what users see."""

import pytest

from kilonova.domain.errors import Conflict
from kilonova.domain.lifecycle import EVENTS, State, after, states_of_status, status


@pytest.mark.parametrize(
    ("event", "before", "then"),
    [
        ("create", State("building"), State("building", "scheduling")),
        ("placed", State("building", "scheduling"), State("building", "spawning")),
        ("built", State("building", "spawning"), State("active", None, 1)),
        ("buried", State("building", "scheduling"), State("error", None, 0)),
        ("stop", State("active", None, 1), State("active", "powering-off", 1)),
        ("stopped", State("active", "powering-off", 1), State("stopped", None, 4)),
        ("delete", State("active", "powering-off", 1), State("active", "deleting", 1)),
        ("reboot-hard", State("stopped", None, 4), State("stopped", "rebooting_hard", 4)),
    ],
)
def test_an_event_moves_a_server(event, before, then):
    assert after(event, before) == then


@pytest.mark.parametrize(
    ("event", "before"),
    [
        ("start", State("active")),
        ("stop", State("building", "spawning")),
        ("reboot", State("stopped")),
        ("stop", State("active", "rebooting")),
    ],
)
def test_an_event_that_may_not_meet_a_state_is_a_conflict_in_the_community_s_words(event, before):
    with pytest.raises(Conflict, match=r"while it is in (vm|task)_state"):
        after(event, before, "s1")


@pytest.mark.parametrize(
    ("vm", "task", "seen"),
    [
        ("active", None, "ACTIVE"),
        ("active", "rebooting", "REBOOT"),
        ("active", "rebooting_hard", "HARD_REBOOT"),
        ("active", "powering-off", "ACTIVE"),
        ("building", "spawning", "BUILD"),
        ("stopped", None, "SHUTOFF"),
        ("error", None, "ERROR"),
    ],
)
def test_users_see_the_community_s_statuses(vm, task, seen):
    assert status(vm, task) == seen
    assert any(pair[0] == vm for pair in states_of_status(seen))


def test_every_event_leads_to_a_state_that_has_a_status():
    for event, rule in EVENTS.items():
        if rule.vm is not None:
            assert status(rule.vm, rule.task), event
