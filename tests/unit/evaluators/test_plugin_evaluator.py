"""Findings of plugin evaluators are validated before use."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from builders import make_trace

from evalgate.errors import Location
from evalgate.evaluators.base import Evaluator, Finding
from evalgate.evaluators.core.assertion import Assertion
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.parse import compile_plugin


class Own(Evaluator):
    """Returns whatever a test configures."""

    type: Literal["own"] = "own"
    makes: Any = None

    def label(self):
        return "own"

    def compile(self):
        return self.makes()


class Nameless(Own):
    def label(self):
        return None


def assess(check):
    made = compile_plugin(Own(makes=lambda: check))
    return Assertion("own", "own", 1.0, False, False, made, Location("s")).assess(make_trace())


@pytest.mark.parametrize(
    ("finding", "reason"),
    [
        (True, "expected a Finding, got bool"),
        (("passed", ""), "expected a Finding, got tuple"),
        (Finding("good", ""), 'unknown outcome "good"'),
        (Finding(["passed"], ""), 'unknown outcome ["passed"]'),
        (Finding("passed", None), "expected text as reason, got NoneType"),
        (Finding("passed", "", None, 2.0), "expected a score from 0 to 1, got 2.0"),
        (Finding("passed", "", None, True), "expected a score from 0 to 1, got true"),
        (Finding("passed", "", None, float("nan")), "expected a score from 0 to 1, got null"),
        (Finding("passed", "", [1]), "expected a dict as evidence, got list"),
        (Finding("passed", "", {"a": object()}), "the check crashed on this trace (TypeError)"),
    ],
)
def test_invalid_finding__is_an_error(finding, reason):
    row = assess(lambda _: finding)
    assert (row.outcome, row.score) == ("error", 0.0)
    assert reason in row.reason


def test_check_that_crashes__is_an_error():
    assert assess(lambda _: 1 / 0).reason == "the check crashed on this trace (ZeroDivisionError)"


def test_finding__is_kept_with_its_reason_on_one_line():
    row = assess(lambda _: Finding("passed", "a\n b", {"x": 1}, 0.5))
    assert (row.outcome, row.reason, row.evidence, row.score) == ("passed", "a b", {"x": 1}, 0.5)


def test_evidence__that_a_check_later_changes_keeps_its_first_content():
    seen = {"traces": []}

    def check(trace):
        seen["traces"].append(trace.trace_id)
        return Finding("failed", "as ever", seen)

    made = compile_plugin(Own(makes=lambda: check))
    assertion = Assertion("own", "own", 1.0, False, False, made, Location("s"))
    rows = [assertion.assess(make_trace(trace_id=name)) for name in "abc"]
    assert [row.evidence for row in rows] == [{"traces": list("abc"[:count])} for count in (1, 2, 3)]


def test_reason_and_evidence_that_are_too_long__are_cut():
    row = assess(lambda _: Finding("failed", "x" * 9_000, {"a": "x" * 90_000}))
    assert len(row.reason) < 1_100
    assert row.evidence == {"left_out": "more than 20000 bytes"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Own(makes=lambda: {}["a"]), "failed on these settings (KeyError)"),
        (Own(makes=lambda: 5), "returned an invalid label or check"),
        (Nameless(makes=lambda: len), "returned an invalid label or check"),
    ],
)
def test_settings_it_fails_on__are_an_error_of_the_suite(settings, message):
    with pytest.raises(FieldProblemError, match='plugin evaluator "own"') as caught:
        compile_plugin(settings)
    assert message in caught.value.problem.message
