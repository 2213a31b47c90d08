"""How often the gate is red by chance, by past runs: for the foot of a report, and for `validate --history`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.comparison.policies import policies_of
from evalgate.errors import Problem, RulesMissing
from evalgate.features.evidence.application.calibrate import calibrate, calibrate_pool
from evalgate.features.evidence.application.past_runs import Pool, PooledScenario, read_past_runs
from evalgate.features.evidence.reporting.calibration_text import advise
from evalgate.models.comparison.comparison import list_scenarios
from evalgate.models.history.stability import FEWEST_RUNS
from evalgate.models.run.run import StoredTrial
from evalgate.models.run.trials import list_measured
from evalgate.reporting.text.wording import rare_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.history.stability import TrialCounts
    from evalgate.models.results.results_sections import CalibrationDoc
    from evalgate.models.run.run import Run, Trial
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration
    from evalgate.suite.policy import Policies

MOST_SCENARIOS = 500
"""Scenarios up to which a run computes it: `evalgate calibrate` does for more."""


def calibrate_history(
    configuration: Configuration, policies: Policies, past: TrialCounts, run: Run
) -> CalibrationDoc | None:
    """The figures of the report; None if runs or trials are too few, or the policy judges scenarios together."""
    if past.runs < FEWEST_RUNS or len(past.scenarios) > MOST_SCENARIOS:
        return None
    now = {key: list_measured(each.trials) for key, each in list_scenarios(run.suites)}
    scenarios = [
        PooledScenario(each.key, each.passed, each.trials, _choose_examples(trials), str(each), len(trials))
        for each in past.scenarios
        if (trials := now.get(each.key))
    ]
    try:
        found = calibrate_pool(Pool(scenarios, past.runs, 0), configuration, policies, None)
    except RulesMissing:
        return None
    return {
        "share": round(found.alarms, 6),
        "low": round(found.low, 6),
        "high": round(found.high, 6),
        "noticed": round(found.noticed["1/2"], 6),
        "runs": found.runs,
        "scenarios": len(found.scenarios),
    }


def find_false_alarms(files: BaselineFiles, paths: Sequence[str], configuration: Configuration) -> list[Problem]:
    """Warnings if the gate is red by chance more often than the lowest `max_false_alarm` of its policies."""
    policies = policies_of(configuration, None).suites.values()
    limits = [each.max_false_alarm for each in policies if each.max_false_alarm is not None]
    if not limits:
        return [Problem("--history has no effect: no policy has `max_false_alarm`", None, "such as 0.05")]
    try:
        found = calibrate(read_past_runs(files, paths), configuration, None)
    except RulesMissing as error:
        return [Problem(f"whether `max_false_alarm` holds is not known: {error}")]
    if found.alarms <= min(limits):
        return []
    share, low, high = map(rare_percent, (found.alarms, found.low, found.high))
    problem = f"the gate is red on {share} of unchanged pull requests (95% {low} to {high})"
    allowed = f"`max_false_alarm` allows {rare_percent(min(limits))}"
    return [Problem(f"{problem}, {allowed}", None, advise(found) or "record more trials")]


def _choose_examples(trials: Sequence[Trial]) -> list[Trial]:
    """A trial that passed and one that did not, as far as there are."""
    passed = next((each for each in trials if each.status == "passed"), None)
    other = next((each for each in trials if each.status != "passed"), None)
    found = [each for each in (passed, other) if each is not None]
    return [each.whole if isinstance(each, StoredTrial) else each for each in found]
