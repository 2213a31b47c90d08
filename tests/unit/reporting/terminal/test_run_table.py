from __future__ import annotations

import re
from functools import partial
from itertools import product

import pytest
from markdown_check import HOSTILE, runner_commands
from results_builder import a_change, a_reason, a_scenario, a_suite, a_trial, a_variant, an_assertion, results
from run_builders import make_run, make_scenario, make_trial

from evalgate.measures.text.ids import find_ids
from evalgate.reporting.markdown.render import render_comment, render_summary
from evalgate.reporting.results.statistics_doc import build_summary
from evalgate.reporting.terminal.run_table import render_table


def a_run(text="plain"):
    bad = an_assertion(text, "failed", reason=text, required=True)
    scenarios = [
        a_scenario("fine"),
        a_scenario(
            text,
            "HARD_FAIL",
            a_change("broken", reason=text),
            trials=[a_trial(0, "hard_fail", assertions=[bad])],
        ),
        a_scenario("worse", "PASS", a_change("regressed", reason="score 0.9 -> 0.8", flags=["single_trial"])),
    ]
    return results(
        [{**a_suite("s", scenarios, "fail"), "variants": [a_variant(text)]}],
        "fail",
        reasons=[
            a_reason("hard_fail", text, suite="s", scenario=text, variant=None),
            a_reason("unreachable", text),
        ],
        removed=[{"suite": "s", "id": text, "variant": text, "verdict": "PASS", "score": 1.0}],
        warnings=[{"code": "w", "message": text, "where": text}],
        unclaimed=[{"suite": "s", "path": text, "id": None, "scenario_id": None, "line": None, "record": None}],
    )


def test_table__failing_scenarios__come_first_with_their_reasons():
    lines = render_table(a_run()).split("\n")
    assert lines[0].startswith("HARD FAIL     plain")
    assert lines[1] == "    plain: plain"
    assert lines[2].startswith("PASS          worse")
    assert lines[3] == "    score 0.9 -> 0.8"
    assert lines.index(next(line for line in lines if " fine " in line)) > 3
    assert lines[-1] == "EvalGate failed: 1 scenario hard-failed: plain"


def test_table__totals__have_counts_and_statistics():
    text = render_table(a_run())
    assert "3 scenarios: 2 passed, 1 hard-failed" in text
    assert "cost 0.03 USD" in text
    assert (
        "1 trace belongs to no scenario and was not judged (add a scenario with its id, or with the id *): plain (id unknown)"
        in text
    )


@pytest.mark.parametrize("count", [3, 600])
def test_reports__a_cost_that_is_unknown_for_one_trial__is_a_lower_bound(count):
    trials = [make_trial(number=number, cost_usd=0.01 if number else None) for number in range(count)]
    run = make_run(make_scenario(trials=trials))
    document = results([a_suite("s", [a_scenario("a")])])
    document["summary"] = build_summary(run, [], 0)
    shown = f"{0.01 * (count - 1):.2f} USD, 1 of {count} unknown"
    assert f"cost >= {shown}, latency" in render_table(document)
    assert f"**Cost** >= {shown}" in render_comment(document, key="k")
    assert f"**Cost** >= {shown}" in render_summary(document)


NO_TABLE = {"table": None, "usd": None, "known_usd": 0.0, "recorded_usd": 0.0, "missing_models": ["m"], "usage": None}


@pytest.mark.parametrize(
    ("pricing", "why"),
    [
        ({}, "neither a cost nor a model with the tokens of all its calls is recorded"),
        (
            {"pricing": NO_TABLE},
            "tokens are recorded, but prices are missing: install evalgate-action[prices] (without internet: docs/enterprise.md) or set `prices`",
        ),
        ({"pricing": {**NO_TABLE, "table": "t"}}, "no price is known for m; set `prices` in evalgate.yaml or a suite"),
    ],
)
def test_table__a_cost_that_is_unknown__says_why_and_how_to_get_it(pricing, why):
    document = results([a_suite("s", [a_scenario("a", trials=[a_trial(cost_usd=None, **pricing)])])])
    document["summary"]["cost_usd"] = None
    assert f"\ncost unknown: {why}\n" in render_table(document)
    document["suites"][0]["scenarios"][0]["trials"][0].total_tokens = None
    assert "cost unknown: " not in render_table(document)
    document["suites"][0]["scenarios"][0]["trials"][0].total_tokens = 9
    document["warnings"] = [{"code": "unknown_price", "message": "no price is known for m", "where": None}]
    assert "cost unknown: " not in render_table(document)


def test_table__unclaimed_traces__are_listed_with_their_scenario_ids():
    place = {"suite": "s", "id": None, "line": None, "record": None}
    unclaimed = [{**place, "path": f"t/{each}.json", "scenario_id": f"chat-{each}"} for each in range(5)]
    document = results([a_suite("s", [a_scenario("a")])], unclaimed=unclaimed)
    assert (
        "5 traces belong to no scenario and were not judged (add a scenario with their id, or with the id *): t/0.json (id"
        in render_table(document)
    )
    assert "t/2.json (id chat-2) and 2 more" in render_table(document)
    assert "t/4.json (id chat-4)" in render_table(document, verbosity="verbose")


def test_table__unclaimed_traces_of_one_file_are_listed_with_its_name_once():
    place = {"suite": "s", "id": None, "line": None, "path": "t.json"}
    unclaimed = [{**place, "record": each, "scenario_id": str(each // 2)} for each in range(10)]
    unclaimed.append({**place, "path": "u.json", "record": None, "scenario_id": None})
    text = render_table(results([a_suite("s", [a_scenario("a")])], unclaimed=unclaimed))
    assert "): t.json (id 0, 1, 2 and 2 more), u.json (id unknown)\n" in text


STRAY = {"suite": "a", "path": "t/stray.json", "id": None, "scenario_id": "stray", "line": None, "record": None}


def test_reports__a_trace_that_another_suite_judges__is_not_without_a_scenario():
    shared = [{**STRAY, "path": f"t/{name}.json"} for name in ("refund", "order")]
    judged = a_trial()
    judged.trace.path = "t/refund.json"
    suites = [a_suite("a", [a_scenario("order")]), a_suite("b", [a_scenario("refund", trials=[judged])])]
    document = results(suites, unclaimed=shared[:1])
    assert "to no scenario" not in render_table(document)
    assert "Traces without a matching scenario" not in render_comment(document, key="k")
    one_left = render_table(results(suites, unclaimed=shared))
    assert (
        "1 trace belongs to no scenario and was not judged (add a scenario with its id, or with the id *): t/order.json"
        in one_left
    )


def test_reports__a_trace_that_two_suites_read_and_none_judges__is_one():
    suites = [a_suite(name, [a_scenario()]) for name in "ab"]
    document = results(suites, unclaimed=[STRAY, {**STRAY, "suite": "b"}])
    assert "1 trace belongs to no scenario" in render_table(document)
    comment = render_comment(document, key="k")
    assert "Traces without a matching scenario (1)" in comment
    assert "- ` a `, ` b `: 1 trace belongs to no scenario" in comment


def test_table__marks_of_code_in_reasons_and_warnings__are_left_out():
    reason = a_reason("no_traces", "no file matches `traces`", suite="s")
    warnings = [{"code": "w", "message": "set `prices`", "where": None}]
    lines = render_table(results([], "cannot_judge", reasons=[reason], warnings=warnings)).split("\n")
    assert {"no_traces: no file matches traces", "warning: set prices"} <= set(lines)


def test_table__several_unreadable_trials__are_counted_after_the_first():
    trials = [a_trial(each, "error", reason=f"t.jsonl:{each}: no valid JSON", assertions=[]) for each in (1, 2, 3)]
    text = render_table(results([a_suite("s", [a_scenario("a", "ERROR", trials=trials)])]))
    assert "t.jsonl:1: no valid JSON (and 2 more trials)" in text


def test_table__trials__are_counted():
    trials = [a_trial(0), a_trial(1, "failed"), a_trial(2, "failed")]
    text = render_table(results([a_suite("s", [a_scenario("a", "PARTIAL", trials=trials)])]))
    assert "1/3" in text
    assert "check (2 of 3 trials): response.content lacks 'refund'" in text


def test_table__long_run__is_cut_with_a_count():
    text = render_table(results([a_suite("s", [a_scenario(str(index)) for index in range(100)])]))
    assert "... and 60 more scenarios" in text
    assert "... and" not in render_table(
        results([a_suite("s", [a_scenario(str(i)) for i in range(100)])]), verbosity="verbose"
    )


def test_table__quiet__is_only_the_verdict():
    assert render_table(a_run(), verbosity="quiet") == "EvalGate failed: 1 scenario hard-failed: plain"


def test_table__without_colour__has_no_control_bytes_and_with_colour_only_those_of_evalgate():
    assert "\x1b" not in render_table(a_run("\x1b[35mx"))
    assert set(re.findall("\x1b[^m]*m", render_table(a_run("\x1b[35mx"), colour=True))) <= {
        "\x1b[31m",
        "\x1b[32m",
        "\x1b[33m",
        "\x1b[2m",
        "\x1b[0m",
    }


def test_table__long_reason__is_wrapped_to_the_width():
    bad = an_assertion("check", "failed", reason="word " * 60)
    run = results([a_suite("s", [a_scenario("a", "FAIL", trials=[a_trial(0, "failed", assertions=[bad])])])])
    assert max(map(len, render_table(run, width=70).split("\n")[:5])) <= 70


def test_table__long_notes_and_verdict__are_wrapped_for_a_terminal_only():
    warnings = [{"code": "w", "message": "word " * 40, "where": "t.json"}]
    suites = [a_suite("s", [a_scenario("a", "HARD_FAIL"), a_scenario("b", "PARTIAL"), a_scenario("c", "FAIL")], "fail")]
    found = {"a": "hard_fail", "b": "below_threshold", "c": "below_threshold"}
    reasons = [a_reason(code, "bad", suite="s", scenario=name, variant=None) for name, code in found.items()]
    run = results(suites, "fail", reasons=reasons, warnings=warnings)
    wrapped = render_table(run, width=60, wraps_notes=True).split("\n")
    assert max(map(len, wrapped)) <= 60
    verdict = "EvalGate failed: 1 scenario hard-failed and 2 are below threshold"
    assert verdict in " ".join(map(str.strip, wrapped))
    assert verdict in render_table(run, width=60).split("\n")[-1]


def test_table__trials_that_miss_a_rule__name_it():
    failed = an_assertion("check", "failed", required=True)
    trials = [a_trial(0), a_trial(1, "hard_fail", assertions=[failed])]
    scenario = a_scenario("a", "HARD_FAIL", trials=trials)
    for rule in (
        "1 of 2 trials passed, expected a pass rate of at least 0.9",
        "1 of 2 trials passed, expected at least 9 of 10",
        "score 0.75 is below the threshold 0.8, 1 of 2 trials passed",
    ):
        scenario["reason"] = f"check: 5 of 9 trials passed, too slow (in 1 of 2 trials), {rule}"
        assert f"\n    {rule}\n" in render_table(results([a_suite("s", [scenario])]))
    scenario["reason"] = "check: 5 of 9 trials passed, too slow (in 1 of 2 trials)"
    assert "5 of 9" not in render_table(results([a_suite("s", [scenario])]))


@pytest.mark.parametrize(
    "text", [*HOSTILE, "word " * 15 + "::error::x", "a" * 93 + " ::error::x", "a" * 91 + " ##[error]x"]
)
def test_table__hostile_text__prints_no_command_and_no_control_character(text):
    for width, wraps_notes in product((60, 100), (False, True)):
        for line in render_table(a_run(text), width=width, wraps_notes=wraps_notes).split("\n"):
            assert runner_commands(line) == []
            assert not re.search("[\x00-\x1f\x7f-\x9f]", line)


def test_table__invalid_input__lists_each_error():
    text = render_table(results([], "invalid", reasons=[a_reason("invalid_suite", "unknown key `x`")]))
    assert text == "invalid_suite: unknown key x\nEvalGate could not run: unknown key x"


@pytest.mark.parametrize(("verdict", "is_shown"), [("pass", True), ("cannot_judge", True), ("fail", False)])
def test_table__a_condition_that_never_held__is_no_hint_beside_what_fails(verdict, is_shown):
    warnings = [{"code": "unmet_condition", "message": "the condition held in no trace", "where": "evals/s.yaml:1"}]
    text = render_table(results([a_suite("s", [a_scenario()])], verdict, warnings=warnings))
    assert ("held in no trace" in text) is is_shown


def test_table__one_warning_about_many_places__is_shown_once():
    warnings = [{"code": "w", "message": "looks odd", "where": f"t{index}.json"} for index in range(40)]
    text = render_table(results([a_suite("s", [a_scenario()])], warnings=warnings))
    assert text.count("looks odd") == 1
    assert "warning: looks odd (t0.json and 39 more places)" in text


def test_table__variants__are_shown_side_by_side_under_their_suite():
    others = {"correct_count": {"held": 0, "of": 0}, "input_tokens": None, "cost_usd": None}
    suite = {**a_suite("s", [a_scenario()]), "variants": [a_variant(), a_variant("b", **others)]}
    lines = render_table(results([suite, a_suite("t", [a_scenario()])])).split("\n")
    start = lines.index("variants of s  passed    tool   count  tokens in  out  total       cost  latency")
    assert lines[start + 1 : start + 4] == [
        "flat           3 of 4  4 of 4  3 of 4      1,200   80  1,280  0.012 USD    2.5 s",
        "b              3 of 4  4 of 4       \u2013    unknown   80  1,280    unknown    2.5 s",
        "",
    ]
    assert not any("variants of t" in line for line in lines)


def test_table__more_variants_than_room__are_counted():
    suites = [{**a_suite(each, []), "variants": [a_variant(str(n)) for n in range(25)]} for each in "st"]
    text = render_table(results(suites))
    assert "... and 10 more variants" in text
    assert "more variants" not in render_table(results(suites), verbosity="verbose")


def failing_alike(number, name="s{}", change=None):
    scenarios = [a_scenario(name.format(each), "HARD_FAIL", change) for each in range(number)]
    reasons = [a_reason("hard_fail", "m", suite="s", scenario=each["id"], variant=None) for each in scenarios]
    return results(
        [a_suite("s", [*scenarios, *(a_scenario(f"fine{each}") for each in range(40))])], "fail", reasons=reasons
    )


def test_table__equal_failures__are_one_row_with_their_names():
    lines = render_table(failing_alike(3, change=a_change("broken"))).split("\n")
    assert lines[:3] == [
        "HARD FAIL     3 scenarios  0.00  broken",
        "    check: response.content lacks 'refund'",
        "    in s0, s1, s2",
    ]


@pytest.mark.parametrize(
    ("passed", "shown"), [((0, 0), "0/3"), ((0, 1), "0/3 to 1/3"), ((1, 0), "0/3 to 1/3"), ((0, None), "")]
)
def test_table__a_row_of_several_failures_says_how_many_trials_passed(passed, shown):
    document = failing_alike(2, change=a_change("broken"))
    for scenario, good in zip(document["suites"][0]["scenarios"], passed, strict=False):
        if good is not None:  # else it has one trial
            trials = [a_trial(number, "passed" if number < good else "hard_fail") for number in range(3)]
            scenario.update(trials=trials, n=3)
    assert render_table(document).startswith(f"HARD FAIL     2 scenarios  0.00 {shown} broken\n")


@pytest.mark.parametrize("name", ["s{}", "a-long-name-of-scenario-{}"])
def test_table__three_hundred_equal_failures__fit_on_a_screen(name):
    lines = render_table(failing_alike(300, name, a_change("broken", flags=["single_trial"])), width=100).split("\n")
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    assert not [line for line in lines if "may be noise" in line or "single" in line]  # a required check failed


def test_table__names_that_fit__are_all_shown_and_others_counted():
    text = render_table(failing_alike(300))
    assert all(f" s{each}" in text for each in range(300))
    text = render_table(failing_alike(300, "a-long-name-of-scenario-{}"))
    assert text.count("a-long-name-of-scenario") == 18
    assert "      and 282 more\n" in text
    assert "and 282 more" not in render_table(failing_alike(300, "a-long-name-of-scenario-{}"), verbosity="verbose")


def test_table__more_different_failures_than_rows__are_named():
    scenarios = [
        a_scenario(f"s{each}", "FAIL", trials=[a_trial(0, "failed", assertions=[an_assertion(f"c{each}", "failed")])])
        for each in range(50)
    ]
    text = render_table(results([a_suite("s", scenarios)]))
    assert "... and 10 more failing scenarios: s40, s41, s42, s43, s44, s45, s46, s47, s48, s49\n" in text


def test_table__lack_of_evidence__comes_after_regressions():
    price = an_assertion("cost", "not_evaluable", reason="no price for x")
    wrong = an_assertion("says so", "failed", reason="it does not")
    checks = {"a": [price], "b": [price], "c": [wrong, price]}
    scenarios = [
        a_scenario(name, "FAIL", a_change("broken"), trials=[a_trial(0, "failed", assertions=found)])
        for name, found in checks.items()
    ]
    assert render_table(results([a_suite("s", scenarios)])).split("\n")[:6] == [
        "FAIL          c            0.00  broken",
        "    says so: it does not",
        "FAIL          2 scenarios  0.00  can't be judged any more (lack of evidence)",
        "    cost: not evaluable in 3 scenarios: no price for x",
        "    in a, b",
        "",
    ]


def test_table__scenario_that_passes_with_failed_trials__shows_them_dimmed():
    trials = [a_trial(0), a_trial(1), a_trial(2, "failed"), a_trial(3, "failed")]
    document = results([a_suite("s", [a_scenario("fine"), a_scenario("shaky", trials=trials)])])
    assert render_table(document).split("\n")[:4] == [
        "PASS          shaky  1.00 2/4, mean score 0.8 is enough",
        "    2 of 4 trials failed; check (2 of 4 trials): response.content lacks 'refund'",
        "PASS          fine   1.00",
        "",
    ]
    assert "\x1b[2m    2 of 4 trials failed" in render_table(document, colour=True)


def test_table__many_scenarios_that_pass_with_failed_trials__are_a_row_each_and_counted():
    bad = [an_assertion("check", "failed", reason=f"reason {number}") for number in range(8)]
    flawed = [a_scenario(f"s{at}", trials=[a_trial(0), a_trial(1, "failed", assertions=[bad[at]])]) for at in range(8)]
    document = results([a_suite("s", [*flawed, a_scenario("fine")])])
    lines = render_table(document).split("\n")
    assert lines[:2] == [f"PASS          s{each}    1.00 1/2, mean score 0.8 is enough" for each in range(2)]
    assert lines[9] == "8 of 9 passing scenarios have failed trials or checks: `evalgate explain ID` shows why"
    assert "reason" not in "".join(lines)
    assert "reason 7" in render_table(document, verbosity="verbose")


def test_table__an_id_of_several_suites__has_the_suite_before_it():
    suites = [
        a_suite("billing", [a_scenario("refund", "FAIL"), a_scenario("a")]),
        a_suite("shop", [a_scenario("refund")]),
    ]
    lines = render_table(results(suites)).split("\n")
    assert lines[0].startswith("FAIL          billing / refund ")
    assert [line[14:].split("  ")[0] for line in lines if line.startswith("PASS")] == ["a", "shop / refund"]


def test_table__scenarios_that_pass_with_one_failed_check__are_one_row():
    late = an_assertion("in time", "failed", reason="it took 9 s")
    scenarios = [a_scenario(name, trials=[a_trial(0, assertions=[late])]) for name in "abc"]
    assert render_table(results([a_suite("s", scenarios)]), colour=True).split("\n")[:3] == [
        "\x1b[32mPASS         \x1b[0m 3 scenarios  1.00",
        "\x1b[2m    in time: it took 9 s\x1b[0m",
        "\x1b[2m    in a, b, c\x1b[0m",
    ]


@pytest.mark.parametrize(("render", "width"), [(render_table, 40), (partial(render_comment, key="evalgate"), 120)])
def test_reports__a_long_id__is_cut_in_the_middle_and_finds_its_scenario(render, width):
    ids = [f"airline-{'task-' * 40}{end}" for end in ("one", "two")]
    trials = [a_trial(0, "failed", assertions=[an_assertion("check", "failed")])]
    text = render(results([a_suite("support", [a_scenario(each, "FAIL", trials=trials) for each in ids])]))
    cut = dict.fromkeys(re.findall("airline-[a-z-]*\u2026[a-z-]*", text))
    assert [find_ids(each, ids) for each in cut] == [[each] for each in ids]
    assert {len(each) for each in cut} == {width}
