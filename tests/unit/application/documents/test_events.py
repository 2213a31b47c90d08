"""What the summary of each event says of the run: whether it blocks merging, and what it means for later ones."""

import pytest
from results_builder import a_reason, a_scenario, a_suite, results

from evalgate.application.documents.report_files import SummaryFile, make_source
from evalgate.models.github import Pages
from evalgate.ports.outputs import RenderOptions, RunSubject

LATER = ": later pull requests into it are compared with this run."


def summarize(event, codes=(), *, makes_baseline=True, branch="main"):
    verdict = "fail" if codes else "pass"
    reasons = [a_reason(code, "x", suite="s", scenario="a", variant=None) for code in codes]
    document = results([a_suite("s", [a_scenario("a", "HARD_FAIL" if codes else "PASS")])], verdict, reasons=reasons)
    source = make_source(
        document, RunSubject(None, branch, event=event, makes_baseline=makes_baseline), RenderOptions()
    )
    return SummaryFile().render(source, None).content.decode()


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("push", "Push to ` main `"),
        ("schedule", "Scheduled run of ` main `"),
        ("workflow_dispatch", "Run of ` main ` started by hand"),
    ],
)
def test_a_run_that_merges_nothing_says_what_it_is(event, words):
    assert f"\n{words}{LATER}\n" in summarize(event)
    assert f"\n{words}.\n" in summarize(event, makes_baseline=False)
    assert "Blocks merging" not in summarize(event) + summarize(event, ["hard_fail"])


def test_a_run_that_was_run_again_does_not_say_that_it_is_the_baseline():
    document = results([a_suite("s", [a_scenario("a", "PASS")])], "pass")
    pages = Pages("https://github.com", "acme/agent", "acme/agent", "a" * 40, attempt=2)
    subject = RunSubject(None, "main", event="push", makes_baseline=True)
    text = SummaryFile().render(make_source(document, subject, RenderOptions(pages=pages)), None).content.decode()
    assert f"\nPush to ` main `, attempt 2{LATER[:-1]}, by the attempt whose baseline was uploaded last.\n" in text


@pytest.mark.parametrize("event", [None, "pull_request", "merge_group", "workflow_run"])
def test_any_other_run_says_whether_it_blocks_merging(event):
    assert "**Blocks merging: no**" in summarize(event, makes_baseline=False)
    assert "**Blocks merging: yes**" in summarize(event, ["hard_fail"], makes_baseline=False)
    assert LATER not in summarize(event, makes_baseline=False)


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        (["hard_fail"], f"{LATER} What fails here blocks them, too, until it is fixed or approved.\n"),
        (["broken"], f"{LATER} What got worse here does not block them: it is their baseline.\n"),
        (["no_traces"], "Push to ` main `.\n"),
    ],
)
def test_a_red_branch_says_what_that_means_for_later_pull_requests(codes, words):
    assert words in summarize("push", codes)
