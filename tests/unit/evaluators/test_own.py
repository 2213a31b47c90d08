"""What evaluators of others hand over is looked at before it is believed."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from builders import make_trace

from evalgate.errors import Location
from evalgate.evaluators.base import Evaluator, Finding
from evalgate.evaluators.core.assertion import Assertion
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.plugin_evaluator import compile_plugin


class Own(Evaluator):
    """Makes whatever a test wants it to make."""

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
        (True, "a Finding is due, not bool"),
        (("passed", ""), "a Finding is due, not tuple"),
        (Finding("good", ""), 'no outcome "good"'),
        (Finding(["passed"], ""), 'no outcome ["passed"]'),
        (Finding("passed", None), "its reason is NoneType"),
        (Finding("passed", "", None, 2.0), "its score is 2.0"),
        (Finding("passed", "", None, True), "its score is true"),
        (Finding("passed", "", None, float("nan")), "its score is null"),
        (Finding("passed", "", [1]), "its evidence is list"),
        (Finding("passed", "", {"a": object()}), "the check failed on this trace (TypeError)"),
    ],
)
def test_finding_that_is_none__is_an_error(finding, reason):
    row = assess(lambda _: finding)
    assert (row.outcome, row.score) == ("error", 0.0)
    assert reason in row.reason


def test_check_that_crashes__is_an_error():
    assert assess(lambda _: 1 / 0).reason == "the check failed on this trace (ZeroDivisionError)"


def test_finding__is_kept_with_its_reason_on_one_line():
    row = assess(lambda _: Finding("passed", "a\n b", {"x": 1}, 0.5))
    assert (row.outcome, row.reason, row.evidence, row.score) == ("passed", "a b", {"x": 1}, 0.5)


def test_evidence__that_a_check_goes_on_to_change_says_what_it_said():
    seen = {"traces": []}

    def check(trace):
        seen["traces"].append(trace.trace_id)
        return Finding("failed", "as ever", seen)

    made = compile_plugin(Own(makes=lambda: check))
    assertion = Assertion("own", "own", 1.0, False, False, made, Location("s"))
    rows = [assertion.assess(make_trace(trace_id=name)) for name in "abc"]
    assert [row.evidence for row in rows] == [{"traces": list("abc"[:count])} for count in (1, 2, 3)]


def test_reason_and_evidence_without_end__are_cut():
    row = assess(lambda _: Finding("failed", "x" * 9_000, {"a": "x" * 90_000}))
    assert len(row.reason) < 1_100
    assert row.evidence == {"left_out": "more than 20000 bytes"}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Own(makes=lambda: {}["a"]), "fails on these settings (KeyError)"),
        (Own(makes=lambda: 5), "makes no label or no check"),
        (Nameless(makes=lambda: len), "makes no label or no check"),
    ],
)
def test_settings_it_fails_on__are_a_mistake_in_the_suite(settings, told):
    with pytest.raises(FieldProblemError, match="own evaluator") as caught:
        compile_plugin(settings)
    assert told in caught.value.problem.message
