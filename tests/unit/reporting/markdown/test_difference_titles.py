from __future__ import annotations

import pytest
from results_builder import a_baseline, a_change, a_scenario, a_suite, results

from evalgate.models.comparison.behaviour import BehaviourDifference
from evalgate.reporting.markdown.heading import build_heading
from evalgate.reporting.markdown.render import render_comment

OTHER_SETUP = "Passing, with another prompt, tools or settings (1)"


@pytest.mark.parametrize(
    ("kinds", "title"),
    [
        (["prompt"], OTHER_SETUP),
        (["tools"], OTHER_SETUP),
        (["model"], "Passing, but acting differently (1)"),
        (["argument", "prompt"], "Passing, but acting differently (2)"),
    ],
)
def test_only_what_acts_differently_is_said_to(kinds, title):
    found = [BehaviourDifference(kind, kind, "1", "2", 3, 3) for kind in kinds]
    scenario = {**a_scenario("a", change=a_change("unchanged")), "differences": found}
    text = render_comment(results([a_suite("s", [scenario])]), key="k")
    assert f"<summary>{title}</summary>" in text
    assert ("No check fails" in text) is (title != OTHER_SETUP)


@pytest.mark.parametrize(("before", "is_named"), [(0.9, True), (1.1, False), (None, False)])
def test_a_run_that_is_three_times_as_slow_and_a_second_slower_says_so(before: float | None, is_named: bool) -> None:
    found = results([a_suite("s", [a_scenario("a", change=a_change("unchanged"))])])
    assert found["summary"]["latency_p50_s"] == 2.0
    slow = {**found["summary"], "latency_p50_s": 3.0}
    baseline = a_baseline(branch="main", summary={**found["summary"], "latency_p50_s": before})
    heading = build_heading({**found, "summary": slow, "baseline": baseline})
    assert (heading.sign, "; latency +" in heading.text) == ("\u2705", is_named)
