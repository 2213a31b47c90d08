"""Two arms of a suite compared: kinds of scenarios, exact tests, corrections, ratios, and what fails the gate."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from msgspec.structs import replace
from run_builders import make_run, make_scenario, make_trial
from scipy.stats import binomtest

from evalgate.application.comparison.policies import compare_variants
from evalgate.gate.arms.arm_ratios import DRAWS, MOST_DRAWN, compare_amounts, ratio_interval
from evalgate.gate.comparison.outcomes import outcome_from_scenario
from evalgate.gate.comparison.significance import sign_p
from evalgate.gate.decision.decide import decide
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.trial_doc import AgentParts
from evalgate.reporting.results.results_json import RunFindings, RunOrigin, build_results_document, dump_results
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.suite.policy import Policies, Policy, VariantComparison

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.decision import Decision
    from evalgate.models.run.arms import ArmComparison

PAIR = {"control": "old", "treatment": "new"}


class Judged(NamedTuple):
    """The comparisons of a run, and the decision."""

    arms: Sequence[ArmComparison]
    decision: Decision


def arm(name, outcomes, **trial):
    """A scenario `s0`, `s1` ... of one variant for each text of outcomes: `p` passed, `f` failed, `o` outage."""
    return [scenario(f"s{number}", name, each, **trial) for number, each in enumerate(outcomes)]


def scenario(id_, variant, outcomes, **trial):
    statuses = {"p": "passed", "f": "failed", "o": "not_measured"}
    trials = [make_trial(statuses[each], number=number, **trial) for number, each in enumerate(outcomes)]
    measured = outcomes.replace("o", "")
    if not measured:
        return make_scenario("NOT_EVALUABLE" if outcomes else "MISSING", id_, trials=trials, variant=variant)
    return make_scenario("PASS" if "f" not in measured else "FAIL", id_, trials=trials, variant=variant)


def judge(control, treatment, fail_on=("variant_regression", "no_lift"), regression=None, **rules):
    policy = Policy.model_validate(
        {
            "compare_variants": {**PAIR, **rules},
            "fail_on": [*fail_on],
            **({"regression": regression} if regression else {}),
        }
    )
    return decide_run(make_run(*arm("old", control), *arm("new", treatment)), policy)


def decide_run(run, policy, approved=()):
    policies = Policies({"support": policy}, policy)
    compare_variants(run, policies, approved)
    found = decide(run, None, None, policies, approved=approved)
    return Judged(run.arms, found)


def codes(judged):
    return [reason.code for reason in judged.decision.reasons]


@pytest.mark.parametrize("changed", [*range(1, 40), 99, 1000, 1001, 5000])
def test_sign_test__is_scipys(changed):
    for worse in range(0, changed + 1, 1 + changed // 20):
        assert sign_p(worse, changed - worse) == pytest.approx(binomtest(worse, changed).pvalue, abs=1e-12)


def test_scenarios_are_same_broken_repaired_or_may_be_chance():
    (found,) = judge(["ppp", "ppp", "fff", "ppp", "fff"], ["ppp", "fff", "ppp", "ppf", "fff"]).arms
    assert (found.same, found.broken, found.repaired, found.undecided, found.not_comparable) == (2, 1, 1, 1, 0)
    assert [(each.id, each.kind, each.reason) for each in found.scenarios] == [
        ("s1", "broken", "3 of 3 -> 0 of 3"),
        ("s2", "repaired", "0 of 3 -> 3 of 3"),
        ("s3", "undecided", "3 of 3 -> 2 of 3"),
    ]
    assert (found.worse, found.better, found.p_value) == (1, 1, 1.0)


def test_six_scenarios_that_broke_and_none_that_was_repaired__fail_the_gate():
    decision = judge(["p"] * 8, ["f"] * 6 + ["pp"])
    assert (codes(decision), decision.decision.exit_code) == (["variant_regression"], 1)
    assert decision.decision.reasons[0].variant == "new"
    assert "6 scenarios got worse, 0 better (sign test 0.031)" in decision.decision.reasons[0].message


def test_five_are_not_enough__neither_for_a_regression_nor_for_a_lift():
    assert codes(judge(["p"] * 8, ["f"] * 5 + ["p"] * 3)) == []
    assert codes(judge(["f"] * 8, ["p"] * 5 + ["f"] * 3, require="lift")) == ["no_lift"]
    assert codes(judge(["f"] * 8, ["p"] * 6 + ["f"] * 2, require="lift")) == []


def test_any_broken_scenario__is_no_regression_but_one_that_is_beyond_chance_among_all_is():
    ten = ["ppp"] * 10
    assert codes(judge(ten, ["fff", *ten[1:]])) == []
    eight = ["p" * 8] * 10
    decision = judge(eight, ["f" * 8, *eight[1:]])
    assert codes(decision) == ["variant_regression"]
    assert "s0 broke beyond chance" in unmark_parts(decision.decision.reasons[0].message)


def test_same_agent_in_both_arms__is_silent():
    outcomes = ["ppp", "fff", "pff", "ppf", "p"]
    (found,) = judge(outcomes, outcomes).arms
    assert (found.same, found.scenarios, found.finding, found.p_value) == (5, [], "neither", 1.0)
    assert codes(judge(outcomes, outcomes)) == []


@pytest.mark.parametrize("trials", [1, 4])
def test_splits_of_one_agent__are_a_regression_in_at_most_alpha_of_them(trials):
    """Thirty scenarios that pass as often as those of benchmarks differ; 11 of 100 is three standard errors above 5 %."""
    chance, rates = Random(trials), [1.0] * 12 + [0.9, 0.75, 0.5, 0.3, 0.1, 0.0] * 3  # noqa: S311

    def draw():
        return ["".join("p" if chance.random() < rate else "f" for _ in range(trials)) for rate in rates]

    assert sum("variant_regression" in codes(judge(draw(), draw())) for _ in range(100)) <= 11


def test_all_ties__are_no_lift():
    assert codes(judge(["p"] * 9, ["p"] * 9, require="lift")) == ["no_lift"]


def test_different_numbers_of_trials__are_compared_by_their_rates():
    (found,) = judge(["p" * 8, "p"], ["f" * 3, "ppp"]).arms
    assert [(each.id, each.kind) for each in found.scenarios] == [("s0", "broken")]


def test_pairs_of_trials__are_pooled_over_scenarios():
    decision = judge(["ppp", "ppp", "ppf"], ["fff", "fff", "fff"], pair_by="trial")
    (found,) = decision.arms
    assert (found.test, found.worse, found.better) == ("McNemar", 8, 0)
    assert found.p_value == pytest.approx(binomtest(0, 8).pvalue, abs=1e-12)
    assert codes(decision) == ["variant_regression"]


def test_an_outage__drops_the_pair_on_both_sides():
    (found,) = judge(["pop", "ppp"], ["fpf", "ooo"], pair_by="trial").arms
    assert (found.worse, found.better, found.not_comparable) == (2, 0, 1)
    assert found.scenarios[-1].reason == "not measured in an arm, because of an outage"


def test_a_scenario_in_one_arm_only__is_not_comparable_and_counted():
    (found,) = judge(["p", "", "p"], ["p", "p", ""]).arms
    assert (found.same, found.not_comparable, found.finding) == (1, 2, "neither")
    assert {each.id: each.reason for each in found.scenarios} == {
        "s1": "only in the treatment",
        "s2": "only in the control",
    }


def test_nothing_comparable__is_never_green():
    decision = judge(["p", "p"], ["", ""])
    assert (codes(decision), decision.decision.exit_code) == (["nothing_compared"], 3)


def test_a_run_whose_variants_were_not_compared__is_never_green():
    run = make_run(*arm("old", ["p"]), *arm("new", ["p"]))
    policy = Policy.model_validate({"compare_variants": PAIR, "fail_on": ["variant_regression"]})
    decision = decide(run, None, None, Policies({"support": policy}, policy))
    assert codes(Judged((), decision)) == ["nothing_compared"]


def test_a_treatment_that_could_not_be_evaluated__broke():
    broke = make_scenario("ERROR", "s0", variant="new")
    policy = Policy.model_validate({"compare_variants": PAIR, "fail_on": ["variant_regression"]})
    (found,) = decide_run(make_run(scenario("s0", "old", "p"), broke), policy).arms
    assert [(each.kind, each.p_value) for each in found.scenarios] == [("broken", None)]


def test_what_is_in_quarantine_or_approved__is_left_out_of_both_arms():
    policy = Policy.model_validate({"compare_variants": PAIR, "fail_on": ["variant_regression"]})
    run = make_run(*arm("old", ["p"] * 8), *arm("new", ["f"] * 6 + ["p"] * 2))
    assert codes(decide_run(run, policy)) == ["variant_regression"]
    assert codes(decide_run(run, policy, {ScenarioKey("support", "s0", "new")})) == []
    run.suites[0].scenarios[0].quarantined = True
    assert codes(decide_run(run, policy)) == []


def test_several_treatments__are_corrected_by_holm():
    run = make_run(*arm("old", ["p"] * 6), *arm("new", ["f"] * 6), *arm("newer", ["p"] * 6))
    pairs = [VariantComparison(**PAIR), VariantComparison(control="old", treatment="newer")]
    policy = Policy(compare_variants=pairs, fail_on=["variant_regression"])
    decision = decide_run(run, policy)
    assert [(each.p_value, each.p_corrected) for each in decision.arms] == [(0.03125, 0.0625), (1.0, 1.0)]
    assert codes(decision) == []
    alone = policy.model_copy(update={"compare_variants": pairs[:1]})
    assert codes(decide_run(run, alone)) == ["variant_regression"]


def test_recordings_that_would_decide__are_those_of_both_arms():
    (found,) = judge(["pppp", "ppp"], ["ppff", "pff"]).arms
    needed = [each.recordings_needed for each in found.scenarios]
    assert (needed, found.recordings_needed) == ([6, 6], 12)


def test_other_tools__are_named():
    run = make_run(*arm("old", ["p"]), *arm("new", ["p"]))
    for each, parts in zip(
        run.suites[0].scenarios, (AgentParts("m", "a", "x"), AgentParts("n", "b", "x")), strict=True
    ):
        trace = each.trials[0].trace
        trace.model, trace.tools_hash, trace.prompt_hash, trace.skills, *_ = parts
    policy = Policy.model_validate({"compare_variants": PAIR})
    (found,) = decide_run(run, policy).arms
    assert found.differences == ["model m -> n", "changed tool definitions"]


def outcomes_of(costs, reverse=False):
    pairs = [
        tuple(
            replace(
                outcome_from_scenario(
                    ScenarioKey("support", f"s{number}", None), scenario(f"s{number}", None, "p" * len(side))
                ),
                costs=list(side),
                digests=[number * 10 + index for index in range(len(side))],
            )
            for side in sides
        )
        for number, sides in enumerate(costs)
    ]
    return pairs[::-1] if reverse else pairs


def test_ratio_of_totals__is_of_the_scenarios_means_whatever_their_order():
    costs = [([1.0 + number, 1.0 + number], [0.5 + number / 2]) for number in range(8)]
    (found,) = compare_amounts(outcomes_of(costs))
    assert (found.name, found.ratio, found.low, found.high, found.scenarios) == ("cost", 0.5, 0.5, 0.5, 8)
    noise = Random(1)  # noqa: S311
    uneven = [([noise.random()], [noise.random()]) for _ in range(30)]
    assert compare_amounts(outcomes_of(uneven)) == compare_amounts(outcomes_of(uneven, reverse=True))


def test_a_scenario_without_a_cost_in_an_arm__is_left_out_and_few_give_no_ratio():
    costs = [([1.0], [2.0])] * 5 + [([1.0], [None])]
    (found,) = compare_amounts(outcomes_of(costs))
    assert (found.ratio, found.scenarios) == (2.0, 5)
    assert compare_amounts(outcomes_of(costs[1:])) == []
    assert compare_amounts(outcomes_of([([0.0], [0.0])] * 9)) == []


def test_interval_of_many_scenarios__is_about_that_of_drawn_ones():
    noise = Random(2)  # noqa: S311
    pairs = [(noise.random() + 0.5, noise.random() + 0.5) for _ in range(MOST_DRAWN)]
    drawn, computed = ratio_interval(pairs, b"a"), ratio_interval([*pairs, (1e-9, 1e-9)], b"a")
    assert computed == pytest.approx(drawn, abs=0.01)
    assert DRAWS == 2_000


def test_documents_are_the_same_bytes():
    documents = []
    for _ in range(2):
        run = make_run(*arm("old", ["ppp"] * 8, cost_usd=0.25), *arm("new", ["ppf"] * 8, cost_usd=0.2))
        decision = decide_run(run, Policy.model_validate({"compare_variants": PAIR}))
        origin = RunOrigin(None, datetime(2026, 1, 1, tzinfo=UTC))
        documents.append(dump_results(build_results_document(run, None, decision.decision, origin, RunFindings())))
    assert documents[0] == documents[1]
    assert b'"variant_comparisons":[{"suite":"support","control":"old","treatment":"new"' in documents[0]
