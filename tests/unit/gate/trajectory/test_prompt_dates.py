"""A date in the system prompt is a change if it is none of the run: neither near its day, nor moved with it."""

from __future__ import annotations

import pytest

from evalgate.gate.trajectory.cause import compare_agents, find_steady_prompts
from evalgate.models.run.trial_doc import AgentParts


def parts(*dates: str | None, prompt: str = "p") -> list[AgentParts]:
    return [AgentParts(None, None, prompt, prompt_dates=each) for each in dates]


def prompts(before, now, *others):
    found = compare_agents(before, now, find_steady_prompts([*before, *others]))
    return found and found.prompts


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (["2026-11-28 2020-01-01"], ["2026-11-29 2099-01-01"]),
        (["2026-11-28 2020-01-01"] * 3, ["2026-11-29 2020-01-12"] * 3),
        (["2026-11-28 2026-11-28 2020-01-01"], ["2026-11-29 2026-11-29 2021-01-01"]),
        (["2026-11-28 2026-11-30"], ["2026-11-29 2099-01-01"]),
        (["2026-11-28 2020-01-01"], ["2026-11-29 2020-01-01 2021-01-01"]),
    ],
)
def test_another_date_of_the_prompt_is_another_prompt(before, now):
    assert prompts(parts(*before), parts(*now)) == ("p", "p")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (["2026-11-28 2020-01-01"], ["2026-11-29 2020-01-01"]),
        (["2026-11-28 2026-11-28"], ["2027-02-01 2027-02-01"]),  # today
        (["2026-11-28 2026-11-27"], ["2027-02-01 2027-02-02"]),  # near the day, in another time zone
        (["2026-11-28 2027-11-28"], ["2026-11-29 2027-11-29"]),  # a year after the run
        (["2026-11-28 2026-12-01"], ["2027-02-03 2027-03-01"]),  # the next month
        (["2026-11-28 2026-02-30"], ["2026-11-29 2026-02-31"]),  # no dates
        ([None], ["2026-11-29 2099-01-01"]),  # a baseline of before, or no date in it
        (["2026-11-28 2020-01-01"], [None]),
        (["2026-11-28 1990-05-01", "2026-11-28 1985-03-02"], ["2026-11-29 1971-05-01"]),  # of each trial
        (["2026-11-28 1990-05-01"] * 2, ["2026-11-29 1971-05-01", "2026-11-29 1972-05-01"]),
    ],
)
def test_a_date_of_the_run_or_of_a_trial_is_none(before, now):
    assert prompts(parts(*before), parts(*now)) is None


def test_dates_that_differ_between_scenarios_of_the_baseline_are_those_of_their_requests():
    others = parts("2026-11-28 1985-03-02")
    assert prompts(parts("2026-11-28 1990-05-01"), parts("2026-11-29 1971-05-01"), *others) is None
