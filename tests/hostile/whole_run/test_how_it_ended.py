"""How a run ended counts: what ended in an error does not pass, and what has no end is no complete evidence."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from hostile.whole_run.case import ALL, CANNOT_JUDGE, FAILED, PASS, SUITE, Case, check, lay_out, suite, trace, trials

if TYPE_CHECKING:
    from pathlib import Path

FINE = trace("lookup_order", "issue_refund")
CRASH = {"type": "exit code 1", "message": "Traceback (most recent call last):\n  ...\nKeyError: 'total'\n"}
CRASHED: dict[str, Any] = {**trace("lookup_order", "issue_refund"), "status": "error", "error": CRASH}
REASON = "the agent ended with exit code 1 after its final answer: KeyError: 'total'"
OUTAGE = {"llm_calls": [{"error": {"type": "overloaded_error", "message": "overloaded", "status_code": 529}}]}
DOWN = {**trace("lookup_order", answer=None), "status": "error", "error": {"message": "overloaded"}, **OUTAGE}
SAYS_REFUND = check("output_contains", value="refund")
NO_DELETE = check("forbidden_tools", tools=["delete_*"])
EXPECTS_ERROR = {"path": "metadata.status", "eq": "error", "required": True}
GOLDEN = {
    "id": "refund",
    "user_messages": ["Refund order A-7, please."],
    "golden_responses": ["Your refund is issued."],
}
GOLDENS = {"version": 1, "suite": "support", "traces": ["../traces/**"], "goldens": [GOLDEN]}

STATUS = [
    Case("three crashed trials", {SUITE: suite(SAYS_REFUND), **trials(CRASHED, CRASHED, CRASHED)}, FAILED, [REASON]),
    Case(
        "an error without a status",
        {SUITE: suite(SAYS_REFUND), **trials({key: value for key, value in CRASHED.items() if key != "status"})},
        FAILED,
        [REASON],
    ),
    Case(
        "a crash without an answer after its last call",
        {
            SUITE: suite(SAYS_REFUND),
            **trials({**trace("lookup_order", answer=None), "status": "error", "error": CRASH}),
        },
        FAILED,
        ["exit code 1 after call 1 (` lookup_order `): ` KeyError: 'total' `"],
    ),
    Case("one crash of three trials", {SUITE: suite(SAYS_REFUND), **trials(FINE, CRASHED, FINE)}, FAILED, ["1 of 3"]),
    Case(
        "only a check that needs no call",
        {SUITE: suite(scenario={"expected_tool": None}), **trials({**trace(), "status": "error"})},
        FAILED,
        ["the run ended in an error"],
    ),
    Case("a check that is not required", {SUITE: suite({"contains": "refund"}), **trials(CRASHED)}, FAILED, [REASON]),
    Case("a golden", {SUITE: GOLDENS, **trials({**trace(), "status": "error", "error": CRASH})}, FAILED, ["exit code"]),
    Case(
        "a pass rate that is met",
        {
            SUITE: suite(SAYS_REFUND, scenario={"threshold": 0.5, "trials": {"min_pass_rate": 0.6}}),
            **trials(FINE, CRASHED, FINE),
        },
        PASS,
    ),
    Case(
        "a pass rate that is not met",
        {
            SUITE: suite(SAYS_REFUND, scenario={"trials": {"min_pass_rate": 0.6}, "threshold": 0.1}),
            **trials(FINE, CRASHED, CRASHED),
        },
        FAILED,
        [REASON, "1 of 3 trials passed"],
    ),
    Case(
        "k passes that are not met",
        {SUITE: suite(SAYS_REFUND, scenario={"trials": {"min_pass_k": {"k": 2, "of": 3}}})}
        | trials(FINE, CRASHED, CRASHED),
        FAILED,
        [REASON],
    ),
    Case(
        "errors of reading are allowed, not those of the run",
        {SUITE: suite(SAYS_REFUND, scenario={"allow_errors": True}), **trials(CRASHED)},
        FAILED,
        [REASON],
    ),
    Case(
        "an outage", {SUITE: suite(SAYS_REFUND), **trials(DOWN)}, CANNOT_JUDGE, ["not measured"], silent=["run_failed"]
    ),
]
OPT_OUT = [
    Case("any end, in the suite", {SUITE: suite(SAYS_REFUND, run_status="any"), **trials(CRASHED)}, PASS),
    Case(
        "any end, in the scenario",
        {SUITE: suite(SAYS_REFUND, scenario={"run_status": "any"}), **trials(CRASHED)},
        PASS,
    ),
    Case(
        "the scenario is stricter than its suite",
        {SUITE: suite(SAYS_REFUND, scenario={"run_status": "ok"}, run_status="any"), **trials(CRASHED)},
        FAILED,
        [REASON],
    ),
    Case(
        "an error that is expected",
        {SUITE: suite(EXPECTS_ERROR, scenario={"run_status": "any"}), **trials(CRASHED)},
        PASS,
    ),
    Case(
        "an error that is expected and does not come",
        {SUITE: suite(EXPECTS_ERROR, scenario={"run_status": "any"}), **trials(FINE)},
        FAILED,
    ),
    Case(
        "the pull request lets it end in any way",
        {SUITE: suite(SAYS_REFUND, scenario={"run_status": "any"}), **trials(CRASHED)},
        FAILED,
        ["run_status: ok -> any"],
        ALL,
        {SUITE: suite(SAYS_REFUND), **trials(FINE)},
    ),
]

STOPPED = {"status": "incomplete", "stopped_by": "the limit of turns"}
NAMED = Case(
    "a limit ended a run that fails a check",
    {SUITE: suite(SAYS_REFUND), **trials({**trace("lookup", answer="Bye."), **STOPPED})},
    FAILED,
    ["run ended by the limit of turns"],
)
KNOWN_FAILURE = {SUITE: suite(NO_DELETE), **trials(trace("delete_user"))}
CRASHED_TOO = {SUITE: suite(NO_DELETE), **trials({**trace("delete_user"), "status": "error", "error": CRASH})}
APPROVAL = {"suite": "support", "scenario": "refund", "reason": "known", "who": "Ben", "until": "2027-01-20"}
EXCUSES = [
    Case(
        "an approval of another failure",
        {**CRASHED_TOO, "evalgate-approvals.yaml": {"approvals": [APPROVAL]}},
        FAILED,
        ["run_failed"],
        before=KNOWN_FAILURE,
    ),
    Case(
        "and that failure alone is approved",
        {**KNOWN_FAILURE, "evalgate-approvals.yaml": {"approvals": [APPROVAL]}},
        PASS,
        before=KNOWN_FAILURE,
    ),
    Case(
        "a hard fail by another check in the baseline",
        CRASHED_TOO,
        FAILED,
        ["run_failed"],
        ("--fail-on", "new_hard_fail"),
        KNOWN_FAILURE,
    ),
]


@pytest.mark.parametrize("case", [*STATUS, *OPT_OUT, NAMED, *EXCUSES], ids=lambda case: case.name)
def test_the_end_of_a_run_counts(case: Case, tmp_path: Path) -> None:
    result = case.run(tmp_path)

    assert case.find_faults(result) == []


@pytest.mark.parametrize(("limited", "runs", "says"), [(1, 1, "run ended by"), (2, 3, "2 of 3 runs ended by")])
def test_a_limit_that_ended_a_run_stands_beside_its_passing_scenario(
    tmp_path: Path, limited: int, runs: int, says: str
):
    ends = [{"status": "incomplete", "stopped_by": "turns"} if number < limited else {} for number in range(runs)]
    files = {SUITE: suite(SAYS_REFUND), **trials(*({**FINE, **end} for end in ends))}
    ran = Case("limits", files, PASS).run(tmp_path)
    assert ran.code == PASS, ran.stdout
    assert f"{says} turns" in ran.stdout
    assert f"{says} ` turns `" in ran.text("comment.md")


def forget_ends(path: Path) -> None:
    """Makes a baseline one of a version that did not judge how runs ended: all of its trials passed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    results = json.loads(parts["results.json"])
    for scenario in results["suites"][0]["scenarios"]:
        scenario |= {"verdict": "PASS", "score": 1.0, "pass_rate": 1.0}
        for trial in scenario["trials"]:
            kept = [each for each in trial["assertions"] if each["type"] != "run_failed"]
            trial |= {"status": "passed", "score": 1.0, "assertions": kept}
    parts["results.json"] = json.dumps(results).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(("before", "cause"), [(CRASHED, "rules_stricter"), (FINE, None)])
@pytest.mark.parametrize("checks", [[SAYS_REFUND], [SAYS_REFUND, NO_DELETE]], ids=["same suite", "another check"])
def test_a_run_that_failed_and_passed_in_an_old_baseline_is_broken_by_the_rules(tmp_path, before, cause, checks):
    lay_out(tmp_path / "before", {SUITE: suite(SAYS_REFUND), **trials(before)})
    evalgate(tmp_path / "before", [SUITE])
    forget_ends(tmp_path / "before/.evalgate/baseline.zip")
    lay_out(tmp_path / "now", {SUITE: suite(*checks), **trials({**CRASHED, "latency_seconds": 3})})
    ran = evalgate(tmp_path / "now", [SUITE, "--baseline", str(tmp_path / "before/.evalgate/baseline.zip")])
    (judged,) = ran.results["suites"][0]["scenarios"]
    assert (ran.code, judged["change"]["kind"]) == (FAILED, "broken")
    found = judged["change"].get("cause") or {}
    assert (found.get("kind") == "rules_stricter") is (cause is not None)
    assert ("passed when the baseline was made" in ran.text("comment.md")) is (cause is not None)
