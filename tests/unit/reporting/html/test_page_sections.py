"""Parts of the HTML page: the sentence about the first difference, goldens, approvals, history, and cut texts."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from documents import ROOT
from page_builders import a_large_run, a_page, a_small_page, an_approval

from evalgate.reporting.html.difference import build_difference
from evalgate.reporting.text.escaping import clean_page_text

CALL = {"arguments": "{}", "changes": [], "changes_left": 0}


def a_step(kind, name, before=None, now=None, **changes):
    sides = [None if number is None else {"turn": 2, "call": number} for number in (before, now)]
    return {**CALL, "kind": kind, "name": name, "before": sides[0], "now": sides[1], **changes}


def describe(*steps, what="calls"):
    """The sentence about the first difference of these steps."""
    first = {"turn": 1, "what": what, "before": 1, "now": None}
    found = {"trial_before": 0, "trial": 0, "first": first, "steps": list(steps), "steps_left": 0}
    difference = build_difference({"behaviour": {**found, "said": [], "response": [], "figures": []}})
    return "`".join(difference.first)


SAME = a_step("same", "search", 1, 1)


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (
            [SAME, a_step("removed", "check", 2), a_step("added", "refund", None, 2)],
            "The agent no longer calls `check` (call 2 of the baseline, turn 2), but calls `refund` (call 2, turn 2).",
        ),
        (
            [SAME, a_step("removed", "check", 2), a_step("removed", "refund", 3)],
            "The agent no longer calls `check` (call 2 of the baseline, turn 2) and makes no further call.",
        ),
        (
            [a_step("removed", "check", 1), a_step("same", "search", 2, 1)],
            "The agent no longer calls `check` (call 1 of the baseline, turn 2).",
        ),
        ([a_step("added", "x", None, 1)], "The agent calls `x` (call 1, turn 2), which it did not do in the baseline."),
        ([a_step("changed", "x", 1, 1)], "The agent calls `x` with other arguments (call 1, turn 2)."),
        (
            [a_step("same", "x", 1, 1, outcome={"before": "ok", "now": "error"})],
            "The call of `x` ended otherwise (call 1, turn 2).",
        ),
        ([SAME], "The calls are the same; the first difference is call 1 of the baseline in turn 1, which is missing."),
    ],
)
def test_first_difference_is_a_sentence_about_what_the_agent_did_instead(steps, sentence):
    assert describe(*steps) == sentence


def test_difference_before_the_first_call_is_named_after_it():
    assert describe(a_step("changed", "x", 1, 1), what="user") == (
        "The agent calls `x` with other arguments (call 1, turn 2). Before that, the user's message in turn 1 differs."
    )


def read(page):
    """The text of a page."""
    return " ".join(unescape(re.sub("<(style|script).*?</(style|script)>|<[^>]+>", " ", page, flags=re.DOTALL)).split())


def test_golden_shows_its_dimensions_and_issues():
    path = ROOT / "tests/acceptance/cases/golden_conversation_degraded/expected/results.json"
    document = json.loads(path.read_text())
    scenario = next(each for each in document["suites"][0]["scenarios"] if each.get("golden"))
    text = read(a_page(document, {}))

    assert f"version {scenario['golden']['version']}" in text
    for issue in scenario["golden"]["issues"]:
        assert issue["message"].replace("`", "").split()[-1] in text
    for move in scenario["golden"]["moves"]:
        assert move["dimension"].replace("_", " ") in text


def test_scenario_shows_who_approved_it_and_the_page_lists_all_approvals():
    text = read(a_small_page("refund"))

    assert "Approval approved, of refund, refund, by refund" in text
    assert "Approvals (1)" in text


def test_approval_of_another_scenario_is_only_listed():
    document = a_large_run(1, 1, 1)
    document["approvals"] = [an_approval("other")]
    text = read(a_page(document, {}))

    assert "Approvals (1)" in text
    assert "Approval approved" not in text


def test_history_is_a_line_and_a_table_of_the_newest_run_first():
    document = a_large_run(1, 1, 1)
    runs = [
        {
            "at": f"2026-03-0{day}T10:00:00Z",
            "commit": "c" * 40,
            "verdict": "pass",
            "score": score,
            "pass_rate": 0.5,
            "cost_usd": None,
        }
        for day, score in ((1, 0.0), (2, None), (3, 1.0))
    ]
    document["history"] = {"branch": "main", "runs": runs, "flaky": [], "flaky_left": 0}
    page = a_page(document, {})

    assert "The last 3 runs of main" in page
    assert 'points="0.0,38.0 300.0,2.0"' in page
    assert re.findall("2026-03-0[0-9] 10:00", page) == ["2026-03-03 10:00", "2026-03-02 10:00", "2026-03-01 10:00"]


@pytest.mark.parametrize("limit", [2_000, 20_000])
@pytest.mark.parametrize("between", ["", "\u200b"])
def test_no_secret_that_is_cut_in_two_shows_although_others_before_it_are_redacted(limit, between):
    secret = "ghp_" + "a1B2" * 9
    hidden = between.join(secret)
    for filler in (1_000, 1_007, 1_013):
        text = (secret + " ") * 500 + "x" * filler + " " + (hidden + "y" * 3 + " ") * 100
        for start in range(0, 40, 7):
            shown = clean_page_text(text[start:], limit)
            assert "ghp_" not in shown.replace("\\u{200b}", "")
            assert len(shown) < limit + 100
