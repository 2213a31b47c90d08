"""Weakenings as reasons of the decision, and in words."""

from run_builders import make_run, make_scenario

from evalgate.gate.decision.decide import decide, reasons_from_weakenings
from evalgate.models.comparison.weakening import Weakening, WeakeningList
from evalgate.scoring.wording import describe_weakening
from evalgate.suite.policy import Policies, Policy

LOWERED = Weakening("threshold_lowered", "support", "s1", baseline="threshold: 0.9", current="threshold: 0.5")
DROPPED = Weakening("fail_on_dropped", baseline="fail_on: broken")


def list_reasons(*weakenings, failing=("support", None)):
    found = reasons_from_weakenings(WeakeningList(weakenings, failing=frozenset(failing)))
    return [(each.suite, each.scenario, each.message) for each in found]


def test_each_scenario_or_policy__gives_one_reason():
    other = LOWERED._replace(kind="errors_allowed", baseline=None, current=None)
    assert list_reasons(LOWERED, DROPPED, other) == [
        ("support", "s1", "the threshold was lowered: threshold: 0.9 -> 0.5 (and 1 more)"),
        (None, None, "a condition of `fail_on` was removed: fail_on: broken"),
    ]


def test_a_suite_without_weakened_in_fail_on__gives_no_reason():
    assert list_reasons(LOWERED, DROPPED, failing=["other"]) == []


def decide_run(weakenings, *, report_only=False):
    run = make_run(make_scenario("PASS"))
    return decide(run, None, None, Policies({}, Policy()), weakenings=weakenings).for_report_only(report_only)


def test_a_weakening_in_fail_on__fails_the_gate():
    weakenings = WeakeningList([LOWERED], failing=frozenset({"support"}))
    found = decide_run(weakenings)
    assert (found.verdict, found.exit_code, found.suite_verdicts) == ("fail", 1, {"support": "fail"})
    assert decide_run(weakenings, report_only=True).exit_code == 0


def test_a_weakening_not_in_fail_on__does_not_fail_the_gate():
    found = decide_run(WeakeningList([LOWERED]))
    assert (found.verdict, found.reasons) == ("pass", [])


def test_a_weakening_of_many_scenarios__is_counted():
    whole = LOWERED._replace(scenario=None, scenarios=12)
    assert describe_weakening(whole) == "the threshold was lowered in 12 scenarios: threshold: 0.9 -> 0.5"
    gone = Weakening("suite_removed", "support", baseline="3 scenarios", scenarios=3)
    assert describe_weakening(gone) == "the suite was removed: 3 scenarios"
    check = 'answer contains "refund"'
    written = '{"type":"output_contains","value":"refund"}'
    removed = Weakening("check_removed", "s", "a", None, check, written)
    assert describe_weakening(removed) == f"a check was removed: `{check}`"
    named = removed._replace(assertion="R1", baseline=f'{{"name":"R1",{written[1:]}')
    assert describe_weakening(named) == f'a check was removed: `R1` {{"name":"R1",{written[1:]}'
    replaced = Weakening("check_replaced", "s", "a", None, "says", '{"regex":"a: b"}', '{"regex":"a: c"}')
    assert describe_weakening(replaced).endswith('`says` {"regex":"a: b"} -> {"regex":"a: c"}')
