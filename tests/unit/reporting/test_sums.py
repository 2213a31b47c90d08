from __future__ import annotations

import pytest
from results_builder import (
    a_baseline,
    a_change,
    a_delta,
    a_lost_check,
    a_scenario,
    a_suite,
    results,
    some_figures,
)

from evalgate.reporting.markdown.header_lines import describe_noise
from evalgate.reporting.markdown.render import render_comment, render_summary
from evalgate.reporting.terminal.run_table import render_table
from evalgate.reporting.text import statistics_text

HOSTILE = "| x\x1b[31m\n::error::@octocat <img src=x> $1$"


def a_document(count=20, *, delta=None, lost=(), comparison=None, flags=(), suites=("support",), **figures):
    scenarios = [a_scenario(f"s{place}", change=a_change("fixed", flags=list(flags))) for place in range(count)]
    found = some_figures(count, delta=delta, lost_checks=list(lost), **figures)
    made = [{**a_suite(name, scenarios), "figures": found} for name in suites]
    more = {} if comparison is None else {"comparison": comparison}
    return results(made, figures=found, baseline=a_baseline(), **more)


def of_comparison(tested=50, expected=0.31, single=0, compared=50):
    return {
        "compared": compared, "tested": tested, "single_trial": single, "expected_false_alarms": expected,
    }  # fmt: skip


# --- words ----------------------------------------------------------------------------------------------------


def test_figures_in_words():
    found = some_figures()
    assert statistics_text.pass_rate(found) == "75% (53% to 89%)"
    assert statistics_text.tries(found) == "pass@4 95%, pass^4 60%"
    assert statistics_text.score(found) == "mean 0.82, least 0.10, p50 0.90, p95 1.00"
    assert statistics_text.cost(found) == "1.60 USD, 0.02 USD a trial"
    assert statistics_text.tokens(found) == "72,000, 900 a trial"
    assert statistics_text.latency(found) == "p50 2.0 s, p95 4.5 s"


def test_moves_in_words():
    delta = a_delta()
    assert statistics_text.pass_rate_delta(delta) == "\u221210 points (\u221225 to +6)"
    assert (
        statistics_text.tries(some_figures(delta=delta)) == "pass@4 95% (\u00b10 points), pass^4 60% (\u221220 points)"
    )
    assert statistics_text.score_delta(delta) == "\u22120.04 (\u22120.10 to +0.02)"
    assert statistics_text.cost_delta(delta) == "+0.005 USD a trial"
    assert statistics_text.tokens_delta(delta) == "\u221210 a trial"
    assert statistics_text.latency_delta(delta) == "p50 +250 ms"


def test_unknown_is_said_and_never_0():
    names = ("cost_usd", "cost_mean_usd", "total_tokens", "tokens_mean", "latency_p50_s", "latency_p95_s")
    found = some_figures(**dict.fromkeys(names), pass_rate=None, pass_rate_interval=None, pass_k=[])
    told = [
        tell(found)
        for tell in (
            statistics_text.pass_rate,
            statistics_text.cost,
            statistics_text.tokens,
            statistics_text.latency,
            statistics_text.tries,
        )
    ]
    assert told == ["unknown"] * 4 + [""]


@pytest.mark.parametrize("delta", [None, a_delta(**{**dict.fromkeys(a_delta()), "pass_k": []})])
def test_unknown_moves_are_not_told(delta):
    moves = (
        statistics_text.pass_rate_delta,
        statistics_text.score_delta,
        statistics_text.cost_delta,
        statistics_text.tokens_delta,
        statistics_text.latency_delta,
    )
    assert [move(delta) for move in moves] == [""] * 5


def test_interval_of_no_width_is_not_told():
    assert statistics_text.score_delta(a_delta(score=0.0, score_interval=[0.0, 0.0])) == "\u00b10"


def test_single_tries_are_no_tries():
    assert statistics_text.tries(some_figures(pass_k=[{"k": 1, "pass_at_k": 0.8, "pass_hat_k": 0.8}])) == ""


# --- chance ---------------------------------------------------------------------------------------------------


def test_false_alarms_to_expect_are_told():
    assert describe_noise(a_document(comparison=of_comparison())) == (
        "Had nothing changed, chance alone would call at most 0.3 of the 50 scenarios with several trials"
        " broken or fixed."
    )
    assert "fewer than 0.1 of the 50" in describe_noise(a_document(comparison=of_comparison(expected=0.04)))


@pytest.mark.parametrize(
    "comparison", [None, of_comparison(tested=9, compared=9), of_comparison(tested=0, expected=None)]
)
def test_chance_is_not_told_of_where_little_was_tested(comparison):
    assert describe_noise(a_document(comparison=comparison)) == ""


def test_changes_that_rest_on_a_single_trial_are_counted():
    said = " on a single trial: there noise can't be told from change."
    comparison = of_comparison(tested=0, expected=None, single=50)
    assert describe_noise(a_document(7, comparison=comparison, flags=["single_trial"])) == f"7 changes rest{said}"
    assert describe_noise(a_document(1, comparison=comparison, flags=["single_trial"])) == f"1 change rests{said}"
    few = of_comparison(tested=0, expected=None, single=9, compared=9)
    assert describe_noise(a_document(7, comparison=few, flags=["single_trial"])) == ""


def test_chance_stands_in_comment_and_table():
    document = a_document(comparison=of_comparison())
    assert describe_noise(document) in render_comment(document, key="gate").splitlines()
    assert describe_noise(document) in render_table(document).splitlines()
    assert describe_noise(document) not in render_table(document, verbosity="quiet")


# --- where it stands ------------------------------------------------------------------------------------------


def test_comment_gives_the_pass_rate_with_its_intervals_and_no_table():
    told = render_comment(a_document(delta=a_delta()), key="gate")
    assert "**Pass rate** 75% (53% to 89%) (\u221210 points (\u221225 to +6))" in told
    assert "**Tries** pass@4 95%" in told
    assert "<summary>Figures" not in told


def test_comment_gives_no_interval_of_few_scenarios():
    assert "**Pass rate** 100% \u00b7" in render_comment(a_document(9), key="gate")


def test_summary_holds_the_figures_of_each_suite_and_of_the_run():
    document = a_document(delta=a_delta(), suites=("one", "two"), lost=[a_lost_check("refund | x")])
    told = render_summary(document).splitlines()
    rows = [line for line in told if line.startswith(("| All suites |", "| ` one ` | 80", "| ` two ` | 80"))]
    assert len(rows) == 3
    assert rows[0] == (
        "| All suites | 80 | 75% (53% to 89%); \u221210 points (\u221225 to +6)"
        " | pass@4 95% (\u00b10 points), pass^4 60% (\u221220 points)"
        " | mean 0.82, least 0.10, p50 0.90, p95 1.00; \u22120.04 (\u22120.10 to +0.02)"
        " | 1.60 USD, 0.02 USD a trial; +0.005 USD a trial | 72,000, 900 a trial; \u221210 a trial"
        " | p50 2.0 s, p95 4.5 s; p50 +250 ms |"
    )
    assert "| ` support ` ` refund \\| x ` | yes | 12 | 5 | 10.5 |" in told


def test_summary_of_an_older_document_has_no_such_table():
    assert "<summary>Figures" not in render_summary(results([a_suite("support", [a_scenario()])]))


def test_table_tells_the_figures_where_asked_to():
    document = a_document(delta=a_delta(), lost=[a_lost_check("refund")])
    told = render_table(document, verbosity="verbose").splitlines()
    begin = told.index("suite support: 20 scenarios, 80 trials")
    assert told[begin + 1 : begin + 8] == [
        "  pass rate  75% (53% to 89%); \u221210 points (\u221225 to +6)",
        "  tries      pass@4 95% (\u00b10 points), pass^4 60% (\u221220 points)",
        "  score      mean 0.82, least 0.10, p50 0.90, p95 1.00; \u22120.04 (\u22120.10 to +0.02)",
        "  cost       1.60 USD, 0.02 USD a trial; +0.005 USD a trial",
        "  tokens     72,000, 900 a trial; \u221210 a trial",
        "  latency    p50 2.0 s, p95 4.5 s; p50 +250 ms",
        "  moves are those of 18 scenarios that the baseline has too",
    ]
    assert "  refund (required): failed 12 times in 5 scenarios, weight lost 10.5" in told
    assert "suite support:" not in render_table(document)


def test_table_of_more_suites_than_there_is_room_for_counts_the_rest():
    told = render_table(a_document(1, suites=[f"s{place}" for place in range(120)]), verbosity="verbose")
    assert "all suites: 1 scenario, 4 trials" in told
    assert "... and figures of 21 more suites" in told


def test_names_of_strangers_pass_their_doors():
    document = a_document(delta=a_delta(), suites=(HOSTILE, "two"), lost=[a_lost_check(HOSTILE, suite=HOSTILE)])
    table = render_table(document, verbosity="verbose")
    assert "\x1b[31m" not in table
    assert not any(line.lstrip().startswith("::") for line in table.splitlines())
    told = render_summary(document)
    assert "@octocat" not in told
    assert not any("<img" in line.replace("` ", "`").split("`")[0] for line in told.splitlines())
