"""The minute that a run gives GitHub: how it is spent, and what holds when it is used up."""

from __future__ import annotations

import time

import pytest
from fakes.agent import on_main, own_comments

from evalgate.adapters.http import WHOLE_RUN_SECONDS, RequestDeadline

PACE = 0.02
EVERYTHING = {
    "hanging": {"kind": "hang", "seconds": 2},
    "dripping": {"kind": "drip", "chunk": 1, "interval": 0.1},
    "down": {"kind": "status", "status": 503},
    "resetting": {"kind": "reset"},
    "asking to wait": {"kind": "secondary_rate_limit", "retry_after": 25},
    "out of requests": {"kind": "primary_rate_limit", "reset_in": 20},
    "out of requests for an hour": {"kind": "primary_rate_limit", "reset_in": 3_600},
}


class Spent(RequestDeadline):
    """A minute that passes fast and keeps what was waited."""

    def __init__(self):
        self.pauses = []
        super().__init__(pace=PACE, sleep=self._pause)

    def _pause(self, seconds):
        self.pauses.append(round(seconds / PACE, 1))
        time.sleep(seconds)


@pytest.mark.parametrize("fault", EVERYTHING.values(), ids=EVERYTHING)
@pytest.mark.parametrize(
    "listener", ["api", *(pytest.param(name, marks=pytest.mark.matrix) for name in ("results", "blob"))]
)
def test_with_a_part_of_github_failing_the_run_ends_in_time_with_its_verdict(hub, act, fault, listener):
    on_main(hub)
    hub.fail(fault, times=-1, listener=listener)
    started, budget = time.monotonic(), Spent()
    step = act("push", budget=budget, upload_baseline="true")
    assert time.monotonic() - started < WHOLE_RUN_SECONDS * PACE + 3
    assert (step.exit_code, step.outputs["verdict"]) == (0, "pass")
    assert step.outputs["baseline-status"] == ("unreachable" if listener == "api" else "none")
    assert sum(budget.pauses) < WHOLE_RUN_SECONDS


def test_before_the_verdict_at_most_half_of_the_minute_is_spent_so_that_the_comment_still_comes(hub, act):
    hub.plant()
    hub.fail({"kind": "hang", "seconds": 2}, times=-1, op="actions/list-artifacts-for-repo")
    step = act(budget=Spent())
    assert step.outputs["baseline-status"] == "unreachable"
    assert len(own_comments(hub)) == 1


def test_a_wait_that_github_requests_is_respected(hub, act):
    budget = Spent()
    hub.fail({"kind": "secondary_rate_limit", "retry_after": 7}, op="issues/create-comment")
    act(budget=budget)
    assert budget.pauses == [7.0]
    assert len(own_comments(hub)) == 1


def test_the_reset_of_the_hours_limit_is_waited_for_where_it_is_near(hub, act):
    budget = Spent()
    hub.fail({"kind": "primary_rate_limit", "reset_in": 9}, op="issues/list-comments")
    act(budget=budget)
    assert len(budget.pauses) == 1
    assert 7 <= budget.pauses[0] <= 9
    assert len(own_comments(hub)) == 1


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [
        ("hard_fail", 0),
        ("hard_fail,below_threshold,not_evaluable", 0),
        ("regression", 4),
        ("broken", 4),
        ("new_hard_fail", 4),
        ("no_baseline", 4),
    ],
)
def test_with_github_down_only_a_decision_that_needs_it_is_4(hub, act, fail_on, code):
    hub.fail({"kind": "status", "status": 503}, times=-1)
    step = act(budget=Spent(), fail_on=fail_on)
    assert (step.exit_code, step.outputs["exit-code"]) == (code, str(code))
    assert step.outputs["baseline-status"] == "unreachable"
