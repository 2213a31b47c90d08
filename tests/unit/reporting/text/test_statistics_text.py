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


# --- text -----------------------------------------------------------------------------------------------------


def test_statistics_as_text():
    found = some_figures()
    assert statistics_text.pass_rate(found) == "75% of scenarios (95% interval 53% to 89%)"
    assert statistics_text.tries(found) == "pass@4 (at least 1 of 4) 95%, pass^4 (all 4) 60%"
    assert statistics_text.score(found) == "mean 0.82, lowest 0.10, p50 0.90, p95 1.00"
    assert statistics_text.cost(found) == "1.60 USD, 0.02 USD a trial"
    assert statistics_text.tokens(found) == "72,000, 900 a trial"
    assert statistics_text.latency(found) == "p50 2.0 s, p95 4.5 s"


def test_deltas_as_text():
    delta = a_delta()
    assert statistics_text.pass_rate_delta(delta) == "\u221210 points (\u221225 to +6)"
    assert (
        statistics_text.tries(some_figures(delta=delta))
        == "pass@4 (at least 1 of 4) 95%, pass^4 (all 4) 60% (\u221220 points)"
    )
    assert statistics_text.score_delta(delta) == "\u22120.04 (\u22120.10 to +0.02)"
    assert statistics_text.cost_delta(delta) == "+0.005 USD a trial"
    assert statistics_text.tokens_delta(delta) == "\u221210 a trial"
    assert statistics_text.latency_delta(delta) == "p50 +250 ms"


def test_unknown_values_are_shown_as_unknown_and_never_as_0():
    names = ("cost_usd", "cost_mean_usd", "total_tokens", "tokens_mean", "latency_p50_s", "latency_p95_s")
    found = some_figures(**dict.fromkeys(names), pass_rate=None, pass_rate_interval=None, pass_k=[])
    texts = [
        format_statistic(found)
        for format_statistic in (
            statistics_text.pass_rate,
            statistics_text.cost,
            statistics_text.tokens,
            statistics_text.latency,
            statistics_text.tries,
        )
    ]
    assert texts == ["unknown"] * 4 + [""]


@pytest.mark.parametrize("delta", [None, a_delta(**{**dict.fromkeys(a_delta()), "pass_k": []})])
def test_unknown_deltas_are_not_shown(delta):
    moves = (
        statistics_text.pass_rate_delta,
        statistics_text.score_delta,
        statistics_text.cost_delta,
        statistics_text.tokens_delta,
        statistics_text.latency_delta,
    )
    assert [move(delta) for move in moves] == [""] * 5


def test_interval_of_width_0_is_not_shown():
    assert statistics_text.score_delta(a_delta(score=0.0, score_interval=[0.0, 0.0])) == "\u00b10"


def test_pass_k_of_a_single_trial_is_not_shown():
    assert statistics_text.tries(some_figures(pass_k=[{"k": 1, "pass_at_k": 0.8, "pass_hat_k": 0.8}])) == ""


# --- chance ---------------------------------------------------------------------------------------------------


def test_expected_false_alarms_are_shown():
    assert describe_noise(a_document(comparison=of_comparison())) == (
        "If nothing had changed, chance alone would mark at most 0.3 of the 50 scenarios with several trials"
        " as broken or fixed."
    )
    assert describe_noise(a_document(comparison=of_comparison(expected=0.04))) == ""


@pytest.mark.parametrize(
    "comparison", [None, of_comparison(tested=9, compared=9), of_comparison(tested=0, expected=None)]
)
def test_expected_false_alarms_of_few_tests_are_not_shown(comparison):
    assert describe_noise(a_document(comparison=comparison)) == ""


def test_changes_based_on_a_single_trial_are_counted():
    ending = " based on a single trial and may be noise."
    comparison = of_comparison(tested=0, expected=None, single=50)
    assert describe_noise(a_document(7, comparison=comparison, flags=["single_trial"])) == f"7 changes are{ending}"
    assert describe_noise(a_document(1, comparison=comparison, flags=["single_trial"])) == f"1 change is{ending}"
    few = of_comparison(tested=0, expected=None, single=9, compared=9)
    assert describe_noise(a_document(7, comparison=few, flags=["single_trial"])) == f"7 changes are{ending}"


def test_expected_false_alarms_are_in_comment_and_table():
    document = a_document(comparison=of_comparison())
    failing = {**document, "suites": [a_suite("s", [a_scenario("a", "FAIL")])]}
    failing["summary"] = results(failing["suites"])["summary"]
    assert describe_noise(failing) in render_comment(failing, key="gate").splitlines()
    assert describe_noise(document) not in render_comment(document, key="gate")
    assert describe_noise(document) in render_table(document).splitlines()
    assert describe_noise(document) not in render_table(document, verbosity="quiet")


# --- where it is shown ----------------------------------------------------------------------------------------


def test_comment_has_no_table_of_statistics():
    assert "Statistics" not in render_comment(a_document(delta=a_delta()), key="gate")


def test_summary_has_the_statistics_of_each_suite_and_of_the_run():
    document = a_document(delta=a_delta(), suites=("one", "two"), lost=[a_lost_check("refund | x"), a_lost_check("b")])
    texts = render_summary(document).splitlines()
    rows = [line for line in texts if line.startswith(("| All suites |", "| ` one ` | 80", "| ` two ` | 80"))]
    assert len(rows) == 3
    assert rows[0] == (
        "| All suites | 80 | 75% of scenarios (95% interval 53% to 89%); \u221210 points (\u221225 to +6) over 18 that both runs have"
        " | pass@4 (at least 1 of 4) 95%, pass^4 (all 4) 60% (\u221220 points)"
        " | mean 0.82, lowest 0.10, p50 0.90, p95 1.00; \u22120.04 (\u22120.10 to +0.02)"
        " | 1.60 USD, 0.02 USD a trial; +0.005 USD a trial | 72,000, 900 a trial; \u221210 a trial"
        " | p50 2.0 s, p95 4.5 s; p50 +250 ms |"
    )
    assert "| ` support ` ` refund \\| x ` | yes | 12 | 5 | 10.5 |" in texts


def test_summary_of_an_older_document_has_no_statistics_table():
    assert "<summary>Figures" not in render_summary(results([a_suite("support", [a_scenario()])]))


def test_verbose_table_has_the_statistics():
    document = a_document(delta=a_delta(), lost=[a_lost_check("refund")])
    texts = render_table(document, verbosity="verbose").splitlines()
    begin = texts.index("suite support: 20 scenarios, 80 trials")
    assert texts[begin + 1 : begin + 8] == [
        "  pass rate  75% of scenarios (95% interval 53% to 89%); \u221210 points (\u221225 to +6)",
        "  repeated   pass@4 (at least 1 of 4) 95%, pass^4 (all 4) 60% (\u221220 points)",
        "  score      mean 0.82, lowest 0.10, p50 0.90, p95 1.00; \u22120.04 (\u22120.10 to +0.02)",
        "  cost       1.60 USD, 0.02 USD a trial; +0.005 USD a trial",
        "  tokens     72,000, 900 a trial; \u221210 a trial",
        "  latency    p50 2.0 s, p95 4.5 s; p50 +250 ms",
        "  changes are for the 18 scenarios that are also in the baseline",
    ]
    assert "  refund (required): failed 12 times in 5 scenarios, weight 10.5" in texts
    assert "suite support:" not in render_table(document)


def test_table_counts_the_suites_over_the_limit():
    texts = render_table(a_document(1, suites=[f"s{place}" for place in range(120)]), verbosity="verbose")
    assert "all suites: 1 scenario, 4 trials" in texts
    assert "... and statistics of 21 more suites" in texts


def test_untrusted_names_are_escaped():
    document = a_document(delta=a_delta(), suites=(HOSTILE, "two"), lost=[a_lost_check(HOSTILE, suite=HOSTILE)])
    table = render_table(document, verbosity="verbose")
    assert "\x1b[31m" not in table
    assert not any(line.lstrip().startswith("::") for line in table.splitlines())
    texts = render_summary(document)
    assert "@octocat" not in texts
    assert not any("<img" in line.replace("` ", "`").split("`")[0] for line in texts.splitlines())
