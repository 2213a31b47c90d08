from __future__ import annotations

import copy
import json

import pytest
from msgspec.structs import replace
from request_builder import make_request
from results_builder import a_reason, a_scenario, a_suite, results

from evalgate.application.documents.report_files import FileOutput
from evalgate.application.messages.judge_response import (
    check_head,
    decode_judgement,
    decode_report,
    encode_bug,
    encode_judgement,
    encode_refusal,
    encode_report,
    keep_allowed,
    parse_json,
)
from evalgate.application.messages.request import Judgement, RenderedReport
from evalgate.bootstrap.outputs import load_output
from evalgate.errors import JudgeCrashed, Location, Problem, SettingError
from evalgate.features.page.reporting.render_page import build_page_start
from evalgate.models.approvals.approval import ApprovalFile
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.github import Annotation
from evalgate.ports.outputs import Rendered, RunSubject
from evalgate.reporting.ci.annotations import MAX_PER_LEVEL, MAX_REASONS

FILES = {"results.json": b"{}", "comment.md": b"text", "summary.md": b"more"}


def a_judgement(verdict="fail", **changes):
    scenarios = changes.pop("scenarios", [a_scenario("a", "HARD_FAIL"), a_scenario("b", "PASS")])
    reasons = changes.pop("reasons", [a_reason("hard_fail", "it failed")])
    document = results([a_suite("s", scenarios)], verdict, reasons=reasons, **changes)
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


GIVEN = BaselineInfo("exact", "a" * 40)


def read_response(answer, files=FILES, **request):
    given = {"commit": results([])["commit"], "baseline": GIVEN, **request}
    return decode_judgement(answer, files.get, make_request(**given), baseline_zip="/here")


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


def test_the_most_annotations_that_are_built_are_all_sent():
    most = [Annotation("error", str(n), "m", "f", 1, 2) for n in range(3 * (MAX_PER_LEVEL + 1) + MAX_REASONS)]
    assert read_response(send_and_parse(replace(a_judgement(), annotations=most))).annotations == most


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
    "a problem without text": lambda good: {**good, "problems": [[1]]},
    "a heading that is null": lambda good: {**good, "heading": None},
    "files that are not a list": lambda good: {**good, "files": "results.json"},
    "no results among its files": lambda good: {**good, "files": ["comment.md"]},
    "a pass with reasons": lambda good: with_results(good, verdict="pass", exit_code=0),
    "a pass with its reasons left out": lambda good: with_results(good, verdict="pass", exit_code=0, reasons=[]),
    "a pass with reasons that don't fail": lambda good: with_results(
        good, verdict="pass", exit_code=0, reasons=[a_reason("note", "x")]
    ),
    "a failure without reasons": lambda good: with_results(good, reasons=[]),
    "a failure for lack of evidence": lambda good: with_results(good, reasons=[a_reason("min_evaluated", "x")]),
    "no judgement, of a failure": lambda good: with_results(good, verdict="cannot_judge", exit_code=3),
    "no judgement, of an unreachable baseline only": lambda good: with_results(
        good, verdict="cannot_judge", exit_code=3, reasons=[a_reason("unreachable", "x")]
    ),
    "a count that is not the sum of others": lambda good: with_summary(good, passed=2),
    "fewer hard fails than there are": lambda good: with_summary(good, hard_fails=0),
    "regressions that are no sum": lambda good: with_summary(good, regressions=1),
    "improvements that are no sum": lambda good: with_summary(good, improvements=1),
    "more in quarantine than there are": lambda good: with_summary(good, quarantined=3),
    "no excuses": lambda good: {name: value for name, value in good.items() if name != "excused"},
    "an excuse that is no count": lambda good: {**good, "excused": {"approved": True}},
    "another commit": lambda good: with_results(good, commit="b" * 40),
    "another baseline": lambda good: with_results(good, baseline=a_baseline(sha="b" * 40)),
    "invalid for no reason": lambda good: with_results(good, verdict="invalid", exit_code=2, summary=None, reasons=[]),
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


def a_pass(hard_fails=1, **changes):
    """A run that passes with hard fails."""
    failed = [a_scenario(f"h{number}", "HARD_FAIL") for number in range(hard_fails)]
    return send_and_parse(a_judgement("pass", scenarios=[a_scenario(), *failed], reasons=[], **changes))


APPROVED = {"approvals": ApprovalFile("evalgate-approvals.yaml", b"- ...")}


@pytest.mark.parametrize(
    ("excused", "request_", "summary"),
    [
        ({"approved": 1}, APPROVED, {}),
        ({"approved": 1}, {"remembered": ["one"]}, {}),
        ({"approved": 1}, {"consents": ["one"]}, {}),
        ({"quarantined": 1}, {}, {"quarantined": 1}),
        ({"not_gating": 1}, {}, {}),
        ({"not_gating": 1}, {"fail_on": ["regression"]}, {}),
    ],
)
def test_a_pass_with_a_hard_fail_that_is_excused(excused, request_, summary):
    answer = with_summary({**a_pass(), "excused": excused}, **summary)
    assert read_response(answer, **request_).excused == excused


@pytest.mark.parametrize(
    ("excused", "request_", "summary", "why"),
    [
        ({}, {}, {}, "nothing excuses"),
        ({"approved": 2}, APPROVED, {}, "nothing excuses"),
        ({"approved": 1}, {}, {}, "more is approved than can be"),
        ({"approved": 1}, {"approvals": ApprovalFile("f", b" ")}, {}, "more is approved than can be"),
        ({"approved": 1}, {"proposed": APPROVED["approvals"]}, {}, "more is approved than can be"),
        ({"approved": 1}, APPROVED, {"hard_fails": 0, "missing": 1}, "more is approved than can be"),
        ({"quarantined": 1}, {}, {}, "in quarantine"),
        ({"not_gating": 1}, {"fail_on": ["broken", "hard_fail"]}, {}, "`fail-on` names"),
    ],
)
def test_a_pass_with_a_hard_fail_that_nothing_excuses_is_refused(excused, request_, summary, why):
    answer = with_summary({**a_pass(), "excused": excused}, **summary)
    with pytest.raises(JudgeCrashed) as refusal:
        read_response(answer, **request_)
    assert refusal.value.exit_code == 70
    assert why in refusal.value.places[0]


@pytest.mark.parametrize(
    ("verdict", "change", "word"),
    [
        ("FAIL", None, "below_threshold"),
        ("PARTIAL", None, "below_threshold"),
        ("FAIL", "broken", "broken"),
        ("FAIL", "broken", "regression"),
        ("PASS", "regressed", "regression"),
    ],
)
def test_a_pass_with_what_fail_on_names_is_refused_unless_something_may_excuse_it(verdict, change, word):
    scenarios = [a_scenario(), a_scenario("b", verdict, change)]
    answer = send_and_parse(a_judgement("pass", scenarios=scenarios, reasons=[]))
    with pytest.raises(JudgeCrashed) as refusal:
        read_response(answer, fail_on=["hard_fail", word])
    assert f"that `fail-on` names ({word})" in refusal.value.places[0]
    for excused in (
        read_response(answer, fail_on=["hard_fail"]),
        read_response(answer, fail_on=[word], **APPROVED),
        read_response(with_summary(answer, quarantined=1), fail_on=[word]),
    ):
        assert excused.exit_code == 0


def test_a_baseline_that_was_not_given_is_refused():
    answer = with_results(send_and_parse(a_judgement()), baseline=a_baseline(sha=None))
    assert read_response(answer).results["baseline"]["status"] == "exact"
    for baseline in (None, BaselineInfo("none"), BaselineInfo("unreachable")):
        with pytest.raises(JudgeCrashed):
            read_response(answer, baseline=baseline)


def test_files_and_a_baseline_that_were_not_asked_for_are_ignored():
    answer = {**send_and_parse(a_judgement()), "files": ["results.json", "results.sarif"]}
    files = {**FILES, "results.sarif": b"{}"}
    assert list(read_response(answer, files, outputs={"results.sarif": True}).files) == [
        "results.json",
        "results.sarif",
    ]
    assert list(read_response(answer, files).files) == ["results.json"]
    assert read_response(answer, make_baseline_zip=False).baseline_zip is None


def test_a_page_is_taken_only_with_the_policy_that_lets_nothing_run():
    answer = {**send_and_parse(a_judgement()), "files": ["results.json", "report.html"]}
    start = build_page_start().encode()
    files = {**FILES, "report.html": start + b"<p>anything"}

    assert list(read_response(answer, files, outputs={"report.html": True}).files) == ["results.json", "report.html"]
    assert list(read_response(answer, files).files) == ["results.json"]
    for page in (b"", b"<!doctype html><script>alert(1)</script>", b" " + start, start.replace(b"'none'", b"*")):
        with pytest.raises(JudgeCrashed) as refusal:
            keep_allowed({"report.html": page}, {}, RunSubject(), {"report.html": True}, load_output)
        assert "content security policy" in refusal.value.places[0]


class OfAnotherRun(FileOutput):
    """A file that is never of this run, and does not say so itself."""

    name = "notes.txt"

    def render(self, source, options):
        return Rendered(b"")

    def is_allowed(self, content, results, subject, options):
        return False


def test_an_output_that_is_not_of_this_run_is_left_out_with_a_warning():
    kept, warnings = keep_allowed({"notes.txt": b""}, {}, RunSubject(), {}, lambda _: OfAnotherRun())
    assert (kept, warnings) == ({}, ["notes.txt is left out: it is not one of this run"])


def head_with(document, **changes):
    written = {
        name: document[name] for name in ("schema", "verdict", "exit_code", "report_only", "summary", "baseline")
    }
    return json.dumps({**written, **changes}, separators=(",", ":")).encode()[:-1] + b',"suites":[{"s":1}]}'


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_results_with_another_verdict_than_the_answer_are_refused(size):
    document = read_response(send_and_parse(a_judgement())).results

    def check(content):
        check_head(document, (content[at : at + size] for at in range(0, len(content), size)))

    check(head_with(document))
    for changes in ({"verdict": "pass"}, {"exit_code": 0}, {"report_only": True}, {"summary": None}):
        with pytest.raises(JudgeCrashed, match="UnfitAnswer"):
            check(head_with(document, **changes))
    for content in (b"", b"{}", b"[1]", b"\xff", head_with(document).replace(b"suites", b"other")):
        with pytest.raises(JudgeCrashed, match="UnfitAnswer"):
            check(content)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"NaN", b"[" * 100_000, b"[" + b"[]," * 4_000_000 + b"1]", b"[" + b"1," * 16_000_000 + b"1]"]
)
def test_json_that_is_invalid_or_holds_too_much_is_refused(content):
    with pytest.raises(JudgeCrashed):
        parse_json(content)


@pytest.mark.parametrize("verdict", ["MISSING", "ERROR", "NOT_EVALUABLE", None])
def test_a_pass_that_evaluated_nothing_is_refused(verdict):
    scenarios = [a_scenario("a", verdict)] if verdict else []
    answer = send_and_parse(a_judgement("pass", scenarios=scenarios, reasons=[]))
    with pytest.raises(JudgeCrashed) as refusal:
        read_response({**answer, "excused": {"not_gating": len(scenarios)}})
    assert "evaluated no scenario" in refusal.value.places[0]


def test_a_pass_of_scenarios_in_quarantine_only_is_refused():
    answer = send_and_parse(a_judgement("pass", scenarios=[a_scenario()], reasons=[]))
    with pytest.raises(JudgeCrashed) as refusal:
        read_response(with_summary(answer, quarantined=1))
    assert "evaluated no scenario" in refusal.value.places[0]


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
