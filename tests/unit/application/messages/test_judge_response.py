from __future__ import annotations

import copy
import json

import pytest
from results_builder import a_reason, a_scenario, a_suite, results

from evalgate.application.messages.judge_response import (
    decode_judgement,
    decode_report,
    encode_bug,
    encode_judgement,
    encode_refusal,
    encode_report,
)
from evalgate.application.messages.request import Judgement, RenderedReport
from evalgate.errors import JudgeCrashed, Location, Problem, SettingError
from evalgate.models.github.checks import Annotation

FILES = {"results.json": b"{}", "comment.md": b"text", "summary.md": b"more"}


def a_judgement(verdict="fail", **changes):
    document = results(
        [a_suite("s", [a_scenario("a", "HARD_FAIL")])],
        verdict,
        reasons=[a_reason("hard_fail", "it failed")],
        **changes,
    )
    return Judgement(
        document,
        FILES,
        [Annotation("error", "t", "m", "f", 1, 2)],
        warnings=["careful"],
        heading="failed: one",
        baseline_zip="/there",
    )


def send_and_parse(judgement):
    return json.loads(json.dumps(encode_judgement(judgement)))


def read_response(answer, files=FILES, *, report_only=False):
    return decode_judgement(answer, files.get, baseline_zip="/here", report_only=report_only)


def test_a_judgement_is_decoded_without_its_suites():
    given = a_judgement()
    found = read_response(send_and_parse(given))
    assert found.results == {
        **{name: dict(given.results)[name] for name in found.results},
        "suites": [],
        "removed": [],
        "unclaimed": [],
        "warnings": [],
        "approvals": [],
        "command": None,
    }
    assert (found.files, found.heading, found.warnings) == (FILES, given.heading, given.warnings)
    assert (found.annotations, found.baseline_zip) == (given.annotations, "/here")


def test_invalid_input_is_reported_with_its_location():
    problem = Problem("bad", Location("f.yaml", 3, None), "fix it")
    with pytest.raises(SettingError) as refusal:
        read_response(encode_refusal(SettingError(problem)))
    assert refusal.value.problems == [problem]


def test_a_bug_is_reported_with_its_code_location_only():
    with pytest.raises(JudgeCrashed) as bug:
        read_response(encode_bug("KeyError", ["judge.py:7 in _judge", "::error::x", "x.py:1 in f\n::error::"]))
    assert (bug.value.kind, bug.value.places, bug.value.exit_code) == (
        "KeyError",
        ["judge.py:7 in _judge"],
        70,
    )


def test_an_exception_name_that_is_not_an_identifier_is_replaced():
    with pytest.raises(JudgeCrashed) as bug:
        read_response(encode_bug("::error::", []))
    assert bug.value.kind == "Exception"


MUTATIONS = {
    "not an object": lambda _: [],
    "no results": lambda good: {**good, "results": None},
    "an unknown verdict": lambda good: with_results(good, verdict="great"),
    "a verdict that is not text": lambda good: with_results(good, verdict=["pass"]),
    "green without a pass": lambda good: with_results(good, exit_code=0),
    "green because it claims report_only": lambda good: with_results(good, exit_code=0, report_only=True),
    "an exit code of another verdict": lambda good: with_results(good, exit_code=3),
    "an exit code that is a boolean": lambda good: with_results(good, verdict="fail", exit_code=True),
    "a bug's exit code": lambda good: with_results(good, exit_code=70),
    "a failure without statistics": lambda good: with_results(good, summary=None),
    "a number beyond float range": lambda good: with_summary(good, score=10**400),
    "a statistic that is missing": lambda good: with_results(
        good, summary={k: v for k, v in good["results"]["summary"].items() if k != "score"}
    ),
    "no baseline field": lambda good: {
        **good,
        "results": {k: v for k, v in good["results"].items() if k != "baseline"},
    },
    "a level that is a list": lambda good: {**good, "annotations": [[[], "t", "m", None, None, None]]},
    "a count that is text": lambda good: with_summary(good, passed="1"),
    "a count that is negative": lambda good: with_summary(good, scenarios=-1),
    "a count that is not a whole number": lambda good: with_summary(good, scenarios=1.5),
    "a statistic that is text": lambda good: with_summary(good, score="1\nverdict=pass"),
    "an infinite statistic": lambda good: with_summary(good, score=float("inf")),
    "an unknown status of the baseline": lambda good: with_results(good, baseline=a_baseline(status="x\ny")),
    "an invalid commit": lambda good: with_results(good, baseline=a_baseline(sha="x\ny")),
    "an age that is text": lambda good: with_results(good, baseline=a_baseline(age_seconds="1")),
    "an invalid drift": lambda good: with_results(good, baseline=a_baseline(drift="x")),
    "a reason that is not an object": lambda good: with_results(good, reasons=["x"]),
    "a reason without a message": lambda good: with_results(good, reasons=[{"code": "hard_fail", "message": 1}]),
    "no reasons": lambda good: with_results(good, reasons=None),
    "an unknown level": lambda good: {**good, "annotations": [["debug", "t", "m", None, None, None]]},
    "an annotation that is too short": lambda good: {**good, "annotations": [["error", "t"]]},
    "a line that is text": lambda good: {**good, "annotations": [["error", "t", "m", "f", "1", None]]},
    "too many warnings": lambda good: {**good, "warnings": ["x"] * 1_001},
    "a warning that is too long": lambda good: {**good, "warnings": ["x" * 100_001]},
    "a problem that is not an object": lambda good: {**good, "problems": [["x"]]},
    "a heading that is null": lambda good: {**good, "heading": None},
    "files that are not a list": lambda good: {**good, "files": "results.json"},
    "no results among its files": lambda good: {**good, "files": ["comment.md"]},
}


def a_baseline(**changes):
    whole = {
        "status": "exact",
        "sha": "a" * 40,
        "age_seconds": 1,
        "path": None,
        "distance": None,
        "summary": None,
    }
    return {**whole, **changes}


def with_results(good, **changes):
    return {**good, "results": {**good["results"], **changes}}


def with_summary(good, **changes):
    return with_results(good, summary={**good["results"]["summary"], **changes})


@pytest.mark.parametrize("mutate", MUTATIONS.values(), ids=MUTATIONS)
def test_a_response_that_no_evalgate_judge_gives_is_a_bug_and_never_green(mutate):
    good = send_and_parse(a_judgement())
    read_response(copy.deepcopy(good))
    with pytest.raises(JudgeCrashed):
        read_response(mutate(good))


def test_files_with_unknown_names_are_ignored():
    answer = {**send_and_parse(a_judgement()), "files": ["results.json", "../../etc/passwd", "evil.sh"]}
    assert list(read_response(answer, {**FILES, "../../etc/passwd": b"", "evil.sh": b""}).files) == ["results.json"]


def test_a_report_only_run_exits_0_if_report_only_was_requested():
    answer = send_and_parse(a_judgement(exit_code=0, report_only=True))
    assert read_response(answer, report_only=True).exit_code == 0


def test_a_report_is_decoded_with_its_texts_and_without_its_baseline():
    document = results([a_suite("s", [a_scenario()])], "pass", baseline=a_baseline(status="@everyone"))
    answer = json.loads(json.dumps(encode_report(RenderedReport(document, "c", "s", ["w"]))))
    found = decode_report(answer, FILES.get)
    assert (found.comment, found.summary, found.warnings) == ("text", "more", ["w"])
    assert found.results["baseline"] is None


def test_a_report_without_its_texts_is_a_bug():
    answer = encode_report(RenderedReport(results([]), "", ""))
    with pytest.raises(JudgeCrashed):
        decode_report(answer, {}.get)
