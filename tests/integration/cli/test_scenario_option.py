"""`run --scenario`: judges a part of the scenarios, and leaves nothing that could be taken for the gate."""

import io
import json
import shlex
from types import SimpleNamespace

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell

SUITE = """version: 1
suite: refunds
traces: [traces/*.json]
scenarios:
  - {id: refund-late, assertions: [{contains: refund, required: true}]}
  - {id: refund-soon, assertions: [{contains: refund, required: true}]}
  - {id: goodbye, assertions: [{contains: bye, required: true}]}
quarantine:
  - {scenario: goodbye, until: 2026-01-20, reason: flaky}
"""
SUITE = SUITE.replace("defaults: {variants: [{id: flat}, {id: deep}]}\n", "")
APPROVALS = "approvals: [{suite: refunds, scenario: goodbye, until: 2026-01-20, reason: known, who: Ana}]\n"


def evalgate(project, *words):
    out, err = io.StringIO(), io.StringIO()
    code = main(words, Shell(out, err, {"SOURCE_DATE_EPOCH": "1767323045"}, str(project)))
    return SimpleNamespace(code=code, out=out.getvalue(), err=err.getvalue())


def record(project, id_, answer):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}]
    trace = {"schema": "evalgate.trace/1", "scenario_id": id_, "messages": messages}
    (project / "traces" / f"{id_}.json").write_text(json.dumps(trace))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "traces").mkdir()
    (tmp_path / "suite.yaml").write_text(SUITE)
    for id_, answer in (("refund-late", "refund"), ("refund-soon", "refund"), ("goodbye", "bye"), ("stray", "?")):
        record(tmp_path, id_, answer)
    assert evalgate(tmp_path, "run", "suite.yaml", "--output-dir", "main").code == 0
    record(tmp_path, "refund-late", "no")
    record(tmp_path, "goodbye", "no")
    return tmp_path


def run_part(project, *words):
    found = evalgate(project, "run", "suite.yaml", "--baseline", "main", *words)
    path = project / ".evalgate" / "results.json"
    return found, json.loads(path.read_bytes()) if path.exists() else None


def list_ids(document):
    return [each["id"] for suite in document["suites"] for each in suite["scenarios"]]


@pytest.mark.parametrize(
    ("words", "code", "ids"),
    [
        (["-k", "refund-soon"], 0, ["refund-soon"]),
        (["--scenario", "refund*"], 1, ["refund-late", "refund-soon"]),
        (["-k", "*soon", "-k", "*late"], 1, ["refund-late", "refund-soon"]),
        (["-k", "refund-late", "--jobs", "2"], 1, ["refund-late"]),
    ],
)
def test_scenario__globs__only_these_are_judged_compared_and_counted(project, words, code, ids):
    found, document = run_part(project, *words)
    patterns = [word for word in words[1::2] if word != "2"]
    assert (found.code, list_ids(document)) == (code, ids)
    assert document["selection"] == {"patterns": patterns, "judged": len(ids), "of": 3}
    assert document["summary"]["scenarios"] == document["summary"]["checks"]["passed"] + code == len(ids)
    assert (document["removed"], document["unclaimed"], document.get("quarantines", [])) == ([], [], [])
    note = f"{len(ids)} of 3 scenarios judged (--scenario), which is not the gate"
    assert note in found.out
    assert note in (project / ".evalgate" / "comment.md").read_text()
    assert shlex.split(document["command"])[3:-2] == [each for glob in patterns for each in ("--scenario", glob)]


def test_scenario__variant__is_selected_by_its_name_in_brackets(project):
    variants = "scenarios:\n  - {id: a, variants: {flat: {match: {tags: [flat]}}, deep: {match: {tags: [deep]}}}, assertions: [{contains: x}]}\n"
    (project / "suite.yaml").write_text(f"version: 1\nsuite: refunds\ntraces: [traces/*.json]\n{variants}")
    _, document = run_part(project, "-k", "a[deep]")
    assert [(each["id"], each["variant"]) for each in document["suites"][0]["scenarios"]] == [("a", "deep")]


def test_scenario__no_match__is_wrong_input_that_names_the_nearest_id(project):
    found, document = run_part(project, "-k", "refund-son")
    assert (found.code, document) == (2, None)
    assert "no scenario matches --scenario refund-son (did you mean `refund-soon`?)" in found.err


def test_scenario__part__leaves_no_baseline_no_stored_run_and_is_no_baseline(project):
    (project / ".evalgate").mkdir()
    (project / ".evalgate" / "baseline.zip").write_bytes(b"of the last whole run")
    run_part(project, "-k", "refund*", "--store-url", "runs.db")
    assert (project / ".evalgate" / "baseline.zip").read_bytes() == b"of the last whole run"
    assert not (project / "runs.db").exists()
    found = evalgate(project, "run", "suite.yaml", "--baseline", ".evalgate/results.json", "--output-dir", "other")
    assert found.code == 2
    assert "results.json holds 2 of 3 scenarios, judged with --scenario: it is no baseline" in found.err


def test_scenario__weaker_suite_and_approval_of_others__are_not_reported(project):
    (project / "suite.yaml").write_text(SUITE.replace("contains: bye, required: true", "contains: bye"))
    (project / "evalgate-approvals.yaml").write_text(APPROVALS)
    _, document = run_part(project, "-k", "refund-soon", "--on-weakening", "fail")
    assert (document["verdict"], document.get("weakenings", []), document["approvals"]) == ("pass", [], [])


def test_scenario__one_of_several_fails__the_reports_give_the_command_for_it(project):
    found, document = run_part(project)
    command = f"{document['command']} --scenario refund-late"
    assert found.err.count(f"to judge only this scenario again: {command}\n") == 1
    assert f"\n{command}\n" in (project / ".evalgate" / "comment.md").read_text()
    assert "again" not in evalgate(project, "run", *shlex.split(command)[2:]).err
    record(project, "refund-soon", "no")
    assert "again" not in run_part(project)[0].err


def test_scenario__merged_shards__judge_what_one_run_judges(project):
    _, whole = run_part(project, "-k", "refund*")
    for number in (1, 2):
        words = ["-k", "refund*", "--shard", f"{number}/2", "--output-dir", f"shards/{number}"]
        assert evalgate(project, "run", "suite.yaml", "--baseline", "main", *words).code == 0
    merged = evalgate(project, "merge", "shards", "--config", "suite.yaml", "--baseline", "main", "--output-dir", "m")
    document = json.loads((project / "m" / "results.json").read_bytes())
    assert merged.code == 1
    assert {**document, "command": ""} == {**whole, "command": ""}
    assert not (project / "m" / "baseline.zip").exists()


@pytest.mark.parametrize("given", ["refund-l", "re\u2026-late", "refund-la\u2026 (2 more characters)"])
def test_scenario__the_beginning_of_one_id_or_a_cut_one__is_this_scenario(project, given):
    found, document = run_part(project, "-k", given)
    assert (found.code, list_ids(document)) == (1, ["refund-late"])
    assert document["selection"]["patterns"] == ["refund-late"]
    assert evalgate(project, "explain", given).out.startswith("HARD FAIL  refund-late\n")


@pytest.mark.parametrize("words", [["run", "suite.yaml", "-k"], ["explain"], ["show"], ["query", "status"]])
def test_the_beginning_of_several_ids__names_them(project, words):
    assert run_part(project)[0].code == 1
    found = evalgate(project, *words, "refund-")
    assert (found.code, found.out) == (2, "")
    assert "(2 begin so: `refund-late`, `refund-soon`)" in found.err


@pytest.mark.parametrize("words", [["show"], ["query", "metadata.scenario_id"]])
def test_show_and_query__the_beginning_of_an_id__take_its_trial_that_did_not_pass(project, words):
    again = json.loads((project / "traces/refund-late.json").read_text()) | {"trial": 1}
    again["messages"][1]["content"] = "refund"
    (project / "traces/again.json").write_text(json.dumps(again))
    assert run_part(project)[0].code == 1
    found = evalgate(project, *words, "refund-l")
    assert (found.code, found.err) == (
        0,
        "note: scenario refund-late, trial 1 of the last run (hard fail): traces/refund-late.json\n",
    )
    assert "refund-late" in found.out


def test_show_and_explain__an_id_that_only_a_trace_has__is_shown_and_named(project):
    record(project, "exchange", "The trial of no suite.")
    assert run_part(project)[0].code == 1
    shown = evalgate(project, "show", "exchange")
    assert (shown.code, "The trial of no suite." in shown.out) == (0, True)
    assert shown.err == "note: no suite has a scenario exchange: traces/exchange.json records it\n"
    found = evalgate(project, "explain", "exchange")
    assert (found.code, found.err.count("\n")) == (2, 1)
    assert "traces of the run record it, but no suite of .evalgate/results.json has scenario `exchange` (" in found.err


@pytest.mark.parametrize("words", [["show"], ["query", "status"]])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("gone.json", "no trace file at 'gone.json'\n"),
        ("refund-lat", "begin so"),
        ("refnd-late", "and the last run has no scenario `refnd-late` (did you mean `refund-late`?)\n"),
    ],
)
def test_show_and_query__what_is_neither_a_file_nor_an_id__is_one_line(project, words, given, message):
    record(project, "refund-later", "no")
    (project / "suite.yaml").write_text(
        SUITE.replace("goodbye, a", "refund-later, a").replace("scenario: goodbye", "scenario: refund-later")
    )
    assert run_part(project)[0].code == 1
    found = evalgate(project, *words, given)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert message in found.err
