"""Compares two arms of a suite: variants of one run, or two runs. What counts as a change is decided by `compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from evalgate.gate.arms.arm_ratios import compare_amounts
from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.outcomes import outcome_from_scenario
from evalgate.gate.comparison.significance import sign_p
from evalgate.gate.comparison.trial_tests import can_be_tested, correct_p_values, count_flips, pair_trials
from evalgate.gate.trajectory.cause import compare_agents, find_steady_prompts
from evalgate.gate.trajectory.trial_pairs import compare_worst_calls
from evalgate.models.comparison.comparison import IMPROVEMENTS, MODEL, REGRESSIONS, SINGLE_TRIAL_CAVEAT, ScenarioKey
from evalgate.models.run.arms import (
    BROKEN,
    LIFT,
    NEITHER,
    NOT_COMPARABLE,
    NOTHING_COMPARED,
    REGRESSION,
    REPAIRED,
    UNDECIDED,
    ArmComparison,
    PairedScenario,
)
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.models.run.trials import is_unmeasured, list_agent_parts, list_measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.comparison.comparison import Change, ScenarioOutcome
    from evalgate.models.run.arms import ArmCalls
    from evalgate.models.run.run import ScenarioResult
    from evalgate.suite.policy import RegressionPolicy, VariantComparison

    ArmKey = tuple[str, str | None]
    """Id and, where the arms are runs, variant of a scenario."""

MOST_LISTED = 200
"""Scenarios that a comparison lists; it counts all."""


class Arms(NamedTuple):
    """The scenarios of two arms of one suite by their key, and what is asked of them."""

    suite: str
    control: Mapping[ArmKey, ScenarioResult]
    treatment: Mapping[ArmKey, ScenarioResult]
    rules: VariantComparison
    policy: RegressionPolicy


class _Paired(NamedTuple):
    """What is known of two arms before correction: changes and outcomes of the comparable scenarios by key."""

    arms: Arms
    changes: Mapping[ScenarioKey, Change]
    control: Mapping[ScenarioKey, ScenarioOutcome]
    treatment: Mapping[ScenarioKey, ScenarioOutcome]
    left_out: Mapping[ScenarioKey, str]
    tested: int

    def count_pairs(self) -> tuple[int, int]:
        """How many scenarios, or pairs of trials, are worse in the treatment, and better."""
        if self.arms.rules.pair_by == "scenario":
            kinds = [each.kind for each in self.changes.values()]
            return sum(kind in REGRESSIONS for kind in kinds), sum(kind in IMPROVEMENTS for kind in kinds)
        flips = [
            count_flips(one, self.treatment[key], pair_trials(one.trials, self.treatment[key].trials))
            for key, one in self.control.items()
        ]
        return sum(lost for lost, _ in flips), sum(won for _, won in flips)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare: no scenario, or no pair of trials."""
        if self.arms.rules.pair_by == "scenario":
            return not self.changes
        return not any(pair_trials(one.trials, self.treatment[key].trials) for key, one in self.control.items())


def compare_arms(pairs: Sequence[Arms]) -> list[ArmComparison]:
    """Compares each pair; p-values are corrected over all of them (Holm): those of a suite, or of two runs."""
    found = list(map(_pair_scenarios, pairs))
    counts = [each.count_pairs() for each in found]
    p_values = [sign_p(*each) for each in counts]
    corrected = correct_p_values(p_values, len(p_values), "holm")
    of_scenarios = _correct_scenarios(found)
    return [
        _summarize(each, own, count, (p, p if len(pairs) == 1 else p_corrected))
        for each, own, count, p, p_corrected in zip(found, of_scenarios, counts, p_values, corrected, strict=True)
    ]


def _pair_scenarios(arms: Arms) -> _Paired:
    sides: list[dict[ScenarioKey, ScenarioOutcome]] = [{}, {}]
    left_out: dict[ScenarioKey, str] = {}
    for id_, variant in dict.fromkeys((*arms.control, *arms.treatment)):
        key = ScenarioKey(arms.suite, id_, variant)
        control, treatment = arms.control.get((id_, variant)), arms.treatment.get((id_, variant))
        if why := _explain_left_out(control, treatment):
            left_out[key] = why
            continue
        for side, scenario in zip(sides, (control, treatment), strict=True):
            if scenario is not None:
                side[key] = outcome_from_scenario(key, scenario)
    baseline, current = sides
    changes = compare(current, baseline, {arms.suite: arms.policy}).changes
    tested = sum(can_be_tested(baseline[key], outcome, arms.policy) for key, outcome in current.items())
    return _Paired(arms, changes, baseline, current, left_out, tested)


def _explain_left_out(control: ScenarioResult | None, treatment: ScenarioResult | None) -> str:
    """Why a scenario is not comparable; empty if it is.

    One that only the treatment could not be evaluated in is: it counts as broken.
    """
    if control is None or control.verdict == "MISSING":
        return "only in the treatment"
    if treatment is None or treatment.verdict == "MISSING":
        return "only in the control"
    if is_unmeasured(control) or is_unmeasured(treatment):
        return "not measured in an arm, because of an outage"
    return "not evaluated in the control" if control.verdict in NOT_EVALUATED else ""


def _correct_scenarios(found: Sequence[_Paired]) -> list[dict[ScenarioKey, float]]:
    """The corrected p-values of the changed scenarios of each comparison, corrected over all of them together."""
    tested = [
        (number, key, change.p_value)
        for number, paired in enumerate(found)
        for key, change in paired.changes.items()
        if change.p_value is not None
    ]
    family = max(sum(paired.tested for paired in found), len(tested))
    corrected: list[dict[ScenarioKey, float]] = [{} for _ in found]
    for (number, key, _), p in zip(tested, correct_p_values([p for *_, p in tested], family, "holm"), strict=True):
        corrected[number][key] = p
    return corrected


_KINDS = {**dict.fromkeys(REGRESSIONS, BROKEN), **dict.fromkeys(IMPROVEMENTS, REPAIRED), "inconclusive": UNDECIDED}
_ORDER = (BROKEN, REPAIRED, UNDECIDED, NOT_COMPARABLE)


def _summarize(
    paired: _Paired,
    corrected: Mapping[ScenarioKey, float],
    counts: tuple[int, int],
    p_values: tuple[float, float],
) -> ArmComparison:
    rules, (worse, better) = paired.arms.rules, counts
    scenarios = _list_scenarios(paired, corrected)
    kinds = [each.kind for each in scenarios]
    needed = [each.recordings_needed for each in scenarios if each.recordings_needed is not None]
    found = ArmComparison(
        *(paired.arms.suite, *rules.arms, rules.require, rules.alpha),
        test="sign" if rules.pair_by == "scenario" else "McNemar",
        better=better,
        worse=worse,
        p_value=p_values[0],
        p_corrected=p_values[1],
        finding=NEITHER,
        same=len(paired.changes) + len(paired.left_out) - len(kinds),
        broken=kinds.count(BROKEN),
        repaired=kinds.count(REPAIRED),
        undecided=kinds.count(UNDECIDED),
        not_comparable=kinds.count(NOT_COMPARABLE),
        recordings_needed=sum(needed) if needed else None,
        ratios=compare_amounts([(one, paired.treatment[key]) for key, one in paired.control.items()]),
        differences=_list_differences(paired.arms),
        scenarios=scenarios,
    )
    finding = NOTHING_COMPARED if paired.is_empty else _find(found)
    return replace(found, finding=finding, scenarios=scenarios[:MOST_LISTED])


def _find(found: ArmComparison) -> str:
    if found.certainly_broken or (found.is_significant and found.worse > found.better):
        return REGRESSION
    return LIFT if found.is_significant and found.better > found.worse else NEITHER


def _list_scenarios(paired: _Paired, corrected: Mapping[ScenarioKey, float]) -> list[PairedScenario]:
    """The scenarios that are not the same, by kind, then in the order of the suite."""
    listed = [
        PairedScenario(
            *(key.id, key.variant, _KINDS[change.kind]),
            *(_explain(change, paired.control[key], paired.treatment[key]), change.p_value, corrected.get(key)),
            recordings_needed=_count_missing(change, paired.control[key], paired.treatment[key]),
            calls=_compare_calls(paired.arms, key),
        )
        for key, change in paired.changes.items()
        if change.kind in _KINDS
    ]
    listed += [PairedScenario(key.id, key.variant, NOT_COMPARABLE, why) for key, why in paired.left_out.items()]
    return sorted(listed, key=lambda each: _ORDER.index(each.kind))


def _explain(change: Change, control: ScenarioOutcome, treatment: ScenarioOutcome) -> str:
    """How many trials passed in each arm, or how verdict or score differ."""
    is_flip = (control.verdict == "PASS") != (treatment.verdict == "PASS")
    if is_flip and treatment.verdict not in NOT_EVALUATED:
        passed = (f"{sum(side.passed)} of {len(side.passed)}" for side in (control, treatment))
        return " -> ".join(passed)
    return change.reason.removesuffix(SINGLE_TRIAL_CAVEAT)


def _count_missing(change: Change, *sides: ScenarioOutcome) -> int | None:
    """The recordings of both arms that are missing for a decision; None if none would decide."""
    if change.trials_needed is None:
        return None
    return sum(max(0, change.trials_needed - len(side.passed)) for side in sides)


def _compare_calls(arms: Arms, key: ScenarioKey) -> ArmCalls | None:
    trials = [list_measured(side[key.id, key.variant].trials) for side in (arms.control, arms.treatment)]
    return compare_worst_calls(*trials) if all(trials) else None


def _list_differences(arms: Arms) -> list[str]:
    """What the traces of the treatment record of the agent that those of the control don't, such as other tools."""
    control, treatment = (
        [parts for scenario in side.values() for parts in list_agent_parts(scenario.trials)]
        for side in (arms.control, arms.treatment)
    )
    change = compare_agents(control, treatment, find_steady_prompts(control))
    known = MODEL + " -> ".join(arms.rules.arms)
    return [] if change is None else [each for each in change.items if each != known]
