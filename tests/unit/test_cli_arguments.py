"""How the command line reads its arguments: options anywhere after the verb, and the nearest word for a typo."""

from __future__ import annotations

import json
import re
from io import StringIO

import pytest
from documents import ROOT
from in_process_command import evalgate

from evalgate.cli import FIRST_VERBS, VERBS, build_parser, list_verbs, main
from evalgate.cli.shell import Shell

EXAMPLE = "examples/support-agent"


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("valdate", "evalgate has no verb 'valdate' (did you mean validate?)"),
        ("why refund", "evalgate has no verb 'why' (did you mean explain?)"),
        ("test x.yaml", "evalgate has no verb 'test' (did you mean run?)"),
        ("xyzzy", "evalgate has no verb 'xyzzy' (see evalgate --help)"),
        ("run --trace a b", "unrecognized argument --trace (did you mean --traces?)"),
        ("run --trace=a", "unrecognized argument --trace (did you mean --traces?)"),
        ("run a.yaml --xyzzy --jsn", "unrecognized arguments --xyzzy, --jsn (see evalgate run --help)"),
        ("approve refund --becaus x", "unrecognized argument --becaus (did you mean --because?)"),
        ("goldens list --jsno", "unrecognized argument --jsno (did you mean --json?)"),
        ("history --flak", "unrecognized argument --flak (did you mean --flaky?)"),
        ("run -qx", "unrecognized argument -qx"),
        ("goldens ls", "invalid choice: 'ls' (did you mean list?)"),
        ("explain one two three", "unrecognized argument three (see evalgate explain --help)"),
    ],
)
def test_a_typo_gets_the_nearest_word(line: str, message: str) -> None:
    done = evalgate(*line.split())
    assert (done.exit_code, done.err.count("\n")) == (2, 1)
    assert message in done.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run {} --html", "argument --html: expected one argument (see evalgate run --help)"),
        ("run {} -q --baseline", "argument --baseline: expected one argument (see evalgate run --help)"),
        ("run --html {}", "has the name of a suite (give another path)"),
    ],
)
def test_a_path_that_is_left_out_is_never_that_of_the_suite(line: str, message: str, tmp_path) -> None:
    """The page was once written over the suite."""
    suite = tmp_path / "evals.yaml"
    suite.write_text("suite: one\nscenarios: [{id: a, assertions: [{regex: x}]}]\n")
    before = suite.read_bytes()
    done = evalgate(*line.format(suite).split())
    assert (done.exit_code, done.err.count("\n"), suite.read_bytes()) == (2, 1, before)
    assert message in done.err


@pytest.mark.parametrize(
    "line",
    [
        "validate {0} --limit cpu=100 {1}",
        "validate {0} {1} --limit cpu=100",
        "validate --limit=cpu=100 {0} -- {1}",
    ],
)
def test_options_may_come_between_positional_arguments(line: str, tmp_path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(f"suite: {name}\nscenarios: [{{id: a, assertions: [{{regex: x}}]}}]\n")
    done = evalgate(*line.replace("cpu=100", "suite=1MB").format(tmp_path / "one.yaml", tmp_path / "two.yaml").split())
    assert (done.exit_code, done.out) == (0, "ok: 2 suites, 2 scenarios, 2 assertions\n"), done.err


def test_a_short_flag_keeps_its_value_wherever_it_is(tmp_path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text('{"schema": "evalgate.trace/1", "messages": [{"role": "user", "content": "hi"}]}')
    for line in ("convert -o{0} {1} --full", "convert {1} --full -o {0}", "convert --full -o {0} -- {1}"):
        out = tmp_path / "out.jsonl"
        done = evalgate(*line.format(out, trace).split())
        assert (done.exit_code, out.exists()) == (0, True), done.err
        out.unlink()


def test_without_a_verb_five_commands_are_shown_and_the_exit_code_is_that_of_wrong_usage() -> None:
    done = evalgate()
    shown = [line.split()[1] for line in done.err.splitlines() if line.startswith("  evalgate ")]
    assert done.exit_code == 2
    assert len(shown) == 5
    assert set(shown) <= set(VERBS)


@pytest.mark.parametrize(
    ("words", "environ", "stream", "coloured"),
    [
        ([], {}, Terminal, True),
        ([], {}, StringIO, False),
        ([], {"TERM": "dumb"}, Terminal, False),
        ([], {"NO_COLOR": "1"}, Terminal, False),
        ([], {"NO_COLOR": ""}, Terminal, True),
        ([], {"FORCE_COLOR": "1"}, StringIO, True),
        ([], {"FORCE_COLOR": "0"}, Terminal, False),
        ([], {"NO_COLOR": "1", "FORCE_COLOR": "1"}, Terminal, False),
        (["--no-color"], {"FORCE_COLOR": "1"}, Terminal, False),
    ],
)
def test_colours_are_for_terminals_unless_switched(words, environ, stream, coloured, tmp_path) -> None:
    (tmp_path / "trace.json").write_text('{"schema": "evalgate.trace/1", "messages": []}')
    suite = "suite: s\ntraces: [trace.json]\nscenarios: [{id: '*', assertions: [{regex: x}]}]\n"
    (tmp_path / "suite.yaml").write_text(suite)
    shell = Shell(stream(), StringIO(), environ, str(tmp_path))
    main(["run", "suite.yaml", "--no-baseline-zip", "-q", *words], shell)
    main([*words, "run", "suite.yaml", "--no-baseline-zip", *words], shell)
    assert ("\x1b[" in shell.out.getvalue()) == coloured


def test_advice_is_never_cut_with_a_long_value() -> None:
    done = evalgate("run", "evals/" + "long-name-" * 100 + ".yaml")
    assert done.err.endswith("(nothing was found there)\n")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("trace.json", '{"schema": "evalgate.trace/1", "messages": []}', "looks like a trace (pass it with --traces)"),
        ("trace.json", '[{"role": "user", "content": "hi"}]', "looks like a trace (pass it with --traces)"),
        ("trace.jsonl", '{"messages": []}', "looks like a trace: pass it with --traces"),
        ("trace.json.gz", "", "looks like a trace: pass it with --traces"),
        ("suite.json", '{"scenarois": [], "suite": "s"}', "did you mean `scenarios`?"),
    ],
)
def test_a_trace_given_as_a_suite_is_recognised(name: str, content: str, message: str, tmp_path) -> None:
    (tmp_path / name).write_text(content)
    done = evalgate("run", str(tmp_path / name))
    assert done.exit_code == 2
    assert message in done.err


def test_the_other_ending_of_a_suite_file_is_suggested(tmp_path) -> None:
    (tmp_path / "a.yml").write_text("suite: s\n")
    done = evalgate("run", str(tmp_path / "a.yaml"))
    assert f"(did you mean '{tmp_path}/a.yml'?)" in done.err
    shell = Shell(StringIO(), StringIO(), {}, str(tmp_path))
    (tmp_path / "evals").mkdir()
    (tmp_path / "a.yml").rename(tmp_path / "evals/a.yml")
    assert main(["run"], shell) == 2
    assert "(rename evals/a.yml to evals/a.yaml)" in shell.err.getvalue()


def test_an_unknown_format_gets_the_two_nearest_names() -> None:
    done = evalgate("convert", EXAMPLE, "--format", "openai")
    assert "(did you mean openai-chat or openai-agents?)" in done.err
    assert evalgate("convert", EXAMPLE, "--format", "xyzzy").err.endswith(", anthropic, openai-chat)\n")


@pytest.mark.parametrize(
    ("content", "formats"),
    [
        ('{"results": [{"promptIdx": 0}]}', []),
        ('{"trace_id": "a", "span_id": "b"}', ["span-list"]),
        ('{"widgets": []}', []),
        ('{"role": "user"}', []),
    ],
)
def test_a_trace_of_no_format_is_compared_with_near_formats_only(content: str, formats: list[str], tmp_path) -> None:
    (tmp_path / "trace.json").write_text(content)
    done = evalgate("convert", str(tmp_path / "trace.json"))
    assert re.findall(r"(\S+) needs", done.err) == formats, done.err


def test_a_misspelt_field_of_an_expression_gets_a_suggestion(tmp_path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text('{"schema": "evalgate.trace/1", "messages": [{"role": "assistant", "content": "hi"}]}')
    assert "path found nothing; did you mean `metadata`?" in evalgate("query", "metadat.model", str(trace)).err
    assert evalgate("query", "metadata.modl", str(trace)).err.endswith("path found nothing\n")
    (tmp_path / "suite.yaml").write_text(
        "suite: s\ntraces: [trace.json]\nscenarios: [{id: '*', assertions: [{path: tool_cals, length: 1}]}]\n"
    )
    done = evalgate("run", str(tmp_path / "suite.yaml"), "--output-dir", str(tmp_path / "out"))
    assert "no trace has the field 'tool_cals': tool_cals (did you mean `tool_calls`?)" in done.err


def test_explain_without_a_run_says_what_makes_one(tmp_path) -> None:
    shell = Shell(StringIO(), StringIO(), {}, str(tmp_path))
    assert main(["explain", "refund"], shell) == 2
    assert shell.err.getvalue() == "error: there is no finished run at .evalgate (run `evalgate run` first)\n"


def test_a_folder_with_a_baseline_is_taken_as_the_baseline(tmp_path) -> None:
    shell = Shell(StringIO(), StringIO(), {}, str(ROOT))
    suite = tmp_path / "suite.yaml"
    suite.write_text("suite: s\ntraces: ['t.json']\nscenarios: [{id: '*', assertions: [{regex: hi}]}]\n")
    (tmp_path / "t.json").write_text('{"schema": "evalgate.trace/1", "messages": [{"role": "user", "content": "hi"}]}')
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    main(["run", str(suite), "--output-dir", first], shell)
    main(["run", str(suite), "--baseline", first, "--output-dir", second], shell)
    results = json.loads((tmp_path / "second/results.json").read_bytes())
    assert results["baseline"]["path"] == f"{first}/baseline.zip"
    assert main(["compare", first, second], shell) == 0
    assert main(["run", str(suite), "--baseline", str(tmp_path), "--output-dir", second], shell) == 2


@pytest.mark.parametrize(
    ("verb", "fact"),
    [
        ("approve", "who is responsible for it (default: $GITHUB_ACTOR, $USER or git's user.name)"),
        ("approve", "write it to this store (default: to evalgate- approvals.yaml here)"),
        ("explain", "the id of a scenario, or its beginning"),
    ],
)
def test_help_names_what_is_done_by_default(verb, fact, capsys):
    evalgate(verb, "--help")
    assert fact in " ".join(capsys.readouterr().out.split())


def test_help_lists_each_verb_in_one_line_of_a_terminal():
    shown = build_parser((), 78).format_help().split("  VERB\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in shown] == list_verbs()
    assert list(VERBS)[:6] == ["traces", "show", "init", "validate", "run", "explain"]


def listed_verbs(shown: str) -> list[str]:
    return [line.split()[0] for line in shown.split("  VERB\n")[1].split("\n\n", maxsplit=1)[0].splitlines()]


def test_help_lists_eight_verbs_and_where_to_find_more(capsys):
    evalgate("--help")
    by_flag = capsys.readouterr().out
    assert listed_verbs(by_flag) == ["record", "traces", "show", "init", "run", "explain", "view", "mutate"]
    assert "\nmore: `evalgate help --all`\n" in by_flag
    assert listed_verbs(evalgate("help").out) == list(FIRST_VERBS)


def test_help_lists_all_verbs_if_asked():
    shown = evalgate("help", "--all").out
    assert listed_verbs(shown) == list_verbs()
    assert "more:" not in shown


def test_help_of_a_verb_is_that_of_its_flag(capsys):
    evalgate("baseline", "save", "--help")
    by_flag = capsys.readouterr().out
    assert evalgate("help", "baseline", "save").exit_code == 0
    assert capsys.readouterr().out == by_flag
    assert evalgate("help", "valdate").err == "error: evalgate has no verb 'valdate' (did you mean validate?)\n"


@pytest.mark.parametrize("name", ["history", "goldens list", "feedback list", "export json -o -"])
def test_a_verb_of_the_store_has_an_old_name(name, tmp_path):
    store = ["--store-url", str(tmp_path / "runs.db")]
    added = "goldens add --id greet --user Hi --response Hello".split()  # noqa: SIM905
    assert evalgate("store", *added, *store).exit_code == 0
    old, new = evalgate(*name.split(), *store), evalgate("store", *name.split(), *store)
    assert new == old
    assert new.exit_code == 0, new.err


def test_import_into_the_store_has_an_old_name(tmp_path):
    words = ["import", str(tmp_path / "missing.jsonl")]
    old, new = evalgate(*words, cwd=str(tmp_path)), evalgate("store", *words, cwd=str(tmp_path))
    assert new == old
    assert (new.exit_code, "missing.jsonl" in new.err) == (2, True)


def test_the_help_of_the_store_lists_its_actions_and_that_of_all_verbs_only_the_group(capsys):
    evalgate("store", "--help")
    actions = ["history", "goldens", "feedback", "export", "import"]
    assert re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE) == actions
    listed = listed_verbs(evalgate("help", "--all").out)
    assert "store" in listed
    assert not set(actions) & set(listed)
