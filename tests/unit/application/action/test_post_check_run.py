from __future__ import annotations

import pytest
from fakes.world import FakeCheckRuns, FakeStep
from request_builder import make_request
from results_builder import a_reason, a_scenario, a_suite, results

from evalgate.application.action.post_comment import build_check_run, conclusion, post_check
from evalgate.application.messages.request import Judgement
from evalgate.errors import Forbidden, Unreachable
from evalgate.models.github import Annotation
from evalgate.reporting.markdown.heading import build_heading

REQUEST = make_request(commit="c" * 40, comment_key="evals.yml/gate", run_url="https://github.com/x")
COMMENT = b"<!-- evalgate:sticky v1 key=evals.yml/gate -->\n## verdict\n"


def make_judgement(verdict="fail", *, comment=COMMENT, suites=None, **changes):
    suites = [a_suite("s", [a_scenario("a", "HARD_FAIL")])] if suites is None else suites
    files = {"results.json": b"{}", **({"comment.md": comment} if comment else {})}
    document = results(suites, verdict, **changes)
    annotations = [Annotation("error", "t", "m")]
    return Judgement(document, files, annotations, heading=build_heading(document).text)


@pytest.mark.parametrize(
    ("verdict", "exit_code", "concluded"),
    [
        ("pass", 0, "success"),
        ("fail", 1, "failure"),
        ("fail", 0, "neutral"),
        ("cannot_judge", 3, "failure"),
        ("cannot_judge", 0, "neutral"),
        ("invalid", 2, "failure"),
    ],
)
def test_the_conclusion_follows_the_verdict_and_is_neutral_if_nothing_is_blocked(verdict, exit_code, concluded):
    suites = [] if verdict == "invalid" else None
    assert conclusion(make_judgement(verdict, suites=suites, exit_code=exit_code).results) == concluded


def test_a_check_run_has_the_text_of_the_comment_without_its_marker():
    made = build_check_run(REQUEST, make_judgement())
    assert (made.name, made.commit) == ("EvalGate (evals.yml/gate)", "c" * 40)
    assert made.summary == "## verdict\n"
    assert made.title.startswith("Failed")
    assert made.annotations == [Annotation("error", "t", "m")]
    assert made.details_url == "https://github.com/x"


def test_invalid_input_is_reported_as_sentences_with_code_spans():
    reasons = [a_reason("invalid_suite", f"error {n} <b> @x") for n in range(60)]
    made = build_check_run(REQUEST, make_judgement("invalid", comment=None, suites=[], reasons=reasons))
    assert made.summary.startswith("- error 0 ` <b> @\u200bx `\n")
    assert made.summary.endswith("\n- 10 more are in results.json")


def test_a_comment_too_long_for_a_check_run_is_replaced_by_the_reasons():
    made = build_check_run(
        REQUEST, make_judgement(comment=b"m\n" + "\u00e9".encode() * 40_000, reasons=[a_reason("hard_fail", "why")])
    )
    assert made.summary == "- why"


def test_without_a_commit_there_is_no_check_run():
    assert build_check_run(make_request(), make_judgement()) is None


@pytest.mark.parametrize(
    ("trouble", "level", "message"),
    [
        (
            Forbidden("may not"),
            "notice",
            "no check run: may not; a required check of this name stays pending: require the job instead",
        ),
        (Unreachable("is down"), "warning", "the check run was not written: is down"),
    ],
)
def test_a_refusal_is_a_notice_and_another_error_of_github_a_warning(trouble, level, message):
    step = FakeStep()
    post_check(REQUEST, make_judgement(), FakeCheckRuns(trouble), step)
    assert [(each.level, each.message) for each in step.annotations] == [(level, message)]


def test_why_github_rejects_the_annotations_is_logged():
    step = FakeStep()
    post_check(REQUEST, make_judgement(), FakeCheckRuns(rejected="(422) because"), step)
    assert step.lines == ["The check run has its annotations in its text: (422) because"]
    assert step.annotations == []


def test_a_posted_check_run_adds_no_annotation():
    step, checks = FakeStep(), FakeCheckRuns()
    post_check(REQUEST, make_judgement(), checks, step)
    assert [check.conclusion for check in checks.posted] == ["failure"]
    assert step.annotations == []
