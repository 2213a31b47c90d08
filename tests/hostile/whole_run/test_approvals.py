"""An approval covers the checks that were approved, whatever their names become; so does a quarantine its recordings."""

from __future__ import annotations

import io
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command import NOW, evalgate

from evalgate.cli import main
from evalgate.cli.shell import Shell
from hostile.suite_edits import trace, write

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

    from hostile.suite_edits import Files

FAIL_ON = ["--fail-on", "hard_fail,below_threshold,broken,regression"]
REASON = {"type": "output_contains", "value": "names the reason", "required": True, "name": "why"}
NO_DELETION = {"type": "forbidden_tools", "tools": ["delete_*"], "required": True, "name": "no deletion"}
UNTIL = "2027-02-01"
ENTRY = {"suite": "refund", "scenario": "refund", "reason": "tuning", "who": "Ben", "until": UNTIL}
FAILS_WHY, DELETES = trace("Refunded."), trace("This names the reason.", tools=("delete_user",))


def suite(*checks: Any, **more: Any) -> Files:
    scenarios = [{"id": "refund", "assertions": list(checks)}]
    return {"version": 1, "suite": "refund", "traces": ["../traces/*"], "scenarios": scenarios, **more}


def project(checks: list[Any], recorded: Any, approvals: list[Any] | None = None) -> Files:
    files: Files = {"evals/s.yaml": suite(*checks), "traces/a.json": recorded}
    return files if approvals is None else {**files, "evalgate-approvals.yaml": {"approvals": approvals}}


def run(folder: Path, files: Files, baseline: Path | None = None) -> CommandResult:
    write(folder, files)
    return evalgate(folder, [*FAIL_ON, *(["--baseline", str(baseline)] if baseline else [])])


def approve(folder: Path, *arguments: str) -> list[Any]:
    """What the verb writes for the last run in the folder, without a limit of the score."""
    shell = Shell(io.StringIO(), io.StringIO(), {"SOURCE_DATE_EPOCH": NOW, "USER": "Ben"}, str(folder))
    assert (
        main(["approve", "refund", "--limit", "none", "--until", UNTIL, "--because", "tuning", *arguments], shell) == 0
    )
    written = yaml.safe_load((folder / "evalgate-approvals.yaml").read_text())["approvals"]
    return [{**each, "until": UNTIL} for each in written]


def status_of(ran: CommandResult) -> tuple[str, str]:
    (found,) = ran.results["approvals"]
    return found["status"], found["message"]


@pytest.fixture(params=["by name", "by covers", "whole scenario", "whole scenario by covers"])
def base(request, tmp_path):
    """The base branch: `why` fails and is approved, as before this version or as the verb writes it now."""
    named = {**ENTRY, "assertion": "why"}
    folder = tmp_path / "base"
    approvals = [named if request.param == "by name" else ENTRY]
    if "covers" in request.param:
        run(tmp_path / "first", project([REASON, NO_DELETION], FAILS_WHY))
        approvals = approve(tmp_path / "first", *(["--assertion", "why"] if request.param == "by covers" else []))
    ran = run(folder, project([REASON, NO_DELETION], FAILS_WHY, approvals))
    assert (ran.code, status_of(ran)[0]) == (0, "active")
    return ran.folder / "baseline.zip", approvals


def test_the_approved_failure_passes_again(base, tmp_path):
    baseline, approvals = base
    ran = run(tmp_path / "head", project([NO_DELETION, REASON], trace("Done."), approvals), baseline)
    assert (ran.code, status_of(ran)[0]) == (0, "active")


@pytest.mark.parametrize(
    "checks",
    [
        pytest.param([{**REASON, "name": "says why"}, {**NO_DELETION, "name": "why"}], id="names swapped"),
        pytest.param([{**NO_DELETION, "name": "why"}], id="check replaced under its name"),
        pytest.param([REASON, NO_DELETION, {**NO_DELETION, "name": "why"}], id="check added under its name"),
        pytest.param([REASON, {**NO_DELETION, "name": "why", "weight": 9}], id="other check renamed"),
    ],
)
def test_an_approval_does_not_follow_a_name(base, tmp_path, checks):
    baseline, approvals = base
    ran = run(tmp_path / "head", project(checks, DELETES, approvals), baseline)
    is_whole_scenario_of_before = "assertion" not in approvals[0] and "covers" not in approvals[0]
    if is_whole_scenario_of_before:  # it covers every check that the base has
        assert ran.code == 0 or status_of(ran)[0] == "void"
        return
    assert ran.code == 1
    assert status_of(ran) == ("void", status_of(ran)[1])
    assert status_of(ran)[1].startswith(("a different failure", "more failures than approved"))


def test_a_check_that_the_pull_request_changes_is_not_covered(base, tmp_path):
    baseline, approvals = base
    changed = {**REASON, "value": "apologizes"}
    ran = run(tmp_path / "head", project([changed, NO_DELETION], FAILS_WHY, approvals), baseline)
    assert (ran.code, status_of(ran)[0]) == (1, "void")


def test_a_check_that_the_pull_request_adds_is_not_covered(base, tmp_path):
    baseline, approvals = base
    added = {"type": "tool_called", "tool": "apologize", "required": True, "name": "apologizes"}
    ran = run(tmp_path / "head", project([REASON, NO_DELETION, added], FAILS_WHY, approvals), baseline)
    assert (ran.code, status_of(ran)[0]) == (1, "void")
    assert "apologizes" in status_of(ran)[1]


def test_a_renamed_check_stays_covered(base, tmp_path):
    baseline, approvals = base
    renamed = {**REASON, "name": "tells the reason", "weight": 2}
    ran = run(tmp_path / "head", project([renamed, NO_DELETION], FAILS_WHY, approvals), baseline)
    is_by_name_of_before = "covers" not in approvals[0] and "assertion" in approvals[0]
    assert ran.code == 0 or is_by_name_of_before
    assert status_of(ran)[0] == "active"


def test_two_approvals_together_cover_two_failures(tmp_path):
    both = trace("Refunded.", tools=("delete_user",))
    run(tmp_path / "first", project([REASON, NO_DELETION], both))
    one = approve(tmp_path / "first", "--assertion", "why")
    ran = run(tmp_path / "one", project([REASON, NO_DELETION], both, one))
    assert (ran.code, status_of(ran)[0]) == (1, "void")
    two = approve(tmp_path / "first", "--assertion", "no deletion")
    ran = run(tmp_path / "two", project([REASON, NO_DELETION], both, two))
    assert [each["status"] for each in ran.results["approvals"]] == ["active", "active"]
    assert ran.code == 0


def test_a_crash_is_a_different_failure_unless_it_was_approved(base, tmp_path):
    baseline, approvals = base
    crashed = {**FAILS_WHY, "status": "error", "error": "exit code 1"}
    ran = run(tmp_path / "head", project([REASON, NO_DELETION], crashed, approvals), baseline)
    assert (ran.code, status_of(ran)[0]) == (1, "void")
    assert "run_failed" in status_of(ran)[1]
    (tmp_path / "head/evalgate-approvals.yaml").unlink()
    again = approve(tmp_path / "head")
    ran = run(tmp_path / "approved", project([REASON, NO_DELETION], crashed, again), baseline)
    assert (ran.code, status_of(ran)[0]) == (0, "active")


def test_without_a_baseline_an_approval_of_before_holds_by_name(tmp_path):
    ran = run(tmp_path, project([REASON, NO_DELETION], FAILS_WHY, [{**ENTRY, "assertion": "why"}]))
    assert (ran.code, status_of(ran)[0]) == (0, "active")


def test_more_covered_checks_are_an_approval_that_the_baseline_did_not_have(base, tmp_path):
    baseline, approvals = base
    widened = deepcopy(approvals)
    widened[0]["covers"] = ["0" * 32, *widened[0].get("covers", ())]
    ran = run(tmp_path / "head", project([REASON, NO_DELETION], FAILS_WHY, widened), baseline)
    assert [each["kind"] for each in ran.results["weakenings"]] == ["approval_added"]


@pytest.mark.parametrize("covers", [["xyz"], [""], "no digest", [7]])
def test_covers_that_are_no_digests_are_refused(tmp_path, covers):
    ran = run(tmp_path, project([REASON], FAILS_WHY, [{**ENTRY, "covers": covers}]))
    assert ran.code == 2
    assert "covers" in ran.stderr


QUARANTINE = {"scenario": "flaky-*", "reason": "the shop's API is slow", "until": UNTIL}


def quarantined(folder: Path, traces: Files, *quarantines: Any, baseline: Path | None = None) -> CommandResult:
    """A run of a suite of all ids, each of which must not delete, with quarantines."""
    scenarios = [{"id": "*", "assertions": [NO_DELETION]}]
    content = {**suite(), "scenarios": scenarios, "quarantine": list(quarantines or [QUARANTINE])}
    return run(folder, {"evals/s.yaml": content, **{f"traces/{name}": each for name, each in traces.items()}}, baseline)


def ids_in_quarantine(ran: CommandResult) -> list[str]:
    return [each["id"] for each in ran.results["suites"][0]["scenarios"] if each.get("quarantined")]


GOOD = {"a.json": trace("ok", "refund"), "b.json": trace("ok", "flaky-shop"), "c.json": trace("ok", "hello")}
BAD = {"tools": ("delete_user",)}


def test_a_quarantine_holds_for_the_scenario_it_was_written_for(tmp_path):
    base = quarantined(tmp_path / "base", GOOD)
    fails = {**GOOD, "b.json": trace("ok", "flaky-shop", **BAD)}
    ran = quarantined(tmp_path / "head", fails, baseline=base.folder / "baseline.zip")
    assert (ran.code, ids_in_quarantine(ran)) == (0, ["flaky-shop"])


@pytest.mark.parametrize("name", ["flaky-shop", "flaky-refund"])
def test_a_recording_that_is_moved_into_a_quarantined_id_is_not_quarantined(tmp_path, name):
    base = quarantined(tmp_path / "base", GOOD)
    moved = {**GOOD, "a.json": trace("ok", name, **BAD)}
    ran = quarantined(tmp_path / "head", moved, baseline=base.folder / "baseline.zip")
    assert (ran.code, name in ids_in_quarantine(ran)) == (1, False)
    assert "in the baseline" in ran.results["quarantines"][0]["message"]


def test_a_recording_that_fails_on_main_is_not_moved_into_a_quarantined_id_by_its_bytes(tmp_path):
    """The same bytes in another file, under an id that `scenario_from` gives them now."""
    failing = {**GOOD, "a.json": trace("ok", "refund", **BAD)}
    base = quarantined(tmp_path / "base", failing)
    scenarios = [{"id": "*", "assertions": [NO_DELETION]}]
    content = {**suite(), "scenarios": scenarios, "quarantine": [{**QUARANTINE, "scenario": "flaky-shop"}]}
    content["scenario_from"] = "'flaky-shop'"
    files = {"evals/s.yaml": content, "traces/z.json": failing["a.json"]}
    ran = run(tmp_path / "head", files, base.folder / "baseline.zip")
    assert (ran.code, ids_in_quarantine(ran)) == (1, [])


def test_a_new_id_under_a_pattern_is_not_quarantined_and_one_that_is_named_is(tmp_path):
    base = quarantined(tmp_path / "base", GOOD)
    new = {**GOOD, "n.json": trace("ok", "flaky-new", **BAD)}
    by_glob = quarantined(tmp_path / "glob", new, baseline=base.folder / "baseline.zip")
    assert (by_glob.code, ids_in_quarantine(by_glob)) == (1, ["flaky-shop"])
    named = [QUARANTINE, {**QUARANTINE, "scenario": "flaky-new"}]
    by_name = quarantined(tmp_path / "name", new, *named, baseline=base.folder / "baseline.zip")
    assert ids_in_quarantine(by_name) == ["flaky-new", "flaky-shop"]


def test_without_a_baseline_a_quarantine_holds_for_all_it_names(tmp_path):
    ran = quarantined(tmp_path, {"b.json": trace("ok", "flaky-shop", **BAD), "c.json": trace("ok", "hello")})
    assert (ran.code, ids_in_quarantine(ran)) == (0, ["flaky-shop"])


MORE = trace("This names the reason.", tools=("delete_user", "delete_account"))


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (
            [DELETES] * 2,
            [DELETES] * 2,
            "the same as those of the baseline); known failure ` refund `, approved; to judge",
        ),
        ([DELETES], [DELETES], "no verdict changed since"),
        ([DELETES], [MORE], "no verdict changed since"),
        ([DELETES] * 2, [MORE] * 2, "no verdict changed since"),
    ],
    ids=["two trials", "one trial", "one trial that deletes more", "two trials that delete more"],
)
def test_an_approved_failure_that_does_more_is_not_called_no_change(tmp_path, before, now, words):
    def files(runs: list[Any]) -> Files:
        recorded = {f"traces/{number}.json": {**each, "trial": number} for number, each in enumerate(runs)}
        return {"evals/s.yaml": suite(NO_DELETION), "evalgate-approvals.yaml": {"approvals": [ENTRY]}, **recorded}

    run(tmp_path / "before", files(before))
    ran = run(tmp_path / "now", files(now), tmp_path / "before/.evalgate/baseline.zip")
    heading = next(line for line in ran.text("comment.md").splitlines() if line.startswith("## "))
    assert ran.code == 0
    assert words in heading
    assert ("\u26aa" in heading) is ("no verdict changed" not in words)
