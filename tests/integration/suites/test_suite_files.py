"""Suites on disk: what their files are called, and where their traces come from."""

import pytest

from evalgate.application.evaluation.evaluate import TraceChoice
from evalgate.bootstrap import sources
from evalgate.errors import SuiteError

SUITE = "scenarios: [{id: a, expected_tool: null}]\n"


def load(folder, *configs, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_yaml", ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return sources.build_suite_files(str(folder)).load(configs)


def read_problems(folder, *configs, **files):
    with pytest.raises(SuiteError) as error:
        load(folder, *configs, **files)
    return [str(problem) for problem in error.value.problems]


def test_suites_without_a_name__have_those_of_their_files(tmp_path):
    found = load(tmp_path, "*.yaml", one_yaml=SUITE, two_yaml="suite: named\n" + SUITE)
    assert [suite.name for suite in found.suites] == ["one", "named"]


def test_two_suites_of_one_name__are_an_error_that_names_both_files(tmp_path):
    (line,) = read_problems(tmp_path, "**/*.yaml", a__same_yaml=SUITE, b__same_yaml=SUITE)
    assert line.startswith("b/same.yaml:1:1: suite `same` has the same name as the suite in a/same.yaml")


def test_traces_of_the_project__are_those_of_suites_that_name_none(tmp_path):
    project = "version: 1\nsuites: [evals/*.yaml]\ndefaults: {traces: [recorded/*.json]}\n"
    own = "traces: own/*.json\n" + SUITE
    found = load(
        tmp_path,
        "p/evalgate.yaml",
        p__evalgate_yaml=project,
        p__evals__a_yaml=SUITE,
        p__evals__b_yaml=own,
    )
    chosen = [TraceChoice().resolve_for_suite(suite)[:2] for suite in found.suites]
    assert chosen == [(["recorded/*.json"], "p"), (["own/*.json"], "p/evals")]


@pytest.mark.parametrize("text", ["", "prompt: hello\n", "- a\n", "traces: [x]\n"])
def test_file_that_is_not_a_suite__says_what_it_lacks(tmp_path, text):
    lines = read_problems(tmp_path, "x.yaml", x_yaml=text)
    assert any("a suite has `scenarios`" in line for line in lines), lines
