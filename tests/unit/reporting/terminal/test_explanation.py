from __future__ import annotations

import re

import pytest
from builders import make_call, make_trace
from markdown_check import HOSTILE, runner_commands
from msgspec.structs import replace
from results_builder import (
    a_baseline,
    a_change,
    a_scenario,
    a_suite,
    a_trial,
    an_assertion,
    results,
    some_calls,
)

from evalgate.gate.trajectory.trajectory_diff import diff_trajectories, trajectory_from_trace
from evalgate.models.comparison.trajectory import FigureDelta, TrajectoryDiff, TrialExample
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.results.clean_values import clean_record
from evalgate.reporting.terminal.explanation import render_explanation, render_removed_scenario
from evalgate.reporting.text.scenario_sections import SuiteScenario


def explain(scenario, **given):
    suite = a_suite(given.pop("suite", "support"), [scenario])
    baseline = given.pop("baseline", None)
    form = {name: given.pop(name) for name in ("width", "colour", "full") if name in given}
    return render_explanation(results([suite], baseline=baseline, **given), SuiteScenario(suite, scenario), **form)


def diff_of_traces(before, now):
    return clean_record(
        diff_trajectories(trajectory_from_trace(before), trajectory_from_trace(now), 1, 2), TrajectoryDiff
    )


def part(text, title):
    return text.split(f"\n\n{title}\n")[1].split("\n\n")[0].split("\n")


def test_a_broken_scenario__starts_with_a_short_reason():
    change = a_change("broken", reason="passed 4 of 4 before, 0 of 4 now", p_value=0.0286, flags=["flaky"],
                      score_delta=-1.0, previous_verdict="PASS", increases=["cost +90% (limit 20%)"])  # fmt: skip
    trials = [a_trial(number, "failed") for number in range(4)]
    scenario = a_scenario("refund", "FAIL", change, trials=trials, pass_rate_interval=[0.0, 0.49])
    first = explain(scenario, baseline=a_baseline(age_seconds=200_000)).split("\n\n")[0].split("\n")
    assert first == [
        "FAIL  refund",
        "  suite    support (evals/support.yaml:7)",
        "  why      check (4 of 4 trials): response.content lacks 'refund'",
        "  score    0.00, \u22121.00 since the baseline; threshold 0.80",
        "  trials   0 of 4 passed",
        "  change   broken: passed 4 of 4 before, 0 of 4 now",
        "           cost +90% (limit 20%)",
        "  since    the baseline ba5e000 (exact, 2 days old), in which it was PASS",
    ]
    statistics = [
        "  trials   0 of 4 passed; the true rate is between 0% and 49%, with 95% confidence",
        "  chance   a change at least this large would occur by chance in 3% of runs (p 0.0286)",
    ]
    whole = explain(scenario, baseline=a_baseline(age_seconds=200_000), full=True).split("\n\n")[0].split("\n")
    assert whole == [*first[:4], statistics[0], *first[5:], statistics[1]]


@pytest.mark.parametrize(
    ("scenario", "line"),
    [
        (a_scenario(), "  why      every check passed"),
        (a_scenario(verdict="MISSING", trials=[]), "  why      no trace was found"),
        (a_scenario(verdict="ERROR", trials=[a_trial(0, "error", reason="x.json: no JSON")]), "  why      x.json: no JSON"),
        (a_scenario(), "  change   not compared; `--baseline PATH` compares it with an earlier run"),
        (a_scenario(change=a_change("new")), "  change   new: it is new"),
        (
            a_scenario(change=a_change("broken", flags=["single_trial"])),
            "  chance   single trial: may be noise; record several trials",
        ),
        (
            a_scenario(change=a_change("inconclusive", p_value=0.003, p_corrected=0.12)),
            "           p 0.12 after correction for the number of scenarios",
        ),
    ],
)  # fmt: skip
def test_each_state_of_a_scenario__has_a_short_line(scenario, line):
    assert line in explain(scenario).split("\n")


def test_a_new_scenario__is_shown_with_its_checks_and_a_trial():
    example = TrialExample(0, "Cancel A1.", ['look_up {"id":"A1"}'], "It is cancelled.", reads_only=True)
    check = an_assertion("said", type="contains", reason='answer contains "cancelled"')
    change = a_change("new", example=example)
    found = explain(a_scenario(change=change, trials=[a_trial(assertions=[check])])).split("\n")
    start = found.index("  change   new: it is new") + 1
    assert found[start : start + 4] == [
        "           checked by said; no tool call is checked",
        "  asked    Cancel A1.",
        '  calls    look_up {"id":"A1"} (only look-ups)',
        "  answer   It is cancelled.",
    ]


def test_many_reasons__are_counted():
    checks = [an_assertion(f"c{number}", "failed") for number in range(8)]
    text = explain(a_scenario(verdict="FAIL", trials=[a_trial(0, "failed", assertions=checks)]))
    assert "           and 3 more" in text.split("\n")


def test_the_difference__is_shown_turn_by_turn():
    before = make_trace(
        [("look", {"id": 1}), make_call("pay", {"sum": 1}, index=1, turn=2)],
        "It costs $1 now.",
        turns=[("hi", "hello")],
    )
    now = make_trace([("look", {"id": 1}), make_call("pay", {"sum": 2}, index=1, turn=2, status="error", result="no"), "mail"],
                     "It costs $2 now.", turns=[("hi", "good day")], status="incomplete")  # fmt: skip
    change = a_change("broken", behaviour=diff_of_traces(before, now))
    change["behaviour"].figures = [FigureDelta("cost_usd", 0.5, 2.0), FigureDelta("score", 1, 1)]
    title = "Difference from the baseline (trial 1 there, trial 2 here)"
    assert part(explain(a_scenario(change=change)), title) == [
        "  the first difference is call 2 in turn 2",
        "  turn 1",
        "    ~ agent: hello -> good day",
        "  turn 2",
        '      1 look {"id":1}',
        "    ~ 2 pay",
        "        ~ sum: 1 -> 2",
        "          ended: ok -> error",
        "    + 3 mail {}",
        "  final answer, [-in the baseline-] and {+now+}:",
        "    It costs [-$1-]{+$2+} now.",
        "  status: ok -> incomplete",
        "  cost 0.5 USD -> 2.00 USD",
    ]


def test_an_equal_trace__is_reported_as_equal():
    change = a_change("unchanged", behaviour=diff_of_traces(make_trace(["a"]), make_trace(["a"])))
    assert "  the agent's calls and answer are unchanged" in explain(a_scenario(change=change)).split("\n")


def test_a_call_at_another_place__is_not_missing_and_shows_how_it_ended_on_both_sides():
    calls = [make_call("mail", {"to": "a"}, index=at, status=status) for at, status in ((0, "ok"), (2, "error"))]
    before, now = make_trace([calls[0], "look_up", "pay"]), make_trace(["look_up", "pay", calls[1]])
    change = a_change("broken", behaviour=diff_of_traces(before, now))
    lines = explain(a_scenario(change=change)).split("\n")

    assert "  the first difference is call 1 of the baseline in turn 1, which is call 3 now" in lines
    assert [line.strip() for line in lines if "another place" in line] == [
        "made at another place: call 3 now",
        "made at another place: call 1 of the baseline",
    ]
    assert "          ended: ok -> error" in lines


def test_a_call_made_earlier__is_not_new():
    before, now = make_trace(["look_up", "pay", "mail"]), make_trace(["mail", "look_up", "pay"])
    lines = explain(a_scenario(change=a_change("broken", behaviour=diff_of_traces(before, now)))).split("\n")

    assert "  the first difference is call 1 in turn 1" in lines


def test_a_missing_call_that_failed__shows_that_it_had():
    failed = make_call("pay", index=1, status="error", result="declined")
    change = a_change("broken", behaviour=diff_of_traces(make_trace(["look_up", failed]), make_trace(["look_up"])))
    lines = explain(a_scenario(change=change)).split("\n")

    assert [line.strip() for line in lines if "ended" in line or "answered" in line] == [
        "ended: error",
        "answered: declined",
    ]


def test_an_equal_call_with_another_result__shows_both_results():
    before, now = (make_trace([make_call("f", result=result)]) for result in ("open", "closed"))
    change = a_change("broken", behaviour=diff_of_traces(before, now))
    assert "          answered: open -> closed" in explain(a_scenario(change=change)).split("\n")


def test_without_traces__calls_are_shown_by_name():
    title = "Difference from the baseline (trial 0 there, trial 0 here)"
    change = a_change("broken", calls=some_calls(["a", "b"], ["a", "c"]))
    assert part(explain(a_scenario(change=change)), title) == ["    a", "  - b", "  + c"]
    change = a_change("broken", calls=some_calls(["a"], ["a"]))
    assert part(explain(a_scenario(change=change)), title) == ["  the same 1 call; only their names were compared"]


def test_other_calls_of_one_trial__are_left_out_where_nothing_differs_in_all_trials():
    change = a_change("unchanged", calls=some_calls(["a"], ["a", "a"]))
    assert "Difference" not in explain(a_scenario(change=change))
    assert "\n  + a\n" in explain(a_scenario(verdict="FAIL", change=change))


def test_every_trial__is_shown_with_its_failed_checks_first():
    checks = [
        an_assertion("fine", reason="fine"),
        an_assertion("bad", "failed", required=True, weight=2.0, score=0.5, evidence={"verdict": "failure", "at": [1, "x"]}),
        an_assertion("unknown", "not_evaluable", location=None),
    ]  # fmt: skip
    trials = [
        a_trial(0, "failed", assertions=checks, tool_calls=["a", "b"]),
        a_trial(1, "error", reason="broken off", assertions=[]),
    ]
    trials[1].trace.line = 7
    assert part(explain(a_scenario(verdict="FAIL", trials=trials), full=True), "Trials") == [
        "  trial 0: failed",
        "    traces/0.json (native)",
        "    score 0.00, cost 0.01 USD, latency 2.0 s, tokens 900",
        "    calls a, b",
        "    failed        bad (required), weight 2, score 0.50: response.content lacks 'refund'",
        "                  [evals/support.yaml:12]",
        '        at: [1, "x"]',
        "    not evaluable unknown: response.content lacks 'refund'",
        "    passed        fine [evals/support.yaml:12]",
        "    evalgate show traces/0.json",
        "  trial 1: error",
        "    traces/1.json:7 (native)",
        "    score 0.00, cost 0.01 USD, latency 2.0 s, tokens 900",
        "    calls lookup_order",
        "    broken off",
        "    evalgate show traces/1.json:7",
    ]


@pytest.mark.parametrize(
    ("fields", "place", "command"),
    [
        ({"record": 101}, "traces/0.json#102", "evalgate show 'traces/0.json#102'"),
        ({"line": 7, "record": 1}, "traces/0.json:7#2", "evalgate show 'traces/0.json:7#2'"),
        (
            {"path": f"it's {'long ' * 20}.json", "format": "custom"},
            "it's long",
            f"evalgate show --config evals/support.yaml 'it'\"'\"'s {'long ' * 20}.json'",
        ),
    ],
)
def test_a_failed_trial_ends_with_the_command_that_shows_its_trace(fields, place, command):
    trial = a_trial(0, "failed")
    trial.trace = replace(trial.trace, **fields)
    lines = part(explain(a_scenario(verdict="FAIL", trials=[trial])), "Trials")
    assert lines[1].startswith(f"    {place}")
    assert lines[-1] == f"    {command}"


def test_failing_trials_come_first_and_passing_ones_are_folded():
    calls = ["search", "search", "read", "search"]
    trials = [a_trial(0), a_trial(1, "failed", assertions=[], tool_calls=calls), a_trial(2)]
    assert part(explain(a_scenario(verdict="FAIL", trials=trials)), "Trials") == [
        "  trial 1: failed",
        "    traces/1.json (native)",
        "    score 0.00, cost 0.01 USD, latency 2.0 s, tokens 900",
        "    calls search x2, read, search",
        "    evalgate show traces/1.json",
        "  trials 0 and 2 passed",
        "  `evalgate explain --all` shows 2 more trials",
    ]
    only_passed = part(explain(a_scenario(trials=[a_trial(0), a_trial(1)])), "Trials")
    assert only_passed[-2:] == [
        "  trial 1 passed (traces/1.json)",
        "  `evalgate explain --all` shows 1 check and 1 more trial",
    ]
    assert "    calls lookup_order" in only_passed


@pytest.mark.parametrize("asked", [["get_book", "search"], ["search", "lend_book", "search"]])
def test_a_passing_trial__is_shown_by_its_calls_and_its_answer_instead_of_its_checks(asked):
    token, titles = "ghp_" + "a1B2" * 9, ["Dune", "Emma", "Solaris"][: len(asked)]
    checks = [*[an_assertion(f"c{n}") for n in range(9)], an_assertion("when", "skipped")]
    scenario = a_scenario(trials=[a_trial(n, assertions=checks, tool_calls=asked) for n in range(2)])
    trace = make_trace(
        [(name, {"title": title}) for name, title in zip(asked, titles, strict=True)],
        f"It is on the shelf; {token}",
        user=str(titles),
    )
    suite = a_suite("support", [scenario])
    explained, traces = SuiteScenario(suite, scenario), {("traces/0.json", None, None): trace}
    calls = range(len(asked)) if "lend_book" not in asked else [1]
    lines = [
        "  trial 0: passed",
        "    traces/0.json (native)",
        "    score 1.00, cost 0.01 USD, latency 2.0 s, tokens 900",
        f"    calls {', '.join(asked)}",
        *(f'    call {at + 1} {asked[at]}: title "{titles[at]}" from user' for at in calls),
        "    final answer: It is on the shelf; [redacted: GitHub token]",
        "  trial 1 passed (traces/1.json)",
        "  `evalgate explain --all` shows 10 checks and 1 more trial",
    ]
    assert part(render_explanation(results([suite]), explained, traces), "Trials") == lines
    difference = a_change("unchanged", behaviour=diff_of_traces(make_trace([]), make_trace([], "No.")))
    scenario["change"] = difference  # which shows both answers
    assert part(render_explanation(results([suite]), explained, traces), "Trials") == [*lines[:-3], *lines[-2:]]
    full = part(render_explanation(results([suite]), explained, traces, full=True), "Trials")
    assert sum(line.startswith("    passed  ") for line in full) == 18


def test_very_many_trials_and_checks__are_counted():
    trials = [a_trial(n, "failed", assertions=[an_assertion(f"c{k}", "failed") for k in range(30)]) for n in range(60)]
    text = explain(a_scenario(verdict="FAIL", trials=trials), full=True)
    assert "  and 10 more trials" in text.split("\n")
    assert "    and 30 more checks" in text.split("\n")
    assert text.count("\n") < 1_000
    assert explain(a_scenario(verdict="FAIL", trials=trials)).count("\n") < 40


def test_what_failed__comes_first_and_what_passed_is_counted():
    checks = [
        an_assertion("no cost", "not_evaluable", weight=9.0),
        *[an_assertion(f"fine {n}") for n in range(60)],
        an_assertion("bad", "failed"),
    ]
    trials = [a_trial(n, "failed", assertions=checks) for n in range(3)]
    trials += [a_trial(3, "failed", assertions=[an_assertion("worse", "failed")]), *map(a_trial, range(4, 30))]
    before, now = (make_trace([*["look"] * 40, name, *["read"] * 40], "b " * 900) for name in ("pay", "mail"))
    change = a_change("broken", behaviour=diff_of_traces(before, now))
    text = explain(a_scenario(verdict="FAIL", change=change, trials=trials))
    assert text.count("\n") < 40
    assert "  turn 1\n      ... 40 unchanged calls\n    - 41 pay {}\n    + 41 mail {}\n" in text
    lines = part(text, "Trials")
    assert [line.split()[:2] for line in lines[4:6]] == [["failed", "bad:"], ["not", "evaluable"]]
    assert lines[7:8] + lines[-2:] == [
        "  trials 1 and 2 failed in the same checks",
        "  trials 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 and 14 more passed",
        "  `evalgate explain --all` shows 60 more checks and 28 more trials",
    ]


def test_the_rerun_command__is_last():
    assert explain(a_scenario()).endswith("\n\nTo reproduce the run\n  evalgate run suite.yaml")
    assert explain(a_scenario(), command=None).endswith("  evalgate run")
    command = f"evalgate run {'evals/' * 40}support.yaml --traces '{'a b/' * 40}*.jsonl'"
    assert explain(a_scenario(), command=command).endswith(f"\n  {command}")  # in one line, so that it can be pasted


def test_a_variant__is_part_of_the_name():
    assert explain(a_scenario(variant="gpt")).split("\n")[0] == "PASS  refund [gpt]"


def test_a_removed_scenario__has_its_last_verdict():
    removed = {"suite": "support", "id": "old", "variant": None, "verdict": "HARD_FAIL", "score": 0.5}
    assert render_removed_scenario(removed).split("\n") == [
        "REMOVED  old",
        "  suite    support",
        "  why      only in the baseline (HARD FAIL, score 0.50): no suite of this run contains it",
    ]


def test_colour__comes_from_evalgate_only_and_only_if_requested():
    change = a_change("broken", behaviour=diff_of_traces(make_trace(["a"]), make_trace(["b"])))
    scenario = a_scenario("x\x1b[31my", "FAIL", change)
    assert "\x1b" not in explain(scenario)
    painted = explain(scenario, colour=True)
    assert "\x1b[31mFAIL  \x1b[0mxy" in painted
    assert re.sub(r"\x1b\[\d+m", "", painted) == explain(scenario)


@pytest.mark.parametrize("width", [20, 60, 100, 200])
def test_no_line_is_wider_than_the_window(width):
    change = a_change(
        "broken",
        reason="word " * 90,
        behaviour=diff_of_traces(make_trace(["a"], "b " * 400), make_trace(["c"] * 30, "d " * 400)),
    )
    lines = explain(a_scenario("n" * 150, "FAIL", change), width=width).split("\n")
    assert max(map(len, lines)) <= max(width, 60)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_everywhere__reaches_neither_terminal_nor_runner_as_a_command(text):
    before = make_trace([("a", {"x": 1}), (text, {text: text})], text, user=text)
    now = make_trace(
        [("a", {"x": text}), text], f"{text} {text}", status="error", error={"type": None, "message": text}
    )
    change = a_change(text, reason=text, flags=[text], increases=[text], previous_verdict=text,
                      behaviour=diff_of_traces(before, now))  # fmt: skip
    trial = a_trial(0, text, reason=text, tool_calls=[text],
                    assertions=[an_assertion(text, text, reason=text, evidence={text: {text: [text]}})])  # fmt: skip
    scenario = a_scenario(text, text, change, variant=text, reason=text, trials=[trial])
    scenario["location"] = LocationDoc(text, 7, 5)
    trial.trace.path = text
    shown = explain(scenario, suite=text, command=text, baseline=a_baseline("given", path=text, sha=None))
    shown += render_removed_scenario({"suite": text, "id": text, "variant": text, "verdict": text, "score": None})
    assert runner_commands(shown) == []
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


def test_a_single_trial__repeats_no_reason_that_stands_above():
    trials = [a_trial(0, "failed", assertions=[an_assertion("check", "failed", reason="it is late")])]
    scenario = a_scenario("refund", "FAIL", trials=trials)
    assert explain(scenario).count("it is late") == 1
    assert "failed        check [evals/support.yaml:12]" in explain(scenario)
    assert explain(scenario, full=True).count("it is late") == 2
    assert explain(a_scenario("refund", "FAIL", trials=trials * 2)).count("it is late") == 2
