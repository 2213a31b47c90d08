"""Suites that read recordings in another way than the baseline's: what is a note, and what weakens the gate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from shard_runs import run_command

from evalgate.application.evaluation.cross_scorer import MAX_CROSS_SCORED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from command import CommandResult

OK = {"contains": "ok", "required": True}
NOTE = "no scenario passes only because of that"


def write_suite(folder: Path, *, path: str = "s.yaml", scenarios: Sequence[Any] = (), **more: Any) -> None:
    """A suite of a scenario `a` that has to say ok, or of others."""
    entries = scenarios or [{"id": "a", "assertions": [OK]}]
    suite = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "scenarios": entries, **more}
    (folder / path).parent.mkdir(exist_ok=True, parents=True)
    (folder / path).write_text(json.dumps(suite))


def write_trace(folder: Path, path: str, answer: str = "ok", scenario: str = "a", **more: Any) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}]
    record = {"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages, **more}
    (folder / path).parent.mkdir(exist_ok=True, parents=True)
    (folder / path).write_text(json.dumps(record))


def run_base(folder: Path, config: str = "s.yaml") -> None:
    assert evalgate(folder, [config]).code == 0
    (folder / ".evalgate/baseline.zip").rename(folder / "base.zip")


def run(folder: Path, *arguments: str, config: str = "s.yaml") -> CommandResult:
    return evalgate(folder, [config, "--baseline", "base.zip", *arguments])


def weakened(ran: CommandResult) -> dict[str, str]:
    return {each["kind"]: each["message"] for each in ran.results["weakenings"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A baseline that passes."""
    write_suite(tmp_path)
    write_trace(tmp_path, "traces/a.json")
    run_base(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "more",
    [
        {"traces": ["traces/a.json"]},
        {"traces": ["traces/**/*.json", "more/*.json"]},
        {"format": "native"},
        {"scenario_from": "metadata.custom.case"},
        {"scenarios": [{"id": "a", "match": {"path": "traces/*"}, "assertions": [OK]}]},
        {"format": "custom", "custom": {"scenario_id": "scenario_id", "messages": "messages"}},
    ],
)
def test_the_same_ids_and_verdicts_are_a_note_only(folder: Path, more: dict[str, Any]) -> None:
    write_suite(folder, **more)
    ran = run(folder, "--on-weakening", "fail")
    assert (ran.code, ran.results["weakenings"]) == (0, [])
    assert NOTE in ran.stdout
    assert "the only scenario passes" in ran.stdout


def test_lower_prices_with_the_same_verdicts_are_a_note_only(tmp_path: Path) -> None:
    write_trace(tmp_path, "traces/a.json", model="m", usage={"input_tokens": 9_000, "output_tokens": 9})
    write_suite(tmp_path, prices={"m": {"input": 2, "output": 2}})
    run_base(tmp_path)
    write_suite(tmp_path, prices={"m": {"input": 1, "output": 1}})
    ran = run(tmp_path)
    assert (ran.code, ran.results["weakenings"]) == (0, [])
    assert f"suite s: prices changed; {NOTE}" in ran.stdout


def test_prices_that_price_nothing_are_not_mentioned(folder: Path) -> None:
    write_suite(folder, prices={"m": {"input": 1, "output": 1}})
    ran = run(folder)
    assert (ran.code, ran.results["weakenings"]) == (0, [])
    assert NOTE not in ran.stdout


def test_a_suite_that_reads_as_before_has_no_note(folder: Path) -> None:
    write_suite(folder, traces=["./traces/*.json"], description="other")
    ran = run(folder)
    assert (ran.code, ran.results["weakenings"]) == (0, [])
    assert NOTE not in ran.stdout


def test_a_scenario_that_passes_by_the_old_reading_and_fails_now_is_a_note(folder: Path) -> None:
    write_suite(folder, traces=["traces/*.json", "more/*.json"])
    write_trace(folder, "more/b.json", "no")
    ran = run(folder)
    assert (ran.code, ran.results["weakenings"]) == (1, [])


def test_a_file_that_is_no_longer_read_is_named(folder: Path) -> None:
    write_trace(folder, "traces/b.json", scenario="b")
    write_trace(folder, "good/a.json")
    write_suite(folder, traces=["good/*.json", "traces/b.json"])
    message = weakened(run(folder))["traces_changed"]
    assert message == (
        'other files are read: traces: ["traces/*.json"] -> ["good/*.json","traces/b.json"]; '
        "traces/a.json is no longer read"
    )


def test_globs_that_find_nothing_any_more_are_named(folder: Path) -> None:
    (folder / "traces").rename(folder / "recorded")
    write_suite(folder, traces=["recorded/*.json"])
    ran = run(folder)
    assert "the baseline's globs find no file" in weakened(ran)["traces_changed"]
    assert "passed, but other files are read in suite s\n" in ran.stdout
    assert run(folder, "--on-weakening", "fail").code == 1


OLD, NEW = {"started_at": "2025-01-01T00:00:00Z"}, {"started_at": "2025-02-01T00:00:00Z"}
BY_RECORD = {"metadata": {"evalgate.recording_id": "one"}}
MOVED = "suite s reads its traces from recorded/*.json instead of traces/*.json, where none are now"


def move(folder: Path, now: Any = NEW, before: Any = OLD, **suite: Any) -> CommandResult:
    """A run whose suite reads another folder than its baseline's, which is not there any more."""
    write_suite(folder)
    write_trace(folder, "traces/a.json", **before)
    run_base(folder)
    (folder / "traces/a.json").unlink()
    write_suite(folder, traces=["recorded/*.json"], **suite)
    for number, each in enumerate(now if isinstance(now, list) else [now]):
        write_trace(folder, f"recorded/{number}.json", **each)
    return run(folder, "--on-weakening", "fail")


def test_a_renamed_folder_with_new_recordings_weakens_nothing(tmp_path: Path) -> None:
    ran = move(tmp_path)
    assert (ran.code, ran.results["weakenings"]) == (0, [])
    [warning] = [each for each in ran.results["warnings"] if each["code"] == "moved_traces"]
    assert warning["message"].replace("`", "") == f"{MOVED}; all were recorded after the baseline's"
    assert f"{MOVED};" in ran.stdout
    assert "## \u2705 EvalGate passed: no change since the baseline" in ran.text("comment.md")


def test_new_recordings_by_record_are_new_where_the_baselines_are_by_record(tmp_path: Path) -> None:
    now = {**NEW, "metadata": {"evalgate.recording_id": "two"}}
    assert move(tmp_path, now, {**OLD, **BY_RECORD}).results["weakenings"] == []


@pytest.mark.parametrize(
    ("now", "before", "why"),
    [
        (OLD, OLD, "1 of 1 trace is the same as in the baseline"),
        ({**OLD, "answer": "ok then"}, OLD, "1 of 1 trace is not recorded after the baseline's"),
        ([NEW, {**OLD, "answer": "ok then"}], OLD, "1 of 2 traces is not recorded after the baseline's"),
        ({"started_at": "2024-01-01T00:00:00Z"}, OLD, "1 of 1 trace is not recorded after the baseline's"),
        ({"started_at": "2999-01-01T00:00:00Z"}, OLD, "1 of 1 trace is without a time"),
        ({"answer": "ok then"}, OLD, "1 of 1 trace is without a time"),
        (
            [{**OLD, "answer": "yes, ok"}, {**OLD, "answer": "ok 2"}],
            OLD,
            "2 of 2 traces are not recorded after the baseline's",
        ),
        (NEW, {}, "the baseline's traces are without a time"),
        (NEW, {**OLD, **BY_RECORD}, "1 of 1 trace is not written by evalgate record, unlike the baseline's"),
        ({**NEW, **BY_RECORD}, {**OLD, **BY_RECORD}, "1 of 1 trace is of the same recording as the baseline's"),
    ],
)
def test_another_folder_whose_recordings_may_be_old_weakens(tmp_path: Path, now: Any, before: Any, why: str) -> None:
    ran = move(tmp_path, now, before)
    assert ran.code == 1
    message = weakened(ran)["traces_changed"].replace("`", "")
    assert message.endswith(f"; the baseline's globs find no file, and {why}")


def test_new_recordings_elsewhere_hide_none_at_the_old_place(tmp_path: Path) -> None:
    write_suite(tmp_path)
    write_trace(tmp_path, "traces/a.json", **OLD)
    run_base(tmp_path)
    write_trace(tmp_path, "traces/a.json", "no", **NEW)
    write_trace(tmp_path, "good/a.json", **NEW)
    write_suite(tmp_path, traces=["good/*.json"])
    assert "is no longer read" in weakened(run(tmp_path))["traces_changed"]


def test_new_recordings_that_are_also_read_in_another_way_are_not_checked(tmp_path: Path) -> None:
    custom = {"format": "custom", "custom": {"scenario_id": "scenario_id", "messages": "messages"}}
    assert weakened(move(tmp_path, **custom)).keys() == {"traces_changed", "reading_changed"}


def test_fewer_new_recordings_elsewhere_weaken(tmp_path: Path) -> None:
    write_suite(tmp_path)
    for name in "ab":
        write_trace(tmp_path, f"traces/{name}.json", f"ok {name}", **OLD)
    run_base(tmp_path)
    for name in "ab":
        (tmp_path / f"traces/{name}.json").unlink()
    write_trace(tmp_path, "recorded/a.json", **NEW)
    write_suite(tmp_path, traces=["recorded/*.json"])
    assert weakened(run(tmp_path)).keys() == {"trials_missing"}


def test_globs_given_by_a_flag_hold_on_both_sides(folder: Path) -> None:
    write_suite(folder, traces=["good/*.json"])
    ran = run(folder, "--traces", "traces/*.json")
    assert ran.results["weakenings"] == []
    assert NOTE not in ran.stdout


def test_what_the_old_reading_can_not_read_is_not_checked(folder: Path) -> None:
    (folder / "loop").symlink_to(folder / "gone.json")
    write_suite(folder, traces=["loop"])
    write_trace(folder, "gone.json")
    run_base(folder)
    (folder / "gone.json").unlink()
    write_suite(folder, traces=["traces/*.json"])
    assert "not checked: the file does not exist" in weakened(run(folder))["traces_changed"]


def test_a_suite_that_moved_is_read_where_it_was(folder: Path) -> None:
    write_trace(folder, "traces/a.json", "no")
    write_trace(folder, "moved/traces/a.json")
    write_suite(folder, path="moved/s.yaml")
    ran = run(folder, config="moved/s.yaml")
    assert "is HARD FAIL" in weakened(ran)["traces_changed"]


def test_traces_over_the_bound_which_all_suites_share_are_not_checked(folder: Path) -> None:
    write_suite(folder, path="many.yaml", suite="many", traces=["all.jsonl"])
    write_trace(folder, "all.jsonl")
    assert evalgate(folder, ["many.yaml", "s.yaml"]).code == 0
    (folder / ".evalgate/baseline.zip").rename(folder / "base.zip")
    record = (folder / "all.jsonl").read_text()
    lines = (record.replace('"ok"', f'"ok {number}"') for number in range(MAX_CROSS_SCORED + 1))
    (folder / "all.jsonl").write_text("\n".join(lines))
    changed = [{"id": "a", "assertions": [OK, {"contains": "k"}]}]
    write_suite(folder, path="many.yaml", suite="many", traces=["all.jsonl"], scenarios=changed)
    write_suite(folder, format="native")
    found = weakened(evalgate(folder, ["many.yaml", "s.yaml", "--baseline", "base.zip", "--no-baseline-zip"]))
    assert found.keys() == {"reading_changed", "rules_unchecked"}
    assert "not checked: at most 10,000 traces" in found["reading_changed"]
    assert "at most 10,000 traces" in found["rules_unchecked"]


def test_a_new_suite_has_none(folder: Path) -> None:
    write_suite(folder, path="new.yaml", suite="new", traces=["other/*.json"])
    write_trace(folder, "other/a.json")
    ran = evalgate(folder, ["s.yaml", "new.yaml", "--baseline", "base.zip"])
    assert (ran.code, ran.results["weakenings"]) == (0, [])


def test_easier_checks_that_hide_a_failure_gate_as_weakened(tmp_path: Path) -> None:
    write_suite(tmp_path, scenarios=[{"id": "a", "assertions": [{"contains": "ok"}]}])
    write_trace(tmp_path, "traces/a.json")
    run_base(tmp_path)
    write_trace(tmp_path, "traces/a.json", "no")
    easy = {"type": "not_empty", "weight": 50}
    write_suite(tmp_path, scenarios=[{"id": "a", "assertions": [{"contains": "ok"}, easy]}])
    ran = run(tmp_path)
    assert weakened(ran) == {
        "failure_masked": "would fail under the baseline's rules: "
        "FAIL: score 0.00 is below the threshold 0.8, 0 of 1 trial passed"
    }
    assert "passed, but 1 scenario would fail under the baseline's rules\n" in ran.stdout
    assert run(tmp_path, "--fail-on", "weakened").code == 1


def test_several_hidden_failures_of_a_suite_are_one_weakening(tmp_path: Path) -> None:
    write_suite(tmp_path, scenarios=[{"id": "*", "assertions": [{"contains": "ok"}]}])
    for name in "abcde":
        write_trace(tmp_path, f"traces/{name}.json", scenario=name)
    run_base(tmp_path)
    for name in "abcde":
        write_trace(tmp_path, f"traces/{name}.json", "no", scenario=name)
    easy = {"type": "not_empty", "weight": 50}
    write_suite(tmp_path, scenarios=[{"id": "*", "assertions": [{"contains": "ok"}, easy]}])
    ran = run(tmp_path)
    assert weakened(ran) == {
        "failure_masked": "would fail under the baseline's rules in 5 scenarios: a, b, c and 2 more"
    }
    assert "5 scenarios would fail under the baseline's rules" in ran.stdout


def test_shards_are_merged_without_files_to_read_again(folder: Path) -> None:
    write_suite(folder, traces=["traces/*.json", "more/*.json"])
    for number in (1, 2):
        run(folder, "--shard", f"{number}/2", "--output-dir", f"shards/{number}")
    shards = [f"shards/{number}/shard.zip" for number in (1, 2)]
    code, output = run_command(folder, "merge", *shards, "--config", "s.yaml", "--baseline", "base.zip")
    assert code == 0
    assert "not checked: the run was put together from shards" in output
