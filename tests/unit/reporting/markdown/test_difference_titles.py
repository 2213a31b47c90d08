from __future__ import annotations

import pytest
from results_builder import a_change, a_scenario, a_suite, results

from evalgate.models.comparison.behaviour import BehaviourDifference
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
