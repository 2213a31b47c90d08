"""The last runs and flaky scenarios in the job summary: charts, tables, hostile names, size."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_check import HOSTILE as HOSTILES
from markdown_check import find_flaws
from results_builder import a_scenario, a_suite, results

from evalgate.errors import SettingError
from evalgate.reporting.markdown.links import Links
from evalgate.reporting.markdown.render import render_comment, render_summary
from evalgate.reporting.markdown.trends import CHART_STYLE, build_trend
from evalgate.reporting.results.load_results import load_results
from evalgate.reporting.results.results_json import dump_results

HOSTILE = '```\n"]@everyone <!-- x --> | ![](http://evil) \x1b[31m'


def a_past_run(day=1, **changes):
    return {
        "at": f"2026-03-{day:02}T10:00:00Z",
        "commit": f"{day:040x}",
        "verdict": "pass",
        "score": 0.9,
        "pass_rate": 0.75,
        "cost_usd": 0.5,
        **changes,
    }


def a_flake(scenario="refund", **changes):
    return {
        "suite": "support", "scenario": scenario, "variant": None, "runs": 20, "passed": 18, "flips": 4,
        "since": "2026-03-16T10:00:00Z", "new": True, **changes,
    }  # fmt: skip


def document(runs=(), flaky=(), branch="main", **changes):
    found = results([a_suite("support", [a_scenario("refund", **changes)])], "pass")
    found["history"] = {"branch": branch, "runs": list(runs), "flaky": list(flaky), "flaky_left": 0}
    return load_results(dump_results(found))


def charts(*runs):
    found = build_trend(document(runs), Links())
    return found.charts if found else ()


def test_a_chart_of_pass_rate_and_score_and_one_of_cost():
    shares, cost = charts(a_past_run(1, score=0.5), a_past_run(2, cost_usd=0.0000004))
    assert shares == (
        f"```mermaid\n{CHART_STYLE}\nxychart-beta\n"
        '    title "Pass rate (bars) and score (line)"\n'
        '    x-axis ["1", "2"]\n'
        '    y-axis "0 to 1" 0 --> 1\n'
        "    bar [0.75, 0.75]\n    line [0.5, 0.9]\n```"
    )
    assert cost.splitlines()[5:7] == ['    y-axis "USD" 0 --> 0.55', "    bar [0.5, 0.0000004]"]


def test_a_single_run_has_no_trend():
    assert charts(a_past_run()) == ()


def test_runs_of_unknown_cost_are_omitted_and_the_others_keep_their_numbers():
    _, cost = charts(a_past_run(1), a_past_run(2, cost_usd=None), a_past_run(3))
    assert 'x-axis ["1", "3"]' in cost


def test_free_runs_have_no_chart_of_cost():
    assert len(charts(a_past_run(1, cost_usd=0.0), a_past_run(2, cost_usd=None))) == 1


def test_runs_without_known_rates_have_no_chart():
    assert charts(a_past_run(1, score=None, cost_usd=None), a_past_run(2, score=None, cost_usd=None)) == ()


def test_the_trend_is_also_a_table():
    rendered = render_summary(document([a_past_run(1), a_past_run(2, verdict="fail", cost_usd=None)]))
    assert "### The last 2 runs of ` main `" in rendered
    rows = [line for line in rendered.splitlines() if re.match(r"\| \d \|", line)]
    assert rows == [
        "| 2 | ` 2026-03-02 ` | ` 0000000 ` | fail | 75% | 0.90 | unknown |",
        "| 1 | ` 2026-03-01 ` | ` 0000000 ` | pass | 75% | 0.90 | 0.5 USD |",
    ]


def test_a_summary_shows_thirty_runs_and_a_comment_no_chart():
    rendered = document([a_past_run(day % 28 + 1) for day in range(60)])
    assert "The last 30 runs" in render_summary(rendered)
    assert "mermaid" not in render_comment(rendered, key="k")


@pytest.mark.parametrize("field", ["commit", "verdict", "at"])
def test_no_text_of_a_run_is_in_a_chart(field):
    found = build_trend(document([a_past_run(1, **{field: HOSTILE}), a_past_run(2)], branch=HOSTILE), Links())
    assert not any("everyone" in chart for chart in found.charts)
    rendered = render_summary(document([a_past_run(1, **{field: HOSTILE}), a_past_run(2)], branch=HOSTILE))
    assert "@everyone" not in rendered
    assert rendered.count("\n```") == 2 * len(found.charts)


NUMBERS = st.floats(0, 1, allow_nan=False) | st.none()


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.floats(0, 1e24) | st.none()), max_size=40))
def test_a_chart_has_as_many_numbers_as_labels_and_nothing_else(figures):
    runs = [a_past_run(1, score=score, pass_rate=rate, cost_usd=cost) for score, rate, cost in figures]
    for chart in charts(*runs):
        body = chart.splitlines()[4:-1]
        labels = re.fullmatch(r'    x-axis \[("\d+"(?:, "\d+")*)\]', body[0])[1].split(", ")
        assert re.fullmatch(r'    y-axis "(0 to 1|USD)" 0 --> [0-9.]+', body[1])
        for line in body[2:]:
            values = re.fullmatch(r"    (?:bar|line) \[([0-9., ]+)\]", line)[1].split(", ")
            assert len(values) == len(labels) <= 30


# --- flaky scenarios --------------------------------------------------------------------------------------------


def test_newly_flaky_scenarios_are_in_the_comment_and_all_in_the_summary():
    rendered = document(flaky=[a_flake(), a_flake("old", new=False)])
    comment = render_comment(rendered, key="k")
    assert "- ` support / refund ` ` passed 18 of the last 20 runs, newly flaky since 2026-03-16 `" in comment
    assert "<summary>Newly flaky (1)</summary>" in comment
    assert "old" not in comment
    assert "- ` support / old ` ` passed 18 of the last 20 runs, flaky since 2026-03-16 `" in render_summary(rendered)


def test_a_flaky_scenario_in_quarantine_is_marked():
    rendered = render_comment(document(flaky=[a_flake()], quarantined=True), key="k")
    assert "newly flaky since 2026-03-16 `, quarantined" in rendered


def test_hostile_names_of_flaky_scenarios_stay_in_code():
    for text in (each.encode("utf-8", "replace").decode() for each in HOSTILES):
        rendered = render_summary(document(flaky=[a_flake(text, variant=text, new=False)], branch=text))
        assert not find_flaws(rendered)


def test_ten_thousand_flaky_scenarios_fit():
    rendered = document(flaky=[a_flake(f"s{number}" * 20) for number in range(10_000)])
    comment = render_comment(rendered, key="k", max_chars=20_000)
    assert len(comment) <= 20_000
    assert "Newly flaky (10,000)" in comment


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("runs", [a_past_run(score=2.0)]),
        ("runs", [a_past_run(cost_usd=-1)]),
        ("runs", [{**a_past_run(), "at": 5}]),
        ("runs", "many"),
        ("flaky", [a_flake(new="yes")]),
        ("flaky", [a_flake(runs=-1)]),
        ("flaky_left", None),
    ],
)
def test_a_document_of_another_shape_is_refused_with_the_location(part, value):
    found = results([a_suite("support", [a_scenario()])], "pass")
    found["history"] = {"branch": None, "runs": [], "flaky": [], "flaky_left": 0, part: value}
    with pytest.raises(SettingError, match=f"history.{part}"):
        load_results(dump_results(found))
