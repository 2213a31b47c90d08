"""Two arms: the same scenarios run in two ways, such as with two models: their comparison, trials to add, and those."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003  the schema is made of these types
from typing import Annotated, Literal

from msgspec import Meta, Struct

from evalgate.models.run.bounds import Amount, CallNames, Count, Id, Name, Sum, Word  # noqa: TC001  the same

SAME, BROKEN, REPAIRED, UNDECIDED, NOT_COMPARABLE = "same", "broken", "repaired", "undecided", "not_comparable"
"""Kinds of scenarios: `undecided` have too few trials, of `not_comparable` an arm has no verdict."""
REGRESSION, LIFT, NEITHER, NOTHING_COMPARED = "regression", "lift", "neither", "nothing_compared"
"""What a comparison finds."""


class ArmCalls(Struct, frozen=True):
    """Names of tool calls, in order, of the worst trial of the treatment, and of its counterpart in the control."""

    control_trial: int
    control: CallNames
    treatment_trial: int
    treatment: CallNames


class PairedScenario(Struct, frozen=True):
    """A scenario that is not the same in both arms.

    `p_corrected` is its p-value after Holm's correction over all tests of the suite's comparisons; both are null
    without a test. `recordings_needed` would decide an undecided one; null if that takes more than 64 trials in an arm.
    """

    id: Name
    variant: Name | None
    kind: Word
    reason: str
    p_value: float | None = None
    p_corrected: float | None = None
    recordings_needed: Count | None = None
    calls: ArmCalls | None = None


class AmountRatio(Struct, frozen=True):
    """The treatment's total of cost, tokens or latency divided by the control's, with its 95 % interval.

    Totals are of the means of `scenarios` whose trials record the amount in both arms; `control` and `treatment` are
    that of one trial, in USD, tokens or seconds.
    """

    name: Word
    ratio: float
    low: float
    high: float
    scenarios: Count
    control: Amount | None = None
    treatment: Amount | None = None


class ArmComparison(Struct, frozen=True):
    """Two arms of one suite compared, scenario by scenario.

    `p_value` is that of the exact test of "nothing changed", over scenarios (`sign`) or pairs of trials (`McNemar`), of
    which `better` were better and `worse` worse in the treatment; `p_corrected` is it after Holm's correction over the
    suite's comparisons. `scenarios` has those that are not the same, `differences` what the traces record of the agents
    that differs besides the variant's name. `finding` is regression, lift, neither or nothing_compared.
    """

    suite: Name
    control: Name
    treatment: Name
    require: Word
    alpha: float
    test: Word
    better: Count
    worse: Count
    p_value: float
    p_corrected: float
    finding: Word
    same: Count
    broken: Count
    repaired: Count
    undecided: Count
    not_comparable: Count
    recordings_needed: Count | None
    ratios: Sequence[AmountRatio]
    differences: Sequence[str]
    scenarios: Sequence[PairedScenario]

    @property
    def certainly_broken(self) -> list[PairedScenario]:
        """The broken scenarios whose corrected p-value is at most alpha."""
        found = (each for each in self.scenarios if each.kind == BROKEN and each.p_corrected is not None)
        return [each for each in found if each.p_corrected is not None and each.p_corrected <= self.alpha]

    @property
    def is_significant(self) -> bool:
        """Whether the test over all scenarios rejects that nothing changed."""
        return self.p_corrected <= self.alpha


MOST_SCENARIOS, MOST_TRIALS = 20, 5
MOST_BYTES = 1_000_000
"""Size of a plan's file that is read."""


class PlannedScenario(Struct, forbid_unknown_fields=True):
    """A scenario, and the numbers of the trials to add on either side."""

    suite: Name
    id: Id
    variant: Id | None
    trials: Annotated[list[Count], Meta(min_length=1, max_length=MOST_TRIALS)]


class TrialPlan(Struct, forbid_unknown_fields=True, rename={"format": "schema"}):
    """The scenarios to record again. `recordings` counts both sides; `usd` follows from the mean cost so far."""

    scenarios: Annotated[list[PlannedScenario], Meta(max_length=MOST_SCENARIOS)]
    recordings: Count
    usd: float | None
    format: Literal["evalgate.misses/1"] = "evalgate.misses/1"


FLAKY_RECOVERY, BASE_WAS_LUCKY = "flaky_recovery", "base_was_lucky"
"""What all trials show: it passes often enough; the base fails too. Else REGRESSION, if the change is one with all of
them too, or UNDECIDED, so that the first run's reasons stand."""
CLEARED = frozenset({FLAKY_RECOVERY, BASE_WAS_LUCKY})


class AddedTrials(Struct, frozen=True):
    """How many trials passed on a side, at first and of those added."""

    passed: Count
    trials: Count
    more_passed: Count
    more_trials: Count

    def describe(self) -> str:
        """Both counts, as `1 of 1, then 3 of 5`."""
        return f"{self.passed} of {self.trials}, then {self.more_passed} of {self.more_trials}"


class ConfirmedScenario(Struct, frozen=True):
    """What all trials of a scenario show; `change` is the comparison's sentence."""

    suite: Name
    id: Name
    variant: Name | None
    finding: Word
    base: AddedTrials
    head: AddedTrials
    change: str


class Confirmation(Struct, frozen=True):
    """What was recorded again on both sides, and shows; `usd` is what these recordings cost, null if unknown."""

    scenarios: Annotated[list[ConfirmedScenario], Meta(max_length=MOST_SCENARIOS)]
    recordings: Count
    usd: Sum | None
