"""A check that failed scores below 1, and a score is read on the scale on which it was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from hostile.suite_edits import trace, write

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

FAIL_ON = ["--fail-on", "hard_fail,broken,below_threshold,not_evaluable"]


def judge(folder: Path, check: dict[str, Any], value: float, *, threshold: float = 1.0) -> CommandResult:
    """A run of one scenario with one check, whose trace records the score `help`."""
    scenario = {"id": "refund", "threshold": threshold, "assertions": [check]}
    suite = {"version": 1, "suite": "refund", "traces": ["traces/*"], "scenarios": [scenario]}
    write(folder, {"suite.yaml": suite, "traces/a.json": trace("ok", scores={"help": value})})
    return evalgate(folder, ["suite.yaml", *FAIL_ON])


def check_of(ran: CommandResult) -> dict[str, Any]:
    found: dict[str, Any] = ran.results["suites"][0]["scenarios"][0]["trials"][0]["assertions"][0]
    return found


def warnings_of(ran: CommandResult) -> list[str]:
    return [each["message"] for each in ran.results["warnings"] if each["code"] == "score_without_range"]


def recorded(**settings: Any) -> dict[str, Any]:
    return {"type": "recorded_score", "name": "help", **settings}


def test_a_failed_score_on_a_longer_scale_does_not_score_1(tmp_path):
    ran = judge(tmp_path, recorded(min=4), 1.5)
    assert ran.code == 1
    assert (check_of(ran)["outcome"], check_of(ran)["score"]) == ("failed", 0.0)


@pytest.mark.parametrize(("value", "outcome", "score"), [(4, "passed", 1.0), (-2, "failed", 0.0), (9, "passed", 1.0)])
def test_a_score_outside_0_to_1_without_a_range_scores_1_or_0_with_one_warning(tmp_path, value, outcome, score):
    ran = judge(tmp_path, recorded(min=4), value)
    assert (check_of(ran)["outcome"], check_of(ran)["score"]) == (outcome, score)
    (warning,) = warnings_of(ran)
    assert "help" in warning
    assert "range: [1, 5]" in warning


def test_a_score_within_0_and_1_gives_no_warning(tmp_path):
    ran = judge(tmp_path, recorded(min=0.5), 0.75, threshold=0.5)
    assert (ran.code, check_of(ran)["score"], warnings_of(ran)) == (0, 0.75, [])


@pytest.mark.parametrize(("value", "outcome", "score"), [(1.5, "failed", 0.125), (4, "passed", 0.75), (5, "passed", 1)])
def test_a_range_scores_the_position_in_it(tmp_path, value, outcome, score):
    ran = judge(tmp_path, recorded(min=4, range=[1, 5]), value, threshold=0.5)
    assert (check_of(ran)["outcome"], check_of(ran)["score"]) == (outcome, score)
    assert ran.code == (0 if outcome == "passed" else 1)
    assert not warnings_of(ran)


@pytest.mark.parametrize("value", [0.99, 5.01, -3, 1e6])
def test_a_value_outside_its_range_is_no_evidence(tmp_path, value):
    ran = judge(tmp_path, recorded(min=4, range=[1, 5]), value)
    assert check_of(ran)["outcome"] == "not_evaluable"
    assert ran.code != 0


def test_without_min_a_range_demands_its_upper_end(tmp_path):
    assert judge(tmp_path, recorded(range=[1, 5]), 4.9).code == 1
    assert judge(tmp_path / "full", recorded(range=[1, 5]), 5).code == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"range": [5, 1]}, "range"),
        ({"range": [1, 1]}, "range"),
        ({"range": [1]}, "range"),
        ({"range": [-1e308, 1e308], "min": 0}, "range"),
        ({"range": [1, 5], "min": 6}, "min"),
        ({"range": [1, 5], "min": 1}, "min"),
        ({"range": [1, 5], "min": 0}, "min"),
    ],
)
def test_a_range_that_decides_nothing_is_refused(tmp_path, settings, words):
    ran = judge(tmp_path, recorded(**settings), 3)
    assert ran.code == 2
    assert words in ran.stderr


def test_a_fall_on_a_scale_is_compared_on_it(tmp_path):
    """Widening the range, which moves every score, is a weakening like any other changed field."""
    base = judge(tmp_path / "base", recorded(min=4, range=[1, 5]), 4, threshold=0.5)
    scenario = {"id": "refund", "threshold": 0.5, "assertions": [recorded(min=4, range=[-100, 5])]}
    suite = {"version": 1, "suite": "refund", "traces": ["traces/*"], "scenarios": [scenario]}
    write(tmp_path / "head", {"suite.yaml": suite, "traces/a.json": trace("ok", scores={"help": 4})})
    baseline = str(base.folder / "baseline.zip")
    ran = evalgate(tmp_path / "head", ["suite.yaml", "--baseline", baseline, "--on-weakening", "fail"])
    assert ran.code == 1
    assert ran.results["weakenings"]


REASON = {"type": "output_contains", "value": "names the reason", "required": True}
NO_DELETION = {"type": "forbidden_tools", "tools": ["delete_*"], "required": True, "name": "no deletion"}
NEW = ["--fail-on", "new_hard_fail"]


def run_checks(folder: Path, checks: list[Any], recorded: Any, *arguments: str, **more: Any) -> CommandResult:
    suite = {"version": 1, "suite": "s", "traces": ["traces/*"], "scenarios": [{"id": "refund", "assertions": checks}]}
    write(folder, {"suite.yaml": {**suite, **more}, "traces/a.json": recorded})
    return evalgate(folder, ["suite.yaml", *NEW, *arguments])


def test_new_hard_fail__another_check_of_a_scenario_that_hard_failed_already(tmp_path):
    checks = [REASON, NO_DELETION]
    base = run_checks(tmp_path / "base", checks, trace("x"))
    assert base.code == 1
    baseline = ["--baseline", str(base.folder / "baseline.zip")]
    same = run_checks(tmp_path / "same", checks, trace("y"), *baseline)
    assert same.code == 0
    for name, answer in (("other", "names the reason"), ("more", "x")):
        found = run_checks(tmp_path / name, checks, trace(answer, tools=("delete_user",)), *baseline)
        assert found.code == 1
        (reason,) = found.results["reasons"]
        assert "no deletion" in reason["message"]


def test_new_hard_fail__a_check_of_a_scenario_whose_run_crashed_in_the_baseline(tmp_path):
    crashed = trace("x", status="error", error="exit code 1")
    base = run_checks(tmp_path / "base", [NO_DELETION], crashed)
    baseline = ["--baseline", str(base.folder / "baseline.zip")]
    assert run_checks(tmp_path / "same", [NO_DELETION], crashed, *baseline).code == 0
    assert run_checks(tmp_path / "head", [NO_DELETION], trace("x", tools=("delete_user",)), *baseline).code == 1


def test_new_hard_fail__a_check_that_could_not_be_evaluated_in_the_baseline(tmp_path):
    cut = trace("x", status="incomplete")
    base = run_checks(tmp_path / "base", [NO_DELETION], cut)
    baseline = ["--baseline", str(base.folder / "baseline.zip")]
    assert run_checks(tmp_path / "same", [NO_DELETION], cut, *baseline).code != 1
    assert run_checks(tmp_path / "head", [NO_DELETION], trace("x", tools=("delete_user",)), *baseline).code == 1


def test_new_hard_fail__a_renamed_check_that_fails_as_before_is_not_new(tmp_path):
    base = run_checks(tmp_path / "base", [REASON], trace("x"))
    baseline = ["--baseline", str(base.folder / "baseline.zip")]
    renamed = run_checks(tmp_path / "a", [{**REASON, "name": "why", "weight": 3}], trace("x"), *baseline)
    assert renamed.code == 0
    same_name = {**REASON, "value": "apologizes", "name": "output contains names the reason"}
    assert run_checks(tmp_path / "b", [same_name], trace("x"), *baseline).code == 1


def test_new_hard_fail__a_baseline_of_an_earlier_version_is_compared_by_scenario(tmp_path):
    checks = [REASON, NO_DELETION]
    base = run_checks(tmp_path / "base", checks, trace("x"))
    results = base.results
    for check in results["suites"][0]["scenarios"][0]["trials"][0]["assertions"]:
        check.pop("digest", None)
    write(tmp_path, {"old/results.json": results})
    baseline = ["--baseline", str(tmp_path / "old/results.json")]
    assert run_checks(tmp_path / "head", checks, trace("names the reason", tools=("delete_user",)), *baseline).code == 0
