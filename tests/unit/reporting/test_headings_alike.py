"""The verdict of a run has one colour and one sentence in comment, terminal and page."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from page_builders import a_page
from results_builder import a_change, a_reason, a_scenario, a_suite, results

from evalgate.models.comparison.behaviour import BehaviourDifference
from evalgate.reporting.markdown.render import render_comment
from evalgate.reporting.terminal.run_table import render_table

SIGNS = {"\u2705": "good", "\U0001f7e1": "warn", "\u274c": "bad", "\u26d4": "bad"}
COLOURS = {"\x1b[32m": "good", "\x1b[33m": "warn", "\x1b[31m": "bad"}


def a_run(
    verdict: str, kind: str = "unchanged", *, differs: bool = False, report_only: bool = False, code: str = ""
) -> Any:
    change = a_change(kind, previous_verdict="PASS")
    scenario = a_scenario("refund", "FAIL" if kind == "broken" else "PASS", change)
    if differs:
        scenario["differences"] = [BehaviourDifference("calls", "calls", "a", "b", 4, 4)]
    document = results([a_suite("support", [scenario], "fail" if kind == "broken" else "pass")], verdict)
    document["baseline"] = {
        **dict.fromkeys(("sha", "age_seconds", "path", "distance")),
        "status": "given",
        "summary": document["summary"],
    }
    document["report_only"] = report_only
    document["reasons"] = [a_reason(code, "it broke", scenario="refund", suite="support")] if code else []
    return document


@pytest.mark.parametrize(
    ("run", "tone"),
    [
        (a_run("pass"), "good"),
        (a_run("pass", differs=True), "warn"),
        (a_run("pass", "broken"), "warn"),
        (a_run("fail", "broken", code="broken"), "bad"),
        (a_run("fail", "broken", code="broken", report_only=True), "bad"),
        (a_run("cannot_judge", code="min_evaluated"), "bad"),
        (a_run("cannot_judge", code="no_baseline", report_only=True), "warn"),
        (a_run("invalid", code="no_report"), "bad"),
    ],
)
def test_verdict_has_one_colour_and_one_sentence_in_every_report(run: Any, tone: str) -> None:
    sign, _, said = render_comment(run, key="evalgate").split("\n## ")[1].split("\n")[0].partition(" EvalGate ")
    colour, printed = re.findall("(\x1b\\[3.m)EvalGate (.*?)\x1b", render_table(run, colour=True, width=1_000))[-1]
    shown, titled = re.findall('<h1 class="([a-z]+)">EvalGate (.*?)</h1>', a_page(run, {}))[0]

    assert (SIGNS[sign], COLOURS[colour], shown) == (tone, tone, tone)
    assert re.sub("` (.*?) `", r"\1", said).replace("\u2192", "->") == printed == unescape(titled)
