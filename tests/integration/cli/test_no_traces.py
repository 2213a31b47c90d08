"""A suite whose globs find nothing: no verdict about the agent, and advice on recording."""

import io
import json
import os
import shutil
from types import SimpleNamespace

import pytest
from markdown_check import read_text

from evalgate.adapters.formats.open.nearby import MOST_FILES
from evalgate.cli import main
from evalgate.cli.shell import Shell

HEADING = "cannot judge: no traces found: nothing matches traces/*.json below evals"
ADVICE = (
    "See the log of the step that records: an agent that crashes before its first model call leaves no trace. "
    "To record: evalgate record --suite evals/one.yaml -- YOUR AGENT; "
    "if the traces are elsewhere, correct traces in evals/one.yaml."
)
ALL = "hard_fail,new_hard_fail,broken,regression,below_threshold,not_evaluable,weakened"


def suite(name, ids=("a", "b", "c")):
    listed = "\n".join(f'  - {{id: "{id_}", assertions: [{{contains: refund, required: true}}]}}' for id_ in ids)
    return f"version: 1\nsuite: {name}\ntraces: [{name}/*.json]\nscenarios:\n{listed}\n"


def trace(project, name, id_, answer="your refund is done"):
    folder = project / "evals" / name
    folder.mkdir(parents=True, exist_ok=True)
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}]
    content = {"schema": "evalgate.trace/1", "scenario_id": id_, "messages": messages}
    (folder / f"{id_}.json").write_text(json.dumps(content))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "one.yaml").write_text(suite("one").replace("one/*", "traces/*"))
    return tmp_path


def evalgate(project, *words):
    out, err = io.StringIO(), io.StringIO()
    code = main(words, Shell(out, err, {"SOURCE_DATE_EPOCH": "1767323045"}, str(project)))
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())


def results(project):
    return json.loads((project / ".evalgate" / "results.json").read_bytes())


def codes(project):
    return [(reason["code"], reason.get("suite")) for reason in results(project)["reasons"]]


def save_baseline(project):
    """A baseline in which every scenario passes; its traces are removed afterwards."""
    for id_ in ("a", "b", "c"):
        trace(project, "traces", id_)
    assert evalgate(project, "run").returncode == 0
    (project / ".evalgate" / "baseline.zip").rename(project / "main.zip")
    for path in (project / "evals" / "traces").iterdir():
        path.unlink()


def test_no_traces_is_exit_3_and_says_what_to_do(project):
    found = evalgate(project, "run")
    assert (found.returncode, codes(project)) == (3, [("no_traces", "one")])
    assert [each["verdict"] for each in results(project)["suites"][0]["scenarios"]] == ["MISSING"] * 3
    assert found.stdout.splitlines()[-1] == f"EvalGate {HEADING}"
    assert ADVICE in found.stdout
    assert "nothing_evaluated" not in found.stdout
    assert "warning" not in found.stdout, "the reason says it already"
    assert "MISSING" not in found.stdout, "the agent's scenarios did not fail"


@pytest.mark.parametrize("name", ["comment.md", "summary.md"])
def test_comment_and_summary_advise_on_recording_and_not_on_expectations(project, name):
    save_baseline(project)
    evalgate(project, "run", "--baseline", "main.zip")
    text = (project / ".evalgate" / name).read_text()
    heading = "cannot judge: no traces found: nothing matches ` traces/*.json ` below ` evals `"
    assert heading in text
    assert ADVICE in read_text(text)
    assert "None of the 3 scenarios was evaluated. See" in read_text(text)
    for wrong in ("If this is intended", "Failures", "broken", "no trace was recorded"):
        assert wrong not in text


@pytest.mark.parametrize("ids", [("a", "b", "c"), ("*",), ("a", "b", "c*")])
def test_it_is_the_same_with_a_baseline_and_every_word_of_fail_on(project, ids):
    (project / "evals" / "one.yaml").write_text(suite("one", ids).replace("one/*", "traces/*"))
    save_baseline(project)
    found = evalgate(project, "run", "--baseline", "main.zip", "--fail-on", ALL)
    assert (found.returncode, codes(project)) == (3, [("no_traces", "one")])
    assert results(project).get("weakenings") == []
    assert "REMOVED" not in found.stdout


def test_another_suite_that_passes_does_not_hide_it(project):
    (project / "evals" / "two.yaml").write_text(suite("two"))
    for id_ in ("a", "b", "c"):
        trace(project, "two", id_)
    found = evalgate(project, "run")
    assert (found.returncode, codes(project)) == (3, [("no_traces", "one")])
    assert {each["suite"]: each["verdict"] for each in results(project)["suites"]} == {
        "one": "cannot_judge",
        "two": "pass",
    }
    assert found.stdout.splitlines()[-1] == f"EvalGate {HEADING}"


def test_another_suite_that_fails_is_exit_1_and_the_heading_says_both(project):
    (project / "evals" / "two.yaml").write_text(suite("two", ["a"]))
    trace(project, "two", "a", "no")
    found = evalgate(project, "run")
    assert (found.returncode, codes(project)) == (1, [("hard_fail", "two"), ("no_traces", "one")])
    assert found.stdout.splitlines()[-1] == (
        "EvalGate failed: 1 scenario hard-failed; no traces found: nothing matches traces/*.json below evals"
    )


def test_two_suites_without_traces_are_counted_in_the_heading(project):
    (project / "evals" / "two.yaml").write_text(suite("two"))
    found = evalgate(project, "run")
    assert (found.returncode, codes(project)) == (3, [("no_traces", "one"), ("no_traces", "two")])
    assert found.stdout.splitlines()[-1] == f"EvalGate {HEADING} (and for 1 more suite)"


def test_a_glob_of_the_command_line_is_named(project):
    found = evalgate(project, "run", "--traces", "elsewhere/**")
    assert found.returncode == 3
    assert "no traces found: nothing matches elsewhere/** below the working directory" in found.stdout


def test_a_folder_that_was_renamed_is_named_with_how_to_read_it(project):
    for id_ in ("a", "b", "c"):
        trace(project, "traces", id_)
    (project / "package.json").write_text('{"name": "shop", "scripts": {}}')
    (project / "node_modules").mkdir()
    shutil.copy(project / "evals/traces/a.json", project / "node_modules")
    (project / "evals/traces").rename(project / "recordings")
    found = evalgate(project, "run")
    hint = "recordings holds 3 traces: to judge them, write ../recordings in traces. Else see the log of the step"
    assert found.returncode == 3
    assert hint in found.stdout
    assert hint in read_text((project / ".evalgate/comment.md").read_text())
    assert "node_modules" not in found.stdout
    assert found.stdout.count("correct traces") == 0
    glob = (project / "evals/one.yaml").read_text().replace("traces/*.json", "../recordings")
    (project / "evals/one.yaml").write_text(glob)
    assert evalgate(project, "run").returncode == 0


def test_folders_with_traces_are_searched_within_bounds(project):
    trace(project, "traces", "a")
    (project / "evals/traces").rename(project / "few")
    many = project / "many" / "first" / "a"
    many.mkdir(parents=True)
    for number in range(MOST_FILES + 1):
        shutil.copy(project / "few/a.json", many / f"{number}.json")
    (project / "many/notes.json").write_text("{}")
    for number in range(3):
        (project / f"deep{number}/b/c/d/e").mkdir(parents=True)
        shutil.copy(project / "few/a.json", project / f"deep{number}/b/c/d/e")
    said = evalgate(project, "run").stdout
    assert (
        "many/first/a holds 199 or more traces and few holds 1 trace: to judge those of the first, write ../many/first"
        in said
    )


def test_a_folder_that_can_not_be_searched_is_not_named(project):
    (project / "evals/loop").symlink_to(project / "evals")
    trace(project, "old", "a")
    assert "evals/old holds 1 trace" in evalgate(project, "run").stdout


def test_one_glob_that_finds_something_makes_the_others_missing(project):
    trace(project, "traces", "a")
    assert evalgate(project, "run").returncode == 1
    assert codes(project) == [("hard_fail", "one"), ("hard_fail", "one")]


def test_report_only_keeps_the_verdict(project):
    assert evalgate(project, "run", "--report-only").returncode == 0
    assert results(project)["verdict"] == "cannot_judge"


def test_scenarios_that_need_no_trace_are_not_missed(project):
    (project / "evals" / "one.yaml").write_text(
        suite("one", ["a"]).replace("one/*", "traces/*").replace('id: "a"', 'id: "a", optional: true')
    )
    (project / "evals" / "two.yaml").write_text(suite("two", ["a"]))
    trace(project, "two", "a")
    assert evalgate(project, "run").returncode == 0


@pytest.mark.parametrize("id_", ["a", "a*"])
def test_a_suite_that_needs_no_trace_does_not_lose_all_without_a_word(project, id_):
    entry = f'{{id: "{id_}", optional: true, assertions: [{{contains: refund, required: true}}]}}'
    header = "version: 1\nsuite: one\ntraces: [traces/*.json]\nscenarios:\n"
    (project / "evals" / "one.yaml").write_text(f"{header}  - {entry}\n")
    (project / "evals" / "two.yaml").write_text(suite("two", ["a"]))
    trace(project, "two", "a")
    trace(project, "traces", "a")
    assert evalgate(project, "run").returncode == 0
    (project / ".evalgate" / "baseline.zip").rename(project / "main.zip")
    (project / "evals" / "traces" / "a.json").unlink()
    found = evalgate(project, "run", "--baseline", "main.zip")
    assert (found.returncode, codes(project)) == (0, [])
    [weakening] = results(project)["weakenings"]
    assert (weakening["kind"], weakening["suite"], weakening["scenario"]) == ("scenario_removed", "one", "a")
    assert "passed, but scenario a was removed" in found.stdout
    compared = evalgate(project, "compare", "main.zip", ".evalgate/baseline.zip", "--fail-on", "weakened")
    assert compared.returncode == 1


def test_compare_says_the_same_of_two_finished_runs(project):
    save_baseline(project)
    assert evalgate(project, "run").returncode == 3
    found = evalgate(project, "compare", "main.zip", ".evalgate/results.json", "--fail-on", ALL)
    assert found.returncode == 3
    assert HEADING in found.stdout


def test_a_hostile_glob_is_escaped(project):
    hostile = "x](www.evil.example)@maintainer `<!--/*.json"
    (project / "evals" / "one.yaml").write_text(suite("one").replace("[one/*.json]", json.dumps([hostile])))
    found = evalgate(project, "run")
    assert found.returncode == 3
    assert not any(line.startswith("::") for line in found.stdout.splitlines())
    comment = (project / ".evalgate" / "comment.md").read_text()
    assert "@maintainer" not in comment
    assert "nothing matches `` x](www" in comment.splitlines()[1]


def test_a_run_without_traces_makes_no_baseline(project):
    """Later runs would be compared with scenarios that are missing, so that nothing could break."""
    done = evalgate(project, "run")
    assert done.returncode == 3
    assert "baseline.zip was not written: a suite found no traces" in done.stderr
    assert not (project / ".evalgate" / "baseline.zip").exists()
    saved = evalgate(project, "baseline", "save")
    assert saved.returncode == 2
    assert "the run in .evalgate can't be a baseline: it could not judge (suite one: no traces found" in saved.stderr
    made = evalgate(project, "baseline", "create", ".evalgate", "-o", "b.zip")
    assert made.returncode == 2
    assert not (project / "b.zip").exists()


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("nowhere"), os.mkfifo])
def test_what_a_glob_matches_and_is_no_file_ends_the_run(project, make):
    trace(project, "traces", "a")
    make(project / "evals" / "traces" / "b.json")
    out, err = io.StringIO(), io.StringIO()
    code = main(["run", "evals/one.yaml"], Shell(out, err, {}, str(project)))
    assert code == 2
    assert "traces/b.json: this is " in err.getvalue()
