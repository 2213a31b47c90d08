"""What a person sees of runs that an outage of the model provider ended: no verdict, and never a pass in silence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from outage_recordings import NO_OUTAGES, OUTAGES

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

SUITE: dict[str, Any] = {
    "version": 1,
    "suite": "desk",
    "traces": ["traces/*.json"],
    "defaults": {"assertions": [{"type": "tool_called", "tool": "lookup", "required": True}]},
    "scenarios": [{"id": name} for name in "abcdef"],
}
LIMITED = {"type": "RateLimitError", "message": "Error code: 429 - slow down", "status_code": 429}


def run(scenario_id: str, kind: str) -> dict[str, Any]:
    """A run that looks something up and answers, that doesn't, or that an outage ended."""
    call = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "lookup", "arguments": {}}]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "found"}
    asked, answer = {"role": "user", "content": "Find it."}, {"role": "assistant", "content": "Here it is."}
    messages = {"good": [asked, call, result, answer], "bad": [asked, answer], "outage": [asked]}[kind]
    calls = {"llm_calls": [{"model": "m", "error": LIMITED}]} if kind == "outage" else {}
    return {"schema": "evalgate.trace/1", "scenario_id": scenario_id, "cost_usd": 0.5, "messages": messages, **calls}


def gate(folder: Path, kinds: str, *arguments: str, **suite: Any) -> CommandResult:
    """Judges one run of each scenario: `+` good, `-` bad, `0` ended by an outage."""
    (folder / "suite.yaml").write_text(json.dumps({**SUITE, **suite}))
    (folder / "traces").mkdir(exist_ok=True)
    for name, sign in zip("abcdef", kinds, strict=True):
        trace = run(name, {"+": "good", "-": "bad", "0": "outage"}[sign])
        (folder / f"traces/{name}.json").write_text(json.dumps(trace))
    return evalgate(folder, ["suite.yaml", *arguments])


@pytest.fixture
def baseline(tmp_path: Path) -> str:
    assert gate(tmp_path, "++++++").code == 0
    (tmp_path / "main.zip").write_bytes((tmp_path / ".evalgate/baseline.zip").read_bytes())
    return "--baseline=main.zip"


def heading(result: CommandResult) -> str:
    return next(line for line in result.text("comment.md").splitlines() if line.startswith("## "))


def scenarios(result: CommandResult) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in result.results["suites"][0]["scenarios"]}


def judge_recording(folder: Path, content: str) -> dict[str, Any]:
    """The only trial of a file, judged by a check that no run passes."""
    assertions = [{"type": "tool_called", "tool": "issue_refund", "required": True}]
    scenario = {"id": "*", "assertions": assertions}
    suite = {"version": 1, "suite": "desk", "traces": ["recording*"], "scenarios": [scenario]}
    (folder / "suite.yaml").write_text(json.dumps(suite))
    (folder / "recording.json").write_text(content)
    found = evalgate(folder, ["suite.yaml"])
    ((each,),) = ([one["trials"] for one in suite["scenarios"]] for suite in found.results["suites"])
    (trial,) = each
    assert found.code == (3 if trial["status"] == "not_measured" else 1)
    return trial


@pytest.mark.parametrize("kind", OUTAGES)
def test_recorded_outage_is_not_measured(tmp_path: Path, kind: str):
    trial = judge_recording(tmp_path, OUTAGES[kind])
    assert (trial["status"], trial["score"], trial["assertions"]) == ("not_measured", None, [])
    assert trial["reason"].startswith("the last model call failed: ")


@pytest.mark.parametrize("kind", NO_OUTAGES)
def test_other_failure_is_judged(tmp_path: Path, kind: str):
    assert judge_recording(tmp_path, NO_OUTAGES[kind])["status"] in {"hard_fail", "error"}


def test_outage_is_no_regression_and_is_named_in_the_heading(tmp_path: Path, baseline: str):
    found = gate(tmp_path, "+0++++", baseline, "--fail-on=hard_fail,broken,below_threshold,regression")
    assert (found.code, found.results["verdict"], found.results["reasons"]) == (0, "pass", [])
    assert heading(found) == (
        "## \U0001f7e1 EvalGate passed, but an outage left ` b ` unmeasured, unlike in the baseline"
    )
    lost = scenarios(found)["b"]
    assert (lost["verdict"], lost["score"], lost["n"], lost["not_measured"]) == ("NOT_EVALUABLE", None, 0, 1)
    assert (lost["change"]["kind"], lost["change"]["reason"]) == ("inconclusive", "not measured")
    (trial,) = lost["trials"]
    assert (trial["status"], trial["score"], trial["assertions"]) == ("not_measured", None, [])
    assert trial["reason"] == "the last model call failed: 429 RateLimitError: Error code: 429 - slow down"
    summary = found.results["summary"]
    assert (summary["not_measured"], summary["score"], summary["pass_rate"]) == (1, 1.0, 1.0)
    assert (summary["cost_usd"], summary["inconclusive"], summary["regressions"]) == (3.0, 1, 0)


def test_outage_counts_as_weakened(tmp_path: Path, baseline: str):
    for arguments in (["--on-weakening=fail"], ["--fail-on=hard_fail,weakened"]):
        found = gate(tmp_path, "+0++++", baseline, *arguments)
        assert found.code == 1
        assert [(each["code"], each["scenario"]) for each in found.results["reasons"]] == [("weakened", "b")]
        assert heading(found).endswith("failed: an outage left ` b ` unmeasured, unlike in the baseline")


def test_outage_is_no_weaker_rule(tmp_path: Path, baseline: str):
    found = gate(tmp_path, "+0++++", baseline)
    assert "Weaker than" not in found.text("comment.md")
    assert "an outage left unmeasured" not in found.text("comment.md")  # which heading and scenario say
    assert "weakened" not in found.stdout
    policy = {"validity": {"max_not_measured": 0.9}}
    found = gate(tmp_path, "+0++++", baseline, "--on-weakening=fail", policy=policy)
    assert "failed: an outage left ` b ` unmeasured, unlike in the baseline and the gate was weakened" in heading(found)


def test_too_many_outages_are_no_verdict_and_no_baseline(tmp_path: Path, baseline: str):
    found = gate(tmp_path, "++0000", baseline)
    assert (found.code, found.results["verdict"]) == (3, "cannot_judge")
    assert [each["code"] for each in found.results["reasons"]] == ["not_measured"]
    assert heading(found).endswith(
        "cannot judge: too many trials were not measured; "
        "an outage left ` c `, ` d `, ` e ` and 1 more scenario unmeasured, unlike in the baseline"
    )
    assert "baseline.zip was not written: outages left too many trials unmeasured" in found.stderr


def test_no_baseline_is_written_where_failures_go_before_too_many_outages(tmp_path: Path):
    found = gate(tmp_path, "+-0000")
    assert (found.code, found.results["verdict"]) == (1, "fail")
    assert not (tmp_path / ".evalgate/baseline.zip").exists()


def test_share_of_outages_that_a_run_may_have_is_a_setting(tmp_path: Path):
    policy = {"validity": {"max_not_measured": 0.5}}
    assert gate(tmp_path, "+++000", policy=policy).code == 0
    assert (tmp_path / ".evalgate/baseline.zip").exists()
    assert gate(tmp_path, "++0000", policy=policy).code == 3
    assert gate(tmp_path, "+++++0", policy={"validity": {"max_not_measured": 0}}).code == 3


def test_raising_the_share_is_a_weakening(tmp_path: Path, baseline: str):
    found = gate(tmp_path, "++++++", baseline, "--on-weakening=fail", policy={"validity": {"max_not_measured": 0.9}})
    assert found.code == 1
    assert found.results["reasons"][0]["message"] == (
        "the tolerance was widened: validity.max_not_measured: 0.3 -> 0.9"
    )


def test_scenario_that_the_baseline_did_not_measure_counts_as_absent_there(tmp_path: Path):
    assert gate(tmp_path, "+++++0").code == 0
    (tmp_path / "main.zip").write_bytes((tmp_path / ".evalgate/baseline.zip").read_bytes())
    found = gate(tmp_path, "-----+", "--baseline=main.zip", "--fail-on=broken")
    assert scenarios(found)["f"]["change"]["kind"] == "new"
    assert found.results["summary"]["broken"] == 5
    failed = gate(tmp_path, "+++++-", "--baseline=main.zip", "--fail-on=new_hard_fail")
    assert (failed.code, failed.results["reasons"][0]["scenario"]) == (1, "f")
    again = gate(tmp_path, "+++++0", "--baseline=main.zip", "--on-weakening=fail")
    assert (again.code, scenarios(again)["f"]["change"]["reason"]) == (0, "not measured")


def test_trial_that_an_outage_left_unmeasured_is_told_where_others_pass(tmp_path: Path):
    gate(tmp_path, "++++++")
    (tmp_path / "traces/second.json").write_text(json.dumps({**run("a", "outage"), "trial": 1}))
    (tmp_path / "traces/third.json").write_text(json.dumps({**run("a", "good"), "trial": 2, "trace_id": "third"}))
    found = evalgate(tmp_path, ["suite.yaml", "-v"])
    assert found.code == 0
    assert heading(found) == "## \U0001f7e1 EvalGate passed, but an outage left 1 trial unmeasured"
    comment = found.text("comment.md")
    assert "| ` a ` | \u2705\u00a0PASS\u00a02/2\u00a0trials | 1.00 | 1 of 3 trials not measured |" in comment
    assert "**Not measured** 1 trial" in comment
    assert "    1 of 3 trials not measured" in found.stdout
    assert "suite desk: 6 scenarios, 7 trials, 1 not measured" in found.stdout
    assert "not measured: 1 trial" in found.stdout
    assert found.results["figures"]["not_measured"] == found.results["suites"][0]["figures"]["not_measured"] == 1


def test_equal_outages_are_told_once(tmp_path: Path, baseline: str):
    found = gate(tmp_path, "+0000+", baseline, policy={"validity": {"max_not_measured": 0.9}})
    reason = "not measured: the last model call failed: 429 RateLimitError: Error code: 429 - slow down"
    assert found.stdout.count(reason) == 1
    assert "in b, c, d, e" in found.stdout
    weakened = [each for each in found.results["weakenings"] if each["kind"] == "not_measured"]
    assert [(each["scenario"], each["scenarios"]) for each in weakened] == [(None, 4)]


def test_hostile_error_of_a_provider_stays_text(tmp_path: Path, baseline: str):
    hostile = "](http://evil) <script>@team | `x` ::error::\n## EvalGate passed\x1b[31m" + "z" * 50_000
    trace = run("b", "outage")
    trace["llm_calls"][0]["error"] = {"type": f"RateLimitError\n{hostile}", "message": hostile, "status_code": 429}
    gate(tmp_path, "++++++")
    (tmp_path / "traces/b.json").write_text(json.dumps(trace))
    found = evalgate(tmp_path, ["suite.yaml", baseline])
    assert scenarios(found)["b"]["trials"][0]["status"] == "not_measured"
    assert len(scenarios(found)["b"]["reason"]) < 500
    headings = [line for line in found.text("comment.md").splitlines() if line.startswith("## ")]
    assert len(headings) == 1
    assert "\x1b" not in found.stdout + found.text("comment.md") + found.text("junit.xml")
    assert not any(line.startswith("::") for line in found.stdout.splitlines())
