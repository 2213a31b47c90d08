"""A baseline that could not judge a scenario: it is no known failure and nothing is fixed, and reports say why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from in_process_command import evalgate as run_command

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

CHECK = {"type": "tool_called", "tool": "lookup"}
SUITE: dict[str, Any] = {"suite": "desk", "traces": ["traces/*.json"], "scenarios": [{"id": "a"}, {"id": "b"}]}
LIMITED = {"type": "RateLimitError", "message": "Error code: 429", "status_code": 429}
ASKED, ANSWER = {"role": "user", "content": "Find it."}, {"role": "assistant", "content": "Here it is."}
CALL = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "lookup", "arguments": {}}]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "found"}
TRACES: dict[str, dict[str, Any]] = {
    "+": {"messages": [ASKED, CALL, RESULT, ANSWER]},
    "-": {"messages": [ASKED, ANSWER]},
    "unreadable": {"messages": [{"role": "robot", "content": "x"}]},
    "outage": {"messages": [ASKED], "llm_calls": [{"model": "m", "error": LIMITED}]},
}
UNJUDGED = {
    "unreadable": "it was ERROR: 1 of 1 trial could not be judged: traces/a.json: messages[0].role is not one of",
    "outage": "it was NOT EVALUABLE: not measured: the last model call failed: 429",
    "missing": "it was MISSING",
}


def gate(
    folder: Path, a: str, b: str, *arguments: str, fail_on: str = "broken", required: bool = False
) -> CommandResult:
    """Judges a recording of each scenario; `missing` has none."""
    check = {**CHECK, "required": required}
    policy = {"fail_on": [fail_on], "validity": {"max_not_measured": 1}}
    suite = {**SUITE, "defaults": {"assertions": [check]}, "policy": policy}
    (folder / "suite.yaml").write_text(json.dumps(suite))
    (folder / "traces").mkdir(exist_ok=True)
    for name, kind in (("a", a), ("b", b)):
        path = folder / f"traces/{name}.json"
        path.unlink(missing_ok=True)
        if kind != "missing":
            path.write_text(json.dumps({"schema": "evalgate.trace/1", "scenario_id": name, **TRACES[kind]}))
    return evalgate(folder, ["suite.yaml", *arguments])


def compare(folder: Path, before: tuple[str, str], now: tuple[str, str], **policy: Any) -> CommandResult:
    gate(folder, *before, "--report-only", **policy)
    (folder / "main.zip").write_bytes((folder / ".evalgate/baseline.zip").read_bytes())
    return gate(folder, *now, "--baseline=main.zip", **policy)


def heading(found: CommandResult) -> str:
    return next(line for line in found.text("comment.md").splitlines() if line.startswith("## "))[3:]


def change_of(found: CommandResult, id_: str = "a") -> dict[str, Any]:
    return next(each["change"] for each in found.results["suites"][0]["scenarios"] if each["id"] == id_)


@pytest.mark.parametrize("kind", UNJUDGED)
def test_failure_that_the_baseline_could_not_judge_is_no_known_one(tmp_path: Path, kind: str):
    found = compare(tmp_path, (kind, "+"), ("-", "+"))
    assert found.code == 0
    lead = "\U0001f7e1 EvalGate passed, but scenario ` a ` fails and could not be judged in the baseline (not in fail_on): "
    assert heading(found).startswith(f"{lead}` lookup ` must be called")
    change = change_of(found)
    assert (change["kind"], "known_failure" in change) == ("new", False)
    assert change["reason"].startswith(f"could not be judged in the baseline: {UNJUDGED[kind]}")
    for place in (found.text("comment.md"), found.stdout):
        assert "known failure" not in place
        assert "could not be judged in the baseline" in place
    assert UNJUDGED[kind].removeprefix("it was ")[:20] in found.text("comment.md").replace("\u00a0", " ")
    assert not found.results["comparison"]["tested"]


@pytest.mark.parametrize("kind", UNJUDGED)
def test_pass_that_the_baseline_could_not_judge_is_not_fixed(tmp_path: Path, kind: str):
    found = compare(tmp_path, (kind, "+"), ("+", "+"))
    assert (found.code, heading(found)) == (
        0,
        "\u2705 EvalGate passed: scenario ` a ` could not be judged in the baseline; all 2 scenarios pass",
    )
    assert "fixed" not in found.text("comment.md")
    assert found.results["summary"]["improvements"] == 0
    assert "+" not in next(line for line in found.text("comment.md").splitlines() if line.startswith("**Score**"))


@pytest.mark.parametrize("kind", ["unreadable", "missing"])
def test_hard_fail_that_the_baseline_could_not_judge_is_new(tmp_path: Path, kind: str):
    policy: dict[str, Any] = {"fail_on": "new_hard_fail", "required": True}
    found = compare(tmp_path, (kind, "+"), ("-", "+"), **policy)
    assert (found.code, [each["code"] for each in found.results["reasons"]]) == (1, ["new_hard_fail"])
    assert "1 scenario" not in heading(found)
    as_before = compare(tmp_path, (kind, "+"), (kind, "+"), **policy)
    assert (as_before.code, change_of(as_before)["known_failure"]) == (0, "same")


@pytest.mark.parametrize(
    ("now", "words"), [("+", "2 scenarios could not be judged in the baseline"), ("-", "2 scenarios fail and")]
)
def test_baseline_that_judged_nothing_is_no_green(tmp_path: Path, now: str, words: str):
    found = compare(tmp_path, ("unreadable", "missing"), (now, now))
    assert (found.code, heading(found)[0]) == (0, "\U0001f7e1")
    assert words in heading(found)


def test_baseline_that_judged_nothing_is_none_for_a_policy_that_requires_one(tmp_path: Path):
    found = compare(tmp_path, ("unreadable", "outage"), ("+", "+"), fail_on="no_baseline")
    assert (found.code, [each["code"] for each in found.results["reasons"]]) == (3, ["no_baseline"])
    assert "the baseline judged no scenario" in found.results["reasons"][0]["message"]
    assert compare(tmp_path, ("unreadable", "+"), ("+", "+"), fail_on="no_baseline").code == 0


@pytest.mark.parametrize(("now", "words"), [("missing", "has no trace now"), ("unreadable", "could not be evaluated")])
def test_known_failure_that_is_not_judged_now_fails_no_other_check(tmp_path: Path, now: str, words: str):
    found = compare(tmp_path, ("-", "+"), (now, "+"))
    assert "known failure" not in heading(found)
    assert f"scenario ` a ` {words}" in heading(found)


@pytest.mark.parametrize("kind", UNJUDGED)
def test_two_finished_runs_are_compared_alike(tmp_path: Path, kind: str):
    compare(tmp_path, (kind, "+"), ("-", "+"))
    found = run_command("compare", "main.zip", ".evalgate", "--json", cwd=str(tmp_path))
    (change, _) = (each["change"] for each in json.loads(found.out)["suites"][0]["scenarios"])
    assert (change["kind"], "known_failure" in change) == ("new", False)
    assert change["reason"].startswith(f"could not be judged in the baseline: {UNJUDGED[kind]}")
