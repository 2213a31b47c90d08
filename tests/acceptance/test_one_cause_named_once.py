"""A real change of model: six tasks regressed, and no price is known for the new model in any of the forty."""

from __future__ import annotations

import re

import pytest
from command import evalgate
from markdown_check import read_text

pytestmark = pytest.mark.shared

SUITE = """version: 1
suite: retail
traces: [nothing.json]
scenarios:
  - id: "*"
    assertions:
      - {type: recorded_score, name: reward, required: true}
      - {type: cost_limit, max_usd: 0.2}
      - {type: max_tool_errors, max: 2}
      - {type: turn_limit, max_turns: 20}
policy: {fail_on: [hard_fail, broken, below_threshold]}
"""
MAIN = "gpt-4.1_retail_defautl_gpt-4.1_1trials.json"
TUNED = "ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm_retail_default_gpt-4.1_1trials.json"
REGRESSED = ["18", "27", "33", "64", "71", "111"]
NO_PRICE = "cost unknown: no price is known for ft:gpt-4.1-2025-04-14:sierra:tau2-full-sft:BzrYdMNm"


@pytest.fixture(scope="module")
def ran(shared, tmp_path_factory):
    traces, folder = shared / "traces/tau2-bench", tmp_path_factory.mktemp("ran")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    evalgate(folder, ["suite.yaml", "--traces", str(traces / MAIN), "--output-dir", "main"])
    arguments = ["--traces", str(traces / TUNED), "--baseline", "main/baseline.zip", "--no-baseline-zip"]
    return evalgate(folder, ["suite.yaml", *arguments])


def failing(ran):
    return [each["id"] for each in ran.results["suites"][0]["scenarios"] if each["verdict"] != "PASS"]


def test_the_gate_fails_as_before(ran):
    summary = ran.results["summary"]
    assert (ran.code, summary["hard_fails"], summary["failed"], summary["broken"]) == (1, 6, 34, 34)
    assert len(failing(ran)) == 40


def test_the_terminal_has_the_regressions_first_and_the_missing_price_once(ran):
    lines = ran.stdout.splitlines()
    assert len(lines) <= 40
    assert lines[:3] == [
        "HARD FAIL     6 scenarios   0.50  broken",
        "    reward: reward is 0, expected at least 1",
        f"    in {', '.join(REGRESSED)}",
    ]
    assert " ".join(ran.stdout.split()).count(f"cost <= 0.2 USD: not evaluable in 40 scenarios: {NO_PRICE}") == 1
    assert ran.stdout.count("not evaluable") == 2  # once more in the totals
    assert ran.stdout.count("single") == 1
    assert (
        "6 scenarios broke, known failure 55 got worse, 5 known failures fail another check and 28 can't" in lines[-1]
    )
    assert lines[-1].endswith("be judged any more (cost is no longer recorded)")
    names = set(re.split(r"[\s,]+", ran.stdout))
    assert [each for each in failing(ran) if each not in names] == []


@pytest.mark.parametrize("name", ["comment.md", "summary.md"])
def test_the_reports_have_the_regressions_first_and_the_missing_price_once(ran, name):
    text = ran.text(name)
    regressions, _, lost = text.partition("### Lack of evidence (33)")
    assert "### Failures (7)" in regressions
    assert ", ".join(f"` {each} `" for each in REGRESSED) in regressions
    assert regressions.count(": ` reward ` is 0, expected at least 1\n") == 1
    assert NO_PRICE not in read_text(regressions)
    assert read_text(lost).count(NO_PRICE) == 1
    assert text.count("single trial") == 1
    assert [each for each in failing(ran) if f"` {each} `" not in text] == []
