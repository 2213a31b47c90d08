from __future__ import annotations

import pytest
from fakes.world import FakeCheckRuns, FakeStep
from results_builder import a_reason, a_scenario, a_suite, results

from evalgate.application.action.post_check_run import build_check_run, conclusion, post_check
from evalgate.application.messages.request import Judgement, JudgeRequest
from evalgate.errors import Forbidden, Unreachable
from evalgate.models.github.checks import Annotation
from evalgate.reporting.markdown.heading import build_heading

REQUEST = JudgeRequest(commit="c" * 40, comment_key="evals.yml/gate", report_url="https://github.com/x")
COMMENT = b"<!-- evalgate:sticky v1 key=evals.yml/gate -->\n## verdict\n"


def judged(verdict="fail", *, comment=COMMENT, suites=None, **changes):
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
def test_the_conclusion_is_the_verdicts_and_neutral_where_nothing_is_blocked(verdict, exit_code, concluded):
    suites = [] if verdict == "invalid" else None
    assert conclusion(judged(verdict, suites=suites, exit_code=exit_code).results) == concluded


def test_a_check_run_tells_what_the_comment_tells_without_its_marker():
    made = build_check_run(REQUEST, judged())
    assert (made.name, made.commit) == ("EvalGate (evals.yml/gate)", "c" * 40)
    assert made.summary == "## verdict\n"
    assert made.title.startswith("Failed")
    assert made.annotations == [Annotation("error", "t", "m")]
    assert made.details_url == "https://github.com/x"


def test_wrong_input_is_told_by_its_reasons_in_code():
    reasons = [a_reason("invalid_suite", f"mistake {n} <b> @x") for n in range(60)]
    made = build_check_run(REQUEST, judged("invalid", comment=None, suites=[], reasons=reasons))
    assert made.summary.startswith("- ` mistake 0 <b> @\u200bx `\n")
    assert made.summary.endswith("\n- 10 more are in results.json")


def test_a_comment_that_is_too_long_for_a_check_run_gives_way_to_the_reasons():
    made = build_check_run(REQUEST, judged(comment=b"m\n" + b"x" * 65_536, reasons=[a_reason("hard_fail", "why")]))
    assert made.summary == "- ` why `"


def test_without_a_commit_there_is_no_check_run():
    assert build_check_run(JudgeRequest(), judged()) is None


@pytest.mark.parametrize(
    ("trouble", "words"),
    [(Forbidden("403"), "It needs `checks: write`"), (Unreachable("GitHub answered 502"), "502")],
)
def test_what_github_refuses_is_a_warning(trouble, words):
    step = FakeStep()
    post_check(REQUEST, judged(), FakeCheckRuns(trouble), step)
    [said] = step.annotations
    assert said.level == "warning"
    assert words in said.message


def test_a_check_run_is_written_without_a_word():
    step, checks = FakeStep(), FakeCheckRuns()
    post_check(REQUEST, judged(), checks, step)
    assert [check.conclusion for check in checks.posted] == ["failure"]
    assert step.annotations == []
