"""The command as a person uses it, on real files; in a separate process where that matters."""

import io
import json
import os
import shlex
import subprocess
import sys
from types import SimpleNamespace

import pytest
from markdown_check import read_text

from evalgate.cli import describe_bug, main
from evalgate.cli.shell import Shell

SUITE = """\
version: 1
suite: refunds
traces: [traces/*.json]
scenarios:
  - id: "*"
    assertions:
      - {contains: refund, required: true}
"""
VERBS = ["run", "validate", "explain", "compare", "baseline", "query", "schema"]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "traces").mkdir()
    (tmp_path / "evals" / "refunds.yaml").write_text(SUITE)
    trace(tmp_path, "good", "your refund is done")
    return tmp_path


def trace(project, name, answer):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}]
    content = {"schema": "evalgate.trace/1", "scenario_id": name, "messages": messages}
    (project / "evals" / "traces" / f"{name}.json").write_text(json.dumps(content))


def evalgate(project, *words, **environ):
    """The main function itself, with its own streams."""
    out, err = io.StringIO(), io.StringIO()
    code = main(words, Shell(out, err, {"SOURCE_DATE_EPOCH": "1767323045", **environ}, str(project)))
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())


def process(project, *words, **environ):
    """The command as a process."""
    command = [sys.executable, "-m", "evalgate", *words]
    mine = {"PATH": os.environ["PATH"], "SOURCE_DATE_EPOCH": "1767323045", **environ}
    return subprocess.run(command, cwd=project, env=mine, capture_output=True, text=True, check=False)


def test_run__without_config_finds_the_suites_and_passes(project):
    done = process(project, "run")
    assert done.returncode == 0, done.stderr
    assert "good" in done.stdout
    left = sorted(path.name for path in (project / ".evalgate").iterdir())
    assert left == [".gitignore", "baseline.zip", "comment.md", "junit.xml", "results.json", "summary.md"]


def test_run__fails_with_one_and_leaves_all_files(project):
    trace(project, "bad", "no")
    done = evalgate(project, "run", "--output-dir", "out/deep")
    assert done.returncode == 1
    results = json.loads((project / "out" / "deep" / "results.json").read_bytes())
    assert (results["verdict"], results["exit_code"]) == ("fail", 1)
    assert (project / "out" / "deep" / "junit.xml").exists()


def test_run__invalid_reports_every_error_with_its_location(project):
    (project / "evals" / "refunds.yaml").write_text(SUITE.replace("contains", "contain") + "treshold: 1\n")
    done = evalgate(project, "run", "--json")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: evals/refunds.yaml:7:10: an assertion needs a `type`, or a path with exactly one operator; this one has no operator (did you mean `contains`?)",
        'error: evals/refunds.yaml:8:1: unknown key "treshold" (did you mean `threshold`?)',
    ]
    results = json.loads(done.stdout)
    assert results["reasons"][0]["code"] == "invalid_suite"
    assert results["reasons"][0]["location"] == {"file": "evals/refunds.yaml", "line": 7, "column": 10}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["run", "nowhere.yaml"], "no suite file at 'nowhere.yaml' (nothing was found there)"),
        (["run", "--trace", "x.json"], "--trace"),
        (["run", "--fail-on", "hard_fial"], "did you mean `hard_fail`?"),
        (["run", "--fail-on", ""], "report-only"),
        (["run", "--format", "nativ"], "did you mean `native`?"),
        (["run", "--baseline", "gone.zip"], "gone.zip"),
        (["run", "--limit", "record=huge"], "'huge' is not a size"),
        (["run", "--limit", "recrod=1MB"], "unknown limit"),
        (["run", "--limit", "suite=10"], "evals/refunds.yaml"),
        (["run", "--nonsense"], "--nonsense (see evalgate run --help)"),
        (["baseline", "show", "x.zip", "y.zip"], "y.zip (see evalgate baseline show --help)"),
        (["compare", "a.json", "b.json"], "a.json"),
        (["query", "a.[", "evals/traces/good.json"], "invalid expression"),
        (["query", "a", "nowhere.json"], "nowhere.json"),
        (["query", "evals/traces/good.json", "a"], "(the expression comes first, then the trace)"),
        (["query", "good.json", "tool_calls"], "(the expression comes first, then the trace)"),
        (["query", "evals/traces/good.json", "--number", "9"], "no trace number 9"),
        (["baseline", "show", "gone.zip"], "gone.zip"),
        (
            ["baseline", "create", "gone", "-o", "x.zip"],
            "there is no finished run at gone (run `evalgate run` first, or pass the --output-dir of a finished one)",
        ),
        (["schema", "suit"], "suit"),
        (["rnu"], "rnu"),
    ],
)
def test_wrong_usage__is_one_line_and_exit_code_two(project, words, part):
    done = evalgate(project, *words)
    assert done.returncode == 2
    assert part in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_an_unknown_format__is_reported_where_the_suite_names_it(project):
    (project / "evals" / "refunds.yaml").write_text(SUITE + "format: openai\n")
    done = evalgate(project, "validate")
    line = SUITE.count("\n") + 1
    message = f"error: evals/refunds.yaml:{line}:1: unknown format 'openai' (did you mean `openai-chat`?)\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_run__given_another_file_instead_of_a_suite__says_how_suites_are_named(project):
    (project / "suite.toml").write_text("{}")
    done = evalgate(project, "run", "suite.toml")
    assert done.returncode == 2
    hint = "the name of a suite file must end in .yaml, .yml or .json"
    assert done.stderr == f"error: no suite file at 'suite.toml' ({hint})\n"


@pytest.mark.parametrize("verb", VERBS)
def test_help__of_every_verb_gives_examples(project, verb, capsys):
    assert evalgate(project, verb, "--help").returncode == 0
    output = capsys.readouterr().out
    assert f"evalgate {verb}" in output
    assert "examples:" in output


def test_run__in_an_empty_folder_says_how_to_begin(tmp_path):
    done = evalgate(tmp_path, "run")
    assert done.returncode == 2
    assert "`evalgate init` writes one from your traces" in done.stderr


def test_run__where_the_output_can_not_be_written_says_so_before_the_work(project):
    (project / "blocked").write_text("a file, not a folder")
    done = evalgate(project, "run", "--output-dir", "blocked")
    assert done.returncode == 2
    assert "blocked" in done.stderr
    assert "Traceback" not in done.stderr


def test_run__json_prints_the_results_and_nothing_else(project):
    done = evalgate(project, "run", "--json")
    assert json.loads(done.stdout) == json.loads((project / ".evalgate" / "results.json").read_bytes())


def test_run__with_a_template_words_the_comment_with_it(project):
    head = '{% extends "comment.md.j2" %}\n'
    (project / "own.md.j2").write_text(head + "{% block footer %}Ask us.{% endblock %}")
    assert evalgate(project, "run", "--template", "own.md.j2").returncode == 0
    assert (project / ".evalgate/comment.md").read_text().endswith("\nAsk us.\n")
    (project / "own.md.j2").write_text(head + "{% macro x() %}{% endmacro %}")
    done = evalgate(project, "run", "--template", "own.md.j2")
    assert done.returncode == 0
    assert "own.md.j2:2: text outside of blocks is not allowed" in done.stderr
    assert "Passing (1)" in (project / ".evalgate/comment.md").read_text()


def test_run__with_a_template_that_is_not_there_is_wrong_input(project):
    done = evalgate(project, "run", "--template", "nowhere.j2")
    assert done.returncode == 2
    assert "nowhere.j2" in done.stderr


def test_run__quiet_prints_one_line(project):
    done = evalgate(project, "run", "-q")
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_run__twice_gives_the_same_bytes_under_any_hash_seed(project):
    trace(project, "bad", "no")
    kept = []
    for seed in ("1", "2"):
        process(project, "run", "--output-dir", seed, PYTHONHASHSEED=seed)
        kept.append({path.name: path.read_bytes() for path in (project / seed).iterdir()})
    assert kept[0] == kept[1]


def test_run__against_a_baseline_names_what_broke(project):
    assert evalgate(project, "run", "--output-dir", "main").returncode == 0
    trace(project, "good", "no")
    done = evalgate(project, "run", "--baseline", "main/baseline.zip", "--fail-on", "broken")
    assert done.returncode == 1
    results = json.loads((project / ".evalgate" / "results.json").read_bytes())
    assert results["suites"][0]["scenarios"][0]["change"]["kind"] == "broken"
    assert [reason["code"] for reason in results["reasons"]] == ["broken"]


def test_compare__exits_zero_unless_asked_to_decide(project):
    evalgate(project, "run", "--output-dir", "main")
    trace(project, "good", "no")
    evalgate(project, "run", "--output-dir", "head")
    plain = evalgate(project, "compare", "main/baseline.zip", "head/results.json")
    strict = evalgate(project, "compare", "main/results.json", "head/baseline.zip", "--fail-on", "broken")
    assert (plain.returncode, strict.returncode) == (0, 1)
    assert "broke" in plain.stdout
    same = evalgate(project, "compare", "main/baseline.zip", "main/results.json", "--fail-on", "broken,regression")
    assert same.returncode == 0


def test_baseline__create_and_show(project):
    evalgate(project, "run", GITHUB_SHA="c0ffee")
    assert evalgate(project, "baseline", "create", ".evalgate", "-o", "b.zip").returncode == 0
    shown = evalgate(project, "baseline", "show", "b.zip")
    assert "c0ffee" in shown.stdout
    as_json = json.loads(evalgate(project, "baseline", "show", "b.zip", "--json").stdout)
    assert (as_json["manifest"]["commit"], as_json["summary"]["passed"]) == ("c0ffee", 1)


def test_query__prints_what_an_expression_finds_and_the_whole_view_without_one(project):
    found = evalgate(project, "query", "response.content", "evals/traces/good.json")
    assert (found.returncode, found.stdout) == (0, '"your refund is done"\n')
    view = json.loads(evalgate(project, "query", "evals/traces/good.json").stdout)
    assert {
        "response",
        "turns",
        "tool_calls",
        "metadata",
        "usage",
        "cost",
        "latency",
        "scores",
    } <= view.keys()


def test_query__of_several_traces_prints_a_line_each(project):
    trace(project, "zweiter", "Grüße")
    done = evalgate(project, "query", "response.content", "evals/traces/*.json")
    assert done.stdout == '"your refund is done"\n"Grüße"\n'


def test_query__shows_the_warnings_of_a_trace(project):
    asked = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "name": "look", "arguments": {}}],
    }
    document = {"schema": "evalgate.trace/1", "messages": [{"role": "user", "content": "hi"}, asked]}
    (project / "cut.json").write_text(json.dumps(document))
    done = evalgate(project, "query", "tool_calls[0].name", "cut.json")
    assert (done.returncode, done.stdout) == (0, '"look"\n')
    assert done.stderr.startswith("warning: results_missing: ")


def test_query__escapes_terminal_control_sequences(project):
    trace(project, "evil", "\x1b[31m \x9b31m \u202e")
    done = evalgate(project, "query", "response.content", "evals/traces/evil.json")
    assert json.loads(done.stdout) == "\x1b[31m \x9b31m \u202e"
    assert not set(done.stdout) & {"\x1b", "\x9b", "\u202e"}


def test_query__of_a_damaged_trace_says_why(project):
    (project / "bad.json").write_text("{")
    done = evalgate(project, "query", "bad.json")
    assert done.returncode == 2
    assert done.stderr.startswith("error: bad.json: ")


@pytest.mark.parametrize("kind", ["suite", "project", "trace", "results"])
def test_schema__is_a_json_schema_that_accepts_what_we_write(project, kind):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(evalgate(project, "schema", kind).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    evalgate(project, "run")
    samples = {
        "suite": {
            "version": 1,
            "suite": "s",
            "scenarios": [{"id": "*", "assertions": [{"contains": "a"}, {"type": "cost_limit", "max_usd": 1}]}],
        },
        "project": {"version": 1, "suites": ["evals/*.yaml"]},
        "trace": json.loads((project / "evals" / "traces" / "good.json").read_bytes()),
        "results": json.loads((project / ".evalgate" / "results.json").read_bytes()),
    }
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(samples[kind])) == []
    assert not validator.is_valid({"version": "x"})


def test_validate__counts_what_it_read_and_refuses_a_pattern_that_is_none(project):
    done = evalgate(project, "validate")
    assert (done.returncode, done.stdout) == (0, "ok: 1 suite, 1 scenario, 1 assertion\n")
    (project / "evals" / "refunds.yaml").write_text(SUITE + "      - {type: output_contains, pattern: '('}\n")
    done = evalgate(project, "validate")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: evals/refunds.yaml:8:")


HARMLESS = (
    "no assertion here can fail the check: none is `required` and fail_on is hard_fail (only a missing or unreadable"
    " trace can): add `required: true`, or below_threshold to `fail_on`"
)


def test_a_suite_that_can_fail_nothing__is_a_warning_wherever_one_looks(project):
    (project / "evals" / "refunds.yaml").write_text(SUITE.replace(", required: true", ""))
    done = evalgate(project, "validate")
    assert (done.returncode, done.stderr) == (0, f"warning: evals/refunds.yaml: {HARMLESS}\n")
    done = evalgate(project, "run")
    assert (done.returncode, f"warning: {HARMLESS.replace('`', '')} (evals/refunds.yaml)" in done.stdout) == (0, True)
    for name in ("comment.md", "summary.md"):
        assert HARMLESS.replace("`", "") in read_text((project / ".evalgate" / name).read_text())
    results = json.loads((project / ".evalgate" / "results.json").read_bytes())
    assert [each["message"] for each in results["warnings"]] == [HARMLESS]


@pytest.mark.parametrize("words", [["--fail-on", "below_threshold"], ["--report-only"]])
def test_a_suite_that_can_fail_nothing__is_no_warning_where_a_flag_decides(project, words):
    (project / "evals" / "refunds.yaml").write_text(SUITE.replace(", required: true", ""))
    assert "no assertion" not in evalgate(project, "run", *words).stdout


def test_validate__says_how_many_trials_a_rule_needs(project):
    policy = "    trials: {min: 2}\npolicy: {fail_on: [hard_fail, broken], regression: {require_evidence: true}}\n"
    (project / "evals" / "refunds.yaml").write_text(SUITE + policy)
    done = evalgate(project, "validate")
    assert done.returncode == 0
    assert done.stderr.startswith("warning: evals/refunds.yaml:5:5: `trials.min: 2` is too few for `broken`: ")
    assert done.stderr.endswith("; `min: 3` would do\n")


def test_project_file__names_its_suites_and_shares_defaults(project):
    (project / "evalgate.yaml").write_text(
        "version: 1\nsuites: ['evals/**/*.yaml']\ndefaults: {assertions: [{contains: done}]}\npolicy: {fail_on: [below_threshold]}\n"
    )
    trace(project, "half", "refund")
    done = evalgate(project, "run")
    assert done.returncode == 1
    results = json.loads((project / ".evalgate" / "results.json").read_bytes())
    assert [reason["scenario"] for reason in results["reasons"]] == ["half"]


def test_output__to_a_closed_pipe_is_not_an_error(project):
    command = f"{shlex.quote(sys.executable)} -m evalgate query evals/traces/good.json | head -1"
    done = subprocess.run(command, shell=True, cwd=project, capture_output=True, text=True, check=False)  # noqa: S602
    assert done.stderr == ""


def test_process__with_closed_streams_still_exits_with_the_decision(project):
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        command = f"{shlex.quote(sys.executable)} -m evalgate run --no-baseline-zip {closed}"
        done = subprocess.run(["/bin/sh", "-c", command], cwd=project, capture_output=True, check=False)
        assert (done.returncode, done.stderr.count(b"Traceback")) == (0, 0)


def test_process__in_a_deleted_folder_says_so(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"rmdir {gone}; {shlex.quote(sys.executable)} -P -m evalgate run"
    done = subprocess.run(["/bin/sh", "-c", command], cwd=gone, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "error: the working directory no longer exists\n")


def test_process__with_variables_that_are_not_text_and_an_ascii_terminal(project):
    trace(project, "g\u00f6\u00f6d", "refund")
    environ = {"GITHUB_SHA": "\udcff", "GITHUB_REF_NAME": "\udcff", "PYTHONIOENCODING": "ascii"}
    done = process(project, "run", **environ)
    assert done.returncode == 0, done.stderr
    assert "g??d" in done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [("msgspec.json", "the Python module msgspec is missing: install"), ("evalgate.gone", "a bug in EvalGate")],
)
def test_a_missing_module__is_named_unless_it_is_our_own(name, words):
    assert words in describe_bug(ModuleNotFoundError("hidden", name=name))
    assert "hidden" not in describe_bug(ModuleNotFoundError("hidden", name=name))
