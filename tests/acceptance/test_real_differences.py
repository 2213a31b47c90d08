"""The reported differences between real traces of one task by two versions of an agent."""

from __future__ import annotations

import pytest
from command import evalgate

pytestmark = pytest.mark.shared

SUITE = """version: 1
suite: retail
traces: [nothing.json]
scenarios:
  - id: "*"
    assertions:
      - {type: recorded_score, name: reward, min: 1.0, required: true}
"""
MAIN = "gpt-4.1_retail_defautl_gpt-4.1_1trials.json"
TUNED = "ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm_retail_default_gpt-4.1_1trials.json"


def test_every_broken_task_reports_which_calls_and_words_differ(shared, tmp_path):
    traces = shared / "traces/tau2-bench"
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    evalgate(tmp_path, ["suite.yaml", "--traces", str(traces / MAIN), "--output-dir", "main"])
    arguments = ["--traces", str(traces / TUNED), "--baseline", "main/baseline.zip", "--no-baseline-zip"]
    ran = evalgate(tmp_path, ["suite.yaml", *arguments])

    changes = {each["id"]: each["change"] for each in ran.results["suites"][0]["scenarios"]}
    behaviours = {id_: change["behaviour"] for id_, change in changes.items() if "behaviour" in change}
    assert behaviours.keys() == {id_ for id_, change in changes.items() if change["kind"] == "broken"}
    assert len(behaviours) == 6
    for id_, behaviour in behaviours.items():
        calls = changes[id_]["calls"]
        for side, other in (
            ("before", "added"),
            ("now", "removed"),
        ):  # in whatever order: calls of one message have none
            shown = [(each[side]["call"], each["name"]) for each in behaviour["steps"] if each["kind"] != other]
            assert sorted(shown) == list(enumerate(calls[side], 1))
        assert behaviour["first"] is not None
        assert behaviour["response"]
    exchange = behaviours["18"]["steps"][-1]
    assert (exchange["kind"], exchange["name"]) == ("removed", "exchange_delivered_order_items")
    assert exchange["before"] == {"turn": 9, "call": 5}
    assert '- exchange_delivered_order_items {"item_ids":["8069050545"]' in ran.text("comment.md")
