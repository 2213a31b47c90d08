"""What got worse, recorded again on both sides: the plan, what all trials show, and further trials that are refused."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest
from in_process_command import evalgate
from markdown_check import find_flaws

GOLDEN = Path(__file__).with_name("golden")

SUITE = """suite: book
scenarios:
  - {id: a, assertions: [{type: tool_called, tool: book}]}
  - {id: b, assertions: [{type: tool_called, tool: book}]}
policy: {fail_on: [hard_fail, broken]}
"""
MESSAGES = [{"role": "user", "content": "book it"}, {"role": "assistant", "content": "done"}]
CALLS = {"p": ["book", "look"], "f": [], "k": ["book"], "l": ["look"], "d": ["book", "look", "delete_account"]}
MAIN, OTHER = "a" * 40, "b" * 40


def record(folder, name, outcomes, commit=OTHER, *more, suite=SUITE, first=0, cost=0.01):
    """A run of one trace a letter, by scenario: `p` calls both tools, `f` none, `k` book, `l` look, `d` a third one."""
    lines = [
        {
            "schema": "evalgate.trace/1",
            "scenario_id": scenario,
            "trial": first + trial,
            "started_at": f"2026-01-01T{hash_of(name):02}:{trial:02}:00Z",
            "commit": commit,
            "cost_usd": cost,
            "messages": MESSAGES,
            "tool_calls": [{"name": tool, "arguments": {}, "result": "ok"} for tool in CALLS[each]],
        }
        for scenario, word in outcomes.items()
        for trial, each in enumerate(word)
    ]
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "suite.yaml").write_text(suite)
    judge(folder, name, *more)


def hash_of(name):
    return ["base", "head", "base-more", "more", "other"].index(name)


def judge(folder, name, *more):
    arguments = ["--traces", f"{name}.jsonl", "--output-dir", name, "-q", *more]
    ran = evalgate("run", "suite.yaml", *arguments, cwd=str(folder))
    assert ran.exit_code in (0, 1), ran.err


def confirm(folder, *more):
    return evalgate("confirm", "head", "more", "--base", "base", "--base-more", "base-more", *more, cwd=str(folder))


def record_all(folder, base, head, base_more, more, suite=SUITE):
    record(folder, "base", {"a": base, "b": "p"}, MAIN, suite=suite)
    record(folder, "head", {"a": head, "b": "p"}, OTHER, "--baseline", "base/baseline.zip", suite=suite)
    record(folder, "base-more", {"a": base_more}, MAIN, suite=suite, first=1)
    record(folder, "more", {"a": more}, suite=suite, first=1)


@pytest.fixture
def runs(tmp_path):
    record_all(tmp_path, "p", "f", "ppppp", "ppppp")
    return tmp_path


def test_plan__lists_what_got_worse_with_new_numbers_and_the_cost(runs):
    found = evalgate("confirm", "head", "--plan", "--base", "base", cwd=str(runs))
    assert found.exit_code == 0, found.err
    assert found.out.splitlines() == [
        "a: 5 more trials on this commit and on the base",
        "10 recordings, 0.1 USD, by the mean so far",
    ]
    assert json.loads((runs / "misses.json").read_text()) == {
        "schema": "evalgate.misses/1",
        "scenarios": [{"suite": "book", "id": "a", "variant": None, "trials": [1, 2, 3, 4, 5]}],
        "recordings": 10,
        "usd": 0.1,
    }


def test_plan__is_bounded_and_begins_with_what_fails_the_check(tmp_path):
    names = [f"s{number:02}" for number in range(22)]
    entries = [f"  - {{id: {name}, assertions: [{{type: tool_called, tool: book}}]}}" for name in names]
    entries[21] = entries[21].replace("book}", "book, required: true}")
    suite = "\n".join(["suite: book", "scenarios:", *entries, "policy: {fail_on: [hard_fail]}"])
    record(tmp_path, "base", dict.fromkeys(names, "p"), MAIN, suite=suite)
    record(tmp_path, "head", dict.fromkeys(names, "f"), OTHER, "--baseline", "base/baseline.zip", suite=suite)
    found = evalgate("confirm", "head", "--plan", "--base", "base", "--trials", "1", cwd=str(tmp_path))
    assert found.exit_code == 0, found.err
    planned = json.loads((tmp_path / "misses.json").read_text())["scenarios"]
    assert [each["id"] for each in planned] == ["s21", *names[:19]]


def test_plan__of_a_run_that_got_no_worse_is_empty(runs):
    record(runs, "other", {"a": "p", "b": "p"}, OTHER, "--baseline", "base/baseline.zip")
    found = evalgate("confirm", "other", "--plan", "--base", "base", cwd=str(runs))
    assert (found.exit_code, found.out) == (0, "nothing got worse: there is nothing to record again\n")
    assert json.loads((runs / "misses.json").read_text())["scenarios"] == []


@pytest.mark.parametrize(
    ("base_more", "more", "finding", "code"),
    [
        ("ppppp", "fffff", "regression", 1),
        ("ppppp", "ppppp", "flaky_recovery", 0),
        ("fffff", "fffff", "base_was_lucky", 0),
        ("ppppp", "ppppf", "undecided", 1),
        ("pffff", "fffff", "base_was_lucky", 0),
        ("ppfff", "fffff", "undecided", 1),
        ("pppff", "fffff", "undecided", 1),
        ("ppfff", "pffff", "base_was_lucky", 0),
    ],
)
def test_all_trials_together__decide(tmp_path, base_more, more, finding, code):
    suite = SUITE.replace("hard_fail, broken", "broken")
    record_all(tmp_path, "p", "f", base_more, more, suite)
    found = confirm(tmp_path, "--json")
    shown = json.loads(found.out)
    assert ([each["finding"] for each in shown["scenarios"]], found.exit_code) == ([finding], code)
    assert shown["exit_code"] == code
    assert (shown["recordings"], shown["usd"]) == (10, 0.1)
    section = confirm(tmp_path, "--markdown", "--output-dir", "out").out
    comment = (tmp_path / "out/comment.md").read_text()
    assert section in comment
    assert find_flaws(comment, comments=["evalgate:sticky v1 key=evalgate"]) == []
    results = json.loads((tmp_path / "out/results.json").read_text())
    assert (results["exit_code"], results["verdict"] == "pass") == (code, code == 0)
    assert results["confirmation"]["scenarios"] == shown["scenarios"]
    assert "so this change is not the cause" not in comment
    if base_more in ("fffff", "ppppp"):
        expect(f"confirm-{finding}.md", comment)


def expect(name, text):
    """The text is the one that was looked at."""
    if os.environ.get("EVALGATE_REFRESH"):
        (GOLDEN / name).write_text(text)
    assert text == (GOLDEN / name).read_text()


@pytest.mark.parametrize(
    ("base_more", "heading"),
    [
        (
            "pffff",
            "recorded again, it fails on the base too (passed 2 of 6 on the base, 0 of 6 here)",
        ),
        ("ppfff", "failed: known failure ` a ` fails in 6 of 6 trials, 3 of 6 before: "),
        ("pppff", "failed: known failure ` a ` fails in 6 of 6 trials, 2 of 6 before: "),
    ],
)
def test_a_base_that_passes_in_many_more_trials__was_not_lucky(tmp_path, base_more, heading):
    record_all(tmp_path, "p", "f", base_more, "fffff", SUITE.replace("hard_fail, broken", "broken"))
    confirm(tmp_path, "--output-dir", "out")
    assert heading in (tmp_path / "out/comment.md").read_text().splitlines()[1]


def test_first_trials__always_count_so_that_a_hard_fail_stays_one(tmp_path):
    suite = SUITE.replace("tool: book}", "tool: book, required: true}")
    record_all(tmp_path, "p", "f", "ppppp", "ppppp", suite)
    found = confirm(tmp_path)
    assert found.exit_code == 1
    assert "flaky_recovery: a: passed in all 5 trials added, not in all before" in found.out
    assert "passed on the base 1 of 1, then 5 of 5; on this commit 0 of 1, then 5 of 5" in found.out


def test_a_recovery__is_never_plain_green(tmp_path):
    record_all(tmp_path, "p", "f", "ppppp", "ppppp", SUITE.replace("hard_fail, broken", "broken"))
    lines = confirm(tmp_path).out.splitlines()
    assert lines[-1] == "EvalGate passed, but 1 scenario failed at first: 1 flaky_recovery"


@pytest.mark.parametrize(("base_more", "finding"), [("lllll", "base_was_lucky"), ("kkkkk", "undecided")])
def test_the_base__must_fail_the_same_check(tmp_path, base_more, finding):
    both = "[{type: tool_called, tool: book}, {type: tool_called, tool: look}]"
    suite = SUITE.replace("[{type: tool_called, tool: book}]", both).replace("hard_fail, broken", "broken")
    record_all(tmp_path, "p", "l", base_more, "lllll", suite)
    (found,) = json.loads(confirm(tmp_path, "--json").out)["scenarios"]
    assert found["finding"] == finding


def test_a_report__replaces_none_of_the_runs(runs):
    found = confirm(runs, "--output-dir", "head")
    assert (found.exit_code, found.err) == (
        2,
        "error: --output-dir head holds one of the runs (choose another folder)\n",
    )


def test_a_run_that_got_no_worse__keeps_its_own_report(runs):
    record(runs, "head", {"a": "p", "b": "p"}, OTHER, "--baseline", "base/baseline.zip")
    found = confirm(runs, "--output-dir", "out", "--markdown")
    assert (found.exit_code, found.out) == (0, "Nothing got worse, so nothing was recorded again.\n")
    assert "confirmation" not in json.loads((runs / "out/results.json").read_text())


def test_a_recovery__is_a_flip_in_the_history(tmp_path):
    store = ["--store-url", "runs.db"]
    suite = SUITE.replace("hard_fail, broken", "broken")
    record(tmp_path, "base", {"a": "p", "b": "p"}, MAIN, *store, suite=suite)
    record(tmp_path, "head", {"a": "f", "b": "p"}, OTHER, "--baseline", "base/baseline.zip", *store, suite=suite)
    record(tmp_path, "base-more", {"a": "ppppp"}, MAIN, suite=suite, first=1)
    record(tmp_path, "more", {"a": "ppppp"}, suite=suite, first=1)
    assert "stored in runs.db as run" in confirm(tmp_path, *store).err
    shown = evalgate("store", "history", "--json", *store, cwd=str(tmp_path))
    outcomes = {each["scenario"]: each["outcomes"] for each in json.loads(shown.out)["scenarios"]}
    assert outcomes == {"a": "+-+", "b": "++"}


def test_reasons_of_other_scenarios__stay(tmp_path):
    suite = SUITE.replace("hard_fail, broken", "broken")
    record_all(tmp_path, "p", "f", "ppppp", "ppppp", suite)
    record(tmp_path, "head", {"a": "f"}, OTHER, "--baseline", "base/baseline.zip", suite=suite)
    found = confirm(tmp_path)
    assert found.exit_code == 1, found.err
    assert "flaky_recovery: a" in found.out
    assert "broken: b: PASS -> MISSING" in found.out


REFUSED = {
    "another commit": (lambda at: record(at, "more", {"a": "ppppp"}, "c" * 40), "another commit than"),
    "an unknown commit": (lambda at: record(at, "more", {"a": "ppppp"}, None), "is not known"),
    "another suite": (
        lambda at: record(at, "more", {"a": "ppppp"}, suite=SUITE.replace("tool: book", "tool: pay")),
        "suite book differs in scenarios",
    ),
    "fewer trials": (lambda at: record(at, "more", {"a": "pppp"}), "has 4 trials, 5 planned"),
    "more trials": (lambda at: record(at, "more", {"a": "pppppp"}), "has 6 trials, 5 planned"),
    "no such scenario": (lambda at: record(at, "more", {"b": "ppppp"}), "the scenario 'a' is left out"),
    "fewer trials on the base": (lambda at: record(at, "base-more", {"a": "f"}, MAIN), "has 1 trial, 5 planned"),
    "another commit on the base": (lambda at: record(at, "base-more", {"a": "fffff"}), "another commit than"),
    "another base": (lambda at: record(at, "base", {"a": "p", "b": "f"}, MAIN), "was not compared with"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_trials__are_refused_with_exit_code_3(runs, name):
    change, reason = REFUSED[name]
    change(runs)
    found = confirm(runs)
    assert found.exit_code == 3, found.out
    assert reason in found.err


def test_both_sides_of_one_commit__are_refused(tmp_path):
    record(tmp_path, "base", {"a": "p", "b": "p"})
    record(tmp_path, "head", {"a": "f", "b": "p"}, OTHER, "--baseline", "base/baseline.zip")
    for name in ("base-more", "more"):
        record(tmp_path, name, {"a": "ppppp"})
    found = confirm(tmp_path)
    assert (found.exit_code, "both sides are of the commit bbbb" in found.err) == (3, True), found.err


@pytest.mark.parametrize("names", [{}, {"trial": 9, "tags": ["new"], "metadata": {"try": 2}}])
def test_recordings_that_count_already__are_refused(runs, names):
    lines = (runs / "more.jsonl").read_text().splitlines()
    first = json.loads((runs / "head.jsonl").read_text().splitlines()[0])
    (runs / "more.jsonl").write_text("\n".join([*lines[:4], json.dumps(first | names)]))
    judge(runs, "more")
    found = confirm(runs)
    assert (found.exit_code, "is a recording that counts already" in found.err) == (3, True), found.err


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"metadata": {"evalgate.replayed": True}}, "was replayed"),
        (
            {"messages": MESSAGES[:1], "llm_calls": [{"model": "m", "error": {"status_code": 429}}]},
            "1 trial of 'a' not measured",
        ),
    ],
)
def test_trials_that_are_no_new_measurement__are_refused(runs, fields, reason):
    lines = [json.loads(line) for line in (runs / "more.jsonl").read_text().splitlines()]
    lines[4] |= {"tool_calls": [], **fields}
    (runs / "more.jsonl").write_text("\n".join(map(json.dumps, lines)))
    judge(runs, "more")
    found = confirm(runs)
    assert (found.exit_code, reason in found.err) == (3, True), found.err


def test_the_recordings_of_the_other_side__are_refused(runs):
    text = (runs / "base-more.jsonl").read_text()
    (runs / "more.jsonl").write_text(text.replace(MAIN, OTHER))
    judge(runs, "more")
    found = confirm(runs)
    assert (found.exit_code, "is a recording that counts already" in found.err) == (3, True), found.err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["head", "--base", "base"], "MORE and --base-more are missing"),
        (["head", "more", "--plan", "--base", "base"], "--plan takes RUN and --base"),
        (["head", "--plan", "--base", "base", "--trials", "6"], "expected 1 to 5"),
        (["head", "--plan", "--base", "base", "--out", "no/folder/x"], "can't write x"),
    ],
)
def test_wrong_arguments__are_one_line(runs, words, reason):
    found = evalgate("confirm", *words, cwd=str(runs))
    assert (found.exit_code, found.err.count("\n")) == (2, 1)
    assert reason in found.err


def test_report__of_an_earlier_call_does_not_stay_where_this_one_refuses(runs):
    assert confirm(runs, "--output-dir", "report").exit_code == 0
    record(runs, "more", {"a": "fffff"}, "c" * 40, first=1)
    refused = confirm(runs, "--output-dir", "report")
    assert refused.exit_code == 3, refused.err
    report = json.loads((runs / "report/results.json").read_text())
    assert (report["verdict"], report["exit_code"], report["suites"]) == ("invalid", 3, [])
    for name in ("comment.md", "summary.md"):
        heading = next(line for line in (runs / "report" / name).read_text().splitlines() if line.startswith("## "))
        assert heading.startswith("## \u26d4 EvalGate could not run: ` more/baseline.zip `: recorded on another commit")
    assert not (runs / "report/junit.xml").exists()


def test_report__of_an_earlier_call_does_not_stay_where_a_run_is_missing(runs):
    assert confirm(runs, "--output-dir", "report").exit_code == 0
    (runs / "more").rename(runs / "gone")
    assert confirm(runs, "--output-dir", "report").exit_code == 2
    assert json.loads((runs / "report/results.json").read_text())["exit_code"] == 2


def test_report__of_a_refusal_replaces_no_run(runs):
    before = (runs / "head/results.json").read_bytes()
    (runs / "more").rename(runs / "gone")
    assert confirm(runs, "--output-dir", "head").exit_code == 2
    assert (runs / "head/results.json").read_bytes() == before


def test_acts_of_the_added_trials__are_named_where_the_first_lacks_them(tmp_path):
    suite = SUITE.replace("hard_fail, broken", "broken")
    record_all(tmp_path, "p", "f", "ppppp", "ddddd", suite)
    found = confirm(tmp_path, "--output-dir", "out")
    act = "now calls delete_account in 5 of 5"
    assert f"  acts differently: {act}" in found.out.splitlines()
    assert "` a ` acts differently: " in (tmp_path / "out/comment.md").read_text()
    assert "delete_account" in (tmp_path / "out/comment.md").read_text()
    (scenario, _) = json.loads((tmp_path / "out/results.json").read_text())["suites"][0]["scenarios"]
    assert [each["kind"] for each in scenario["differences"]] == ["calls"]


def test_acts_of_the_added_trials__can_fail_the_gate(tmp_path):
    suite = SUITE.replace("hard_fail, broken", "broken, behaviour_changed")
    record_all(tmp_path, "p", "f", "ppppp", "ddddd", suite)
    assert "behaviour_changed: a: " in confirm(tmp_path).out
    record_all(tmp_path, "p", "f", "ppppp", "ppppp", suite)
    assert "behaviour_changed" not in confirm(tmp_path).out


def test_trials_that_nobody_planned__are_named_if_they_fail(tmp_path):
    record_all(tmp_path, "p", "f", "ppppp", "ppppp", SUITE.replace("hard_fail, broken", "broken"))
    assert "planned" not in confirm(tmp_path).out
    record(tmp_path, "more", {"a": "ppppp", "b": "fpfff"}, suite=(tmp_path / "suite.yaml").read_text(), first=1)
    found = confirm(tmp_path, "--output-dir", "out")
    said = "b: recorded again on this commit without being planned, and 1 of 5 trials passed; the first verdict counts"
    assert f"warning: {said}" in found.out.splitlines()
    assert "without being planned, and 1 of 5 trials passed" in (tmp_path / "out/comment.md").read_text()


@pytest.mark.parametrize(("latencies", "is_told"), [([3.01] * 5, True), ([3.01, 3.02, 3.04, 3.03, 3.08], False)])
def test_recordings_that_differ_only_in_their_time__are_named_and_not_refused(runs, latencies, is_told):
    for name in ("more", "base-more"):
        lines = [json.loads(line) for line in (runs / f"{name}.jsonl").read_text().splitlines()]
        for line, latency in zip(lines, latencies if name == "more" else [4.1, 4.2, 4.3, 4.4, 4.5], strict=True):
            line["latency_seconds"] = latency
        (runs / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
        judge(runs, name)
    found = confirm(runs, "--output-dir", "out")
    assert found.exit_code == 0, found.err
    said = "a: 5 trials added on this commit differ only in ids and times"
    assert (said in found.out, said in (runs / "out/comment.md").read_text()) == (is_told, is_told)
    assert "added on the base" not in found.out


def test_few_trials__say_how_many_were_planned_and_are_needed(tmp_path):
    record_all(tmp_path, "p", "f", "pp", "pp", SUITE.replace("hard_fail, broken", "broken"))
    found = confirm(tmp_path, "--trials", "2", "--output-dir", "out")
    said = "Only 2 trials a side were planned, and 5 are needed to be sure: what fails every other time passes all of them in 25% of"
    assert found.exit_code == 0
    assert said in found.out
    comment = (tmp_path / "out/comment.md").read_text()
    assert said in comment
    assert "recorded again, only 2 trials a side, it recovered" in comment.splitlines()[1]


@pytest.mark.parametrize("head", ["f", "p"])
def test_a_base_that_could_not_judge__is_said_where_something_fails(tmp_path, head):
    record_all(tmp_path, "p", "f", "ppppp", "ppppp")
    (tmp_path / "base.jsonl").write_text((tmp_path / "base.jsonl").read_text().replace("user", "robot", 1))
    judge(tmp_path, "base", "--report-only")
    record(tmp_path, "head", {"a": head, "b": "p"}, OTHER, "--baseline", "base/baseline.zip")
    plan = evalgate("confirm", "head", "--plan", "--base", "base", cwd=str(tmp_path)).out
    found = confirm(tmp_path).out
    said = "a: fails, and could not be judged in the baseline: it was ERROR: 1 of 1 trial could not be judged: base.jsonl:1: messages"
    assert (said in plan, said in found) == (head == "f", head == "f")
    assert ("nothing got worse" in plan, "nothing got worse" in found) == (head == "p", head == "p")


@pytest.mark.parametrize(
    ("base", "head", "more", "finding", "code"),
    [
        ("p", "f", "p", "undecided", 1),
        ("pp", "ff", "pp", "undecided", 1),
        ("pp", "ff", "ppp", "flaky_recovery", 0),
        ("p", "f", "pp", "flaky_recovery", 0),
    ],
)
def test_a_recovery__has_not_lost_half_of_all_trials(tmp_path, base, head, more, finding, code):
    suite = SUITE.replace("hard_fail, broken", "broken")
    record(tmp_path, "base", {"a": base, "b": "p"}, MAIN, suite=suite)
    record(tmp_path, "head", {"a": head, "b": "p"}, OTHER, "--baseline", "base/baseline.zip", suite=suite)
    record(tmp_path, "base-more", {"a": "p" * len(more)}, MAIN, suite=suite, first=2)
    record(tmp_path, "more", {"a": more}, suite=suite, first=2)
    found = confirm(tmp_path, "--trials", str(len(more)))
    assert (found.out.partition(":")[0], found.exit_code) == (finding, code), found.out
    assert "planned, and 5 are needed to be sure" in found.out


def test_a_recovery_by_a_pass_rate__may_have_lost_half(tmp_path):
    suite = SUITE.replace("tool: book}", "tool: book, required: true}")
    suite = suite.replace("{id: a,", "{id: a, threshold: 0.5, trials: {min_pass_rate: 0.5},")
    record_all(tmp_path, "p", "f", "p", "p", suite)
    found = confirm(tmp_path, "--trials", "1")
    assert (found.out.partition(":")[0], found.exit_code) == ("flaky_recovery", 0), found.out


def test_arguments_that_are_not_as_asked__stay_those_of_the_first_trials(tmp_path):
    record_all(tmp_path, "p", "f", "ppppp", "ddddd", SUITE.replace("hard_fail, broken", "broken"))
    kept = {"tool": "a", "argument": "b", "value": "X1", "asked": "Y1", "trials": 1, "of": 1, "since": "abc1234"}
    path = tmp_path / "head/baseline.zip"
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    results = json.loads(parts["results.json"])
    results["suites"][0]["scenarios"][0]["unasked"] = [kept]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**parts, "results.json": json.dumps(results)}.items():
            archive.writestr(name, content)
    confirm(tmp_path, "--output-dir", "out")
    (scenario, _) = json.loads((tmp_path / "out/results.json").read_text())["suites"][0]["scenarios"]
    assert scenario["unasked"] == [kept]
