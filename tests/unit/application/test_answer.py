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


def sent(judgement):
    return json.loads(json.dumps(encode_judgement(judgement)))


def read(answer, files=FILES, *, report_only=False):
    return decode_judgement(answer, files.get, baseline_zip="/here", report_only=report_only)


def test_a_judgement_arrives_without_its_suites():
    given = a_judgement()
    found = read(sent(given))
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


def test_input_that_can_not_be_used_is_told_with_its_place():
    problem = Problem("bad", Location("f.yaml", 3, None), "mend it")
    with pytest.raises(SettingError) as refusal:
        read(encode_refusal(SettingError(problem)))
    assert refusal.value.problems == [problem]


def test_a_bug_is_told_with_its_place_and_nothing_else():
    with pytest.raises(JudgeCrashed) as bug:
        read(encode_bug("KeyError", ["judge.py:7 in _judge", "::error::x", "x.py:1 in f\n::error::"]))
    assert (bug.value.kind, bug.value.places, bug.value.exit_code) == (
        "KeyError",
        ["judge.py:7 in _judge"],
        70,
    )


def test_the_kind_of_a_bug_is_a_word():
    with pytest.raises(JudgeCrashed) as bug:
        read(encode_bug("::error::", []))
    assert bug.value.kind == "Exception"


MUTATIONS = {
    "no object": lambda _: [],
    "no results": lambda good: {**good, "results": None},
    "an unknown verdict": lambda good: with_results(good, verdict="great"),
    "a verdict that is no text": lambda good: with_results(good, verdict=["pass"]),
    "green without a pass": lambda good: with_results(good, exit_code=0),
    "green because it says that it may": lambda good: with_results(good, exit_code=0, report_only=True),
    "an exit code of another verdict": lambda good: with_results(good, exit_code=3),
    "an exit code that is a truth": lambda good: with_results(good, verdict="fail", exit_code=True),
    "a bug's exit code": lambda good: with_results(good, exit_code=70),
    "a failure without figures": lambda good: with_results(good, summary=None),
    "a figure larger than any": lambda good: with_summary(good, score=10**400),
    "a figure that is not there": lambda good: with_results(
        good, summary={k: v for k, v in good["results"]["summary"].items() if k != "score"}
    ),
    "no word of a baseline": lambda good: {
        **good,
        "results": {k: v for k, v in good["results"].items() if k != "baseline"},
    },
    "a level that is a list": lambda good: {**good, "annotations": [[[], "t", "m", None, None, None]]},
    "a count that is text": lambda good: with_summary(good, passed="1"),
    "a count that is negative": lambda good: with_summary(good, scenarios=-1),
    "a count that is no whole number": lambda good: with_summary(good, scenarios=1.5),
    "a figure that is text": lambda good: with_summary(good, score="1\nverdict=pass"),
    "an endless figure": lambda good: with_summary(good, score=float("inf")),
    "an unknown status of the baseline": lambda good: with_results(good, baseline=a_baseline(status="x\ny")),
    "a commit that is none": lambda good: with_results(good, baseline=a_baseline(sha="x\ny")),
    "an age that is text": lambda good: with_results(good, baseline=a_baseline(age_seconds="1")),
    "a drift that is none": lambda good: with_results(good, baseline=a_baseline(drift="x")),
    "a reason that is none": lambda good: with_results(good, reasons=["x"]),
    "a reason without words": lambda good: with_results(good, reasons=[{"code": "hard_fail", "message": 1}]),
    "no reasons": lambda good: with_results(good, reasons=None),
    "an unknown level": lambda good: {**good, "annotations": [["debug", "t", "m", None, None, None]]},
    "an annotation that is too short": lambda good: {**good, "annotations": [["error", "t"]]},
    "a line that is text": lambda good: {**good, "annotations": [["error", "t", "m", "f", "1", None]]},
    "too many warnings": lambda good: {**good, "warnings": ["x"] * 1_001},
    "a warning that is too long": lambda good: {**good, "warnings": ["x" * 100_001]},
    "a problem that is none": lambda good: {**good, "problems": [["x"]]},
    "a heading that is none": lambda good: {**good, "heading": None},
    "files that are no list": lambda good: {**good, "files": "results.json"},
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
def test_an_answer_that_no_judge_of_ours_gives_is_a_bug_and_never_green(mutate):
    good = sent(a_judgement())
    read(copy.deepcopy(good))
    with pytest.raises(JudgeCrashed):
        read(mutate(good))


def test_files_that_are_not_ours_are_not_taken():
    answer = {**sent(a_judgement()), "files": ["results.json", "../../etc/passwd", "evil.sh"]}
    assert list(read(answer, {**FILES, "../../etc/passwd": b"", "evil.sh": b""}).files) == ["results.json"]


def test_a_run_that_lets_everything_through_is_green_where_it_may():
    answer = sent(a_judgement(exit_code=0, report_only=True))
    assert read(answer, report_only=True).exit_code == 0


def test_a_report_arrives_with_its_texts_and_no_word_of_its_baseline():
    document = results([a_suite("s", [a_scenario()])], "pass", baseline=a_baseline(status="@everyone"))
    answer = json.loads(json.dumps(encode_report(RenderedReport(document, "c", "s", ["w"]))))
    found = decode_report(answer, FILES.get)
    assert (found.comment, found.summary, found.warnings) == ("text", "more", ["w"])
    assert found.results["baseline"] is None


def test_a_report_without_its_texts_is_a_bug():
    answer = encode_report(RenderedReport(results([]), "", ""))
    with pytest.raises(JudgeCrashed):
        decode_report(answer, {}.get)
