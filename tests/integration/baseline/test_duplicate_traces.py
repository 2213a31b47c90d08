"""One recording counts once, and a trial is never dropped for its number or id."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from shard_runs import run_command

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

SUITE = {
    "version": 1,
    "suite": "s",
    "traces": ["traces/*"],
    "policy": {"fail_on": ["hard_fail", "below_threshold"]},
    "scenarios": [{"id": "a", "trials": {"min_pass_rate": 0.6}, "assertions": [{"contains": "ok"}]}],
}
SAME = "is the same recording as"
HEADING = "there are duplicate traces"


def trace(answer: str = "ok", **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}]
    return {"schema": "evalgate.trace/1", "scenario_id": "a", "messages": messages, **more}


def run(folder: Path, traces: dict[str, str], *arguments: str, **more: Any) -> CommandResult:
    """Runs a suite of one scenario over these files."""
    (folder / "s.yaml").write_text(json.dumps({**SUITE, **more}))
    (folder / "traces").mkdir()
    for name, content in traces.items():
        (folder / "traces" / name).write_text(content)
    return evalgate(folder, ["s.yaml", *arguments])


def lines(*traces: dict[str, Any]) -> dict[str, str]:
    return {"all.jsonl": "".join(json.dumps(each) + "\n" for each in traces)}


def scenario(ran: CommandResult) -> dict[str, Any]:
    found: dict[str, Any] = ran.results["suites"][0]["scenarios"][0]
    return found


def notes(ran: CommandResult) -> list[str]:
    return [each["message"] for each in ran.results["warnings"] if each["code"] in ("duplicates", "decisive_copies")]


DISTINCT = {"usage": {"input_tokens": 7, "output_tokens": 1}}
BAD = trace("no", trial=0)
ONCE = {
    "a copy of a file": {"bad.json": json.dumps(BAD), "one.json": json.dumps(trace()), "two.json": json.dumps(trace())},
    "a line twice": lines(BAD, trace(trial=1), trace(trial=1)),
    "a record of a list twice": {"all.json": json.dumps([BAD, trace(trial=1), trace(trial=1)])},
    "the same id and messages": lines(BAD, trace(trace_id="t", trial=1), trace(trace_id="t", trial=2, cost_usd=1)),
    "a line of another file": {"a.jsonl": json.dumps(BAD) + "\n" + json.dumps(trace()) + "\n", "b.jsonl": json.dumps(trace()) + "\n"},
    "a line with other blanks": {"all.jsonl": json.dumps(BAD) + "\n" + json.dumps(trace(trace_id="t")) + "\n" + json.dumps(trace(trace_id="t"), separators=(",", ":"))},
}  # fmt: skip


@pytest.mark.parametrize("traces", ONCE.values(), ids=ONCE)
def test_one_recording_counts_once(tmp_path: Path, traces: dict[str, str]) -> None:
    ran = run(tmp_path, traces)
    assert (scenario(ran)["n"], scenario(ran)["verdict"], ran.code) == (2, "PARTIAL", 1)
    [note] = notes(ran)
    assert SAME in note
    assert HEADING in ran.stdout
    assert HEADING in ran.text("comment.md").splitlines()[1]


BOTH = {
    "the same trace id": (lines(trace("no", trace_id="t"), trace(trace_id="t")), "the same trace id"),
    "the same trial number": (lines(trace("no", trial=3), trace(trial=3)), "the same trial number"),
    "another trial number": (lines(BAD, trace(trial=3, **DISTINCT), trace(trial=4, **DISTINCT)), "may be a copy of"),
    "another id": (lines(BAD, trace(trace_id="t"), trace(trace_id="u")), "may be a copy of"),
}


@pytest.mark.parametrize(("traces", "named"), BOTH.values(), ids=BOTH)
def test_what_is_alike_and_not_the_same_counts_and_is_named(tmp_path: Path, traces: dict[str, str], named: str) -> None:
    ran = run(tmp_path, traces)
    assert scenario(ran)["n"] == traces["all.jsonl"].count("\n")
    [note] = notes(ran)
    assert named in note
    assert HEADING in ran.stdout


DEAR = trace(trace_id="t", cost_usd=9)
LOST = {**trace(trace_id="t"), "llm_calls": [{"error": {"type": "RateLimitError", "status_code": 429}}]}
LOST["messages"] = LOST["messages"][:1]


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    ("failing", "other", "check"),
    [
        (DEAR, trace(trace_id="t", cost_usd=0.1), {"type": "cost_limit", "max_usd": 1}),
        (trace(trace_id="t", status="error"), trace(trace_id="t"), {"path": "metadata.status", "eq": "ok"}),
        ({**LOST, "llm_calls": [{"model": "m"}]}, LOST, {"contains": "ok"}),
    ],
    ids=["cost", "status", "outage"],
)
def test_a_failing_record_is_not_left_out_for_one_of_the_same_messages(
    tmp_path: Path, failing: dict[str, Any], other: dict[str, Any], check: dict[str, Any], *, is_first: bool
) -> None:
    traces = (failing, other) if is_first else (other, failing)
    ran = run(tmp_path, lines(*traces), scenarios=[{"id": "a", "assertions": [{**check, "required": True}]}])
    assert (scenario(ran)["verdict"], ran.code) == ("HARD_FAIL", 1)
    assert "the same trace id" in notes(ran)[0]


def test_copies_that_a_verdict_depends_on_are_no_clean_pass(tmp_path: Path) -> None:
    copies = [trace(trace_id=name) for name in "tuvw"]
    ran = run(tmp_path, lines(BAD, *copies))
    assert (ran.code, scenario(ran)["verdict"]) == (0, "PASS")
    assert f"passed, but {HEADING}" in ran.stdout
    assert "without copies the scenario would be PARTIAL" in notes(ran)[0]


def test_copies_that_change_nothing_are_not_named(tmp_path: Path) -> None:
    entries = [{"id": id_, "assertions": [{"contains": "ok"}]} for id_ in "abc"]
    traces = [{**trace(trial=number), "scenario_id": id_} for id_ in "abc" for number in range(3)]
    ran = run(tmp_path, lines(*traces), scenarios=entries, policy={"duplicates": "fail"})
    assert (ran.code, notes(ran)) == (0, [])
    assert HEADING not in ran.stdout


def test_runs_that_differ_in_a_figure_are_not_alike(tmp_path: Path) -> None:
    ran = run(tmp_path, lines(trace(latency_seconds=1.2), trace(latency_seconds=1.3)))
    assert (scenario(ran)["n"], notes(ran)) == (2, [])
    assert HEADING not in ran.stdout


def test_other_scenarios_may_have_the_same_recording(tmp_path: Path) -> None:
    entries = [{"id": id_, "assertions": [{"contains": "ok"}]} for id_ in "ab"]
    ran = run(tmp_path, lines(trace(), {**trace(), "scenario_id": "b"}), scenarios=entries)
    assert (ran.code, notes(ran)) == (0, [])


def test_with_duplicates_fail_the_scenario_is_an_error(tmp_path: Path) -> None:
    policy = {"fail_on": ["regression"], "duplicates": "fail"}
    ran = run(tmp_path, lines(trace(trace_id="t"), trace(trace_id="t")), policy=policy)
    assert (scenario(ran)["verdict"], ran.code) == ("ERROR", 1)
    reason = ran.results["reasons"][0]
    assert (reason["code"], reason["scenario"]) == ("duplicates", "a")
    assert SAME in scenario(ran)["reason"]
    assert "failed: 1 scenario had duplicate traces" in ran.stdout


def test_fail_turned_into_warn_is_a_weakening(tmp_path: Path) -> None:
    policy = {"fail_on": ["hard_fail"], "duplicates": "fail"}
    run(tmp_path, lines(trace()), policy=policy)
    (tmp_path / ".evalgate/baseline.zip").rename(tmp_path / "base.zip")
    (tmp_path / "s.yaml").write_text(json.dumps(SUITE | {"policy": {"fail_on": ["hard_fail"]}}))
    ran = evalgate(tmp_path, ["s.yaml", "--baseline", "base.zip"])
    [weakening] = ran.results["weakenings"]
    assert weakening["message"] == "the tolerance was widened: duplicates: fail -> warn"


def test_goldens_count_a_recording_once(tmp_path: Path) -> None:
    golden = {"id": "a", "user_messages": ["hi"], "golden_responses": ["ok"]}
    suite = {"version": 1, "suite": "s", "traces": ["traces/*"], "goldens": [golden]}
    (tmp_path / "s.yaml").write_text(json.dumps(suite))
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces/all.jsonl").write_text(lines(trace(trial=1), trace(trial=1), trace("k", trial=2))["all.jsonl"])
    ran = evalgate(tmp_path, ["s.yaml"])
    assert scenario(ran)["n"] == 2
    assert SAME in notes(ran)[0]


def test_workers_and_shards_find_the_same(tmp_path: Path) -> None:
    traces = {f"{number}.json": json.dumps(trace(trace_id=f"t{number // 2}")) for number in range(8)}
    alone = run(tmp_path, traces)
    by_workers = evalgate(tmp_path, ["s.yaml", "--jobs", "2", "--output-dir", "jobs"])
    for number in (1, 2):
        evalgate(tmp_path, ["s.yaml", "--shard", f"{number}/2", "--output-dir", f"shards/{number}"])
    shards = [f"shards/{number}/shard.zip" for number in (1, 2)]
    run_command(tmp_path, "merge", *shards, "--config", "s.yaml", "--output-dir", "merged")
    assert scenario(alone)["n"] == 4
    expected = (tmp_path / ".evalgate/results.json").read_bytes()
    assert by_workers.code == alone.code
    for name in ("jobs", "merged"):
        assert (tmp_path / name / "results.json").read_bytes() == expected


def test_a_record_counts_once_in_files_of_one_line_and_of_many(tmp_path: Path) -> None:
    line = json.dumps(trace()) + "\n"
    ran = run(tmp_path, {"a.jsonl": line + line, "b.jsonl": line})
    assert (scenario(ran)["n"], scenario(ran)["verdict"]) == (1, "PASS")
    [note] = notes(ran)
    assert SAME in note
    assert "and 1 more" in note
