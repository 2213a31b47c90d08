"""Models of the `policy` of a project or suite, and their merging into an effective policy."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from msgspec import Struct
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from evalgate.evaluators.core.evaluator import wrap_in_list
from evalgate.models.comparison.decision import FailOn
from evalgate.models.comparison.weakening import OnWeakening
from evalgate.strict_model import StrictModel

OnDuplicates = Literal["warn", "fail"]
OnEmptyGlobs = Literal["warn", "fail"]
Share = Annotated[float, Field(ge=0, le=1)]
_Glob = Annotated[str, Field(min_length=1)]
FailOnList = Annotated[list[FailOn], Field(min_length=1)]
SPAN = r"^[1-9][0-9]{0,3}[hdw]$"
"""A time span in hours, days or weeks."""
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


class IncreaseLimit(StrictModel):
    """How much a scenario's mean may grow, relative to the baseline's (0.2 = a fifth)."""

    max_increase: Annotated[float, Field(ge=0)]


class RegressionPolicy(StrictModel):
    """When a difference from the baseline counts as a change.

    `threshold` is the smallest move of a score, `alpha` the largest p-value that counts as evidence if both
    sides have several trials. `require_evidence` makes single trials inconclusive. `correction` limits the
    false alarms of many scenarios to alpha together; `pair_by` pairs trials that have the same number.
    """

    threshold: Share = 0.05
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    require_evidence: bool = False
    correction: Literal["none", "holm", "bh"] = "none"
    pair_by: Literal["trial"] | None = None
    cost: IncreaseLimit | None = None
    latency: IncreaseLimit | None = None
    tokens: IncreaseLimit | None = None


def parse_span(text: str) -> timedelta:
    """The time span of a text that matches SPAN."""
    return int(text[:-1]) * _UNITS[text[-1]]


class FreshnessPolicy(StrictModel):
    """Which traces are evidence of what is judged.

    `require: head` demands traces of the commit that is judged, `watch` traces made by the matching files
    (globs from the working directory) as they are now, `max_age` traces of the last hours (`12h`), days (`7d`)
    or weeks (`2w`). `one_recording` demands that all trials of a scenario are of one recording.
    """

    require: Literal["head", "any"] = "any"
    watch: Annotated[list[_Glob], BeforeValidator(wrap_in_list, json_schema_input_type=_Glob | list[_Glob])] = Field(
        default_factory=list, max_length=100
    )
    max_age: Annotated[str, Field(pattern=SPAN)] | None = None
    one_recording: bool = False

    @property
    def longest_age(self) -> timedelta:
        """`max_age` as a time span, unlimited if it is not given."""
        return timedelta.max if self.max_age is None else parse_span(self.max_age)


class ValidityPolicy(StrictModel):
    """How much of a run must be measured for a verdict.

    More than the share `max_not_measured` of the run's trials lost to outages end it without one.
    """

    max_not_measured: Share = 0.3


_ArmName = Annotated[str, Field(min_length=1, max_length=100)]


class VariantComparison(StrictModel):
    """Which variant is compared with which, and what is required of the `treatment`.

    `no_regression` allows no evidence that it is worse than the `control`, `lift` requires evidence that it is better.
    `pair_by` says what is counted: scenarios, or pairs of trials with the same number. `alpha` is the largest p-value
    that is evidence.
    """

    control: _ArmName
    treatment: _ArmName
    require: Literal["no_regression", "lift"] = "no_regression"
    pair_by: Literal["trial", "scenario"] = "scenario"
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05

    @model_validator(mode="after")
    def _has_two_arms(self) -> Self:
        if self.control == self.treatment:
            raise ValueError("`control` and `treatment` are the same variant")
        return self

    @property
    def arms(self) -> tuple[str, str]:
        """Control and treatment."""
        return self.control, self.treatment


def _refuse_repeated(found: list[VariantComparison]) -> list[VariantComparison]:
    if len({each.arms for each in found}) < len(found):
        raise ValueError("two entries compare the same variants")
    return found


def _wrap_mapping(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


VariantComparisons = Annotated[
    list[VariantComparison],
    AfterValidator(_refuse_repeated),
    BeforeValidator(_wrap_mapping, json_schema_input_type=VariantComparison | list[VariantComparison]),
    Field(max_length=50),
]


class Policy(StrictModel):
    """The policy of one suite; keys it does not give come from the project, then from the defaults.

    More critical issues in its goldens than `critical_issue_threshold` are a hard fail. With `duplicates: fail`
    a scenario with traces that are alike is an ERROR, with `empty_globs: fail` a suite with a glob of `traces`
    that matches no file can't be judged. `max_false_alarm` judges nothing: `validate --history` warns of a gate that is
    red by chance in a larger share of pull requests.
    """

    fail_on: FailOnList = ["hard_fail"]  # noqa: RUF012  (each policy gets a copy)
    regression: RegressionPolicy = RegressionPolicy.from_defaults()
    min_evaluated: Share = 0.0
    validity: ValidityPolicy = ValidityPolicy.from_defaults()
    freshness: FreshnessPolicy | None = None
    compare_variants: VariantComparisons = Field(default_factory=list)
    on_weakening: OnWeakening = "warn"
    critical_issue_threshold: Annotated[int, Field(ge=0)] = 0
    max_false_alarm: Share | None = None
    duplicates: OnDuplicates = "warn"
    empty_globs: OnEmptyGlobs = "warn"


class Policies(Struct, frozen=True):
    """The policy of each suite by name, and the policy of the whole run."""

    suites: dict[str, Policy]
    run: Policy

    def of(self, suite: str) -> Policy:
        """The policy of a suite: the run's, if it has none of its own."""
        return self.suites.get(suite, self.run)


def build_effective_policy(entry: StrictModel, project: StrictModel, fail_on: list[FailOn] | None) -> Policy:
    """The policy of one suite.

    `fail_on` of a flag wins over the project's, which wins over the suite's; any other key of the suite wins
    over the project's.
    """
    suite_fields, project_fields = (entry.model_dump(exclude_unset=True), project.model_dump(exclude_unset=True))
    merged = {**project_fields, **suite_fields}
    for part in ("regression", "validity", "freshness"):
        if project_fields.get(part) or suite_fields.get(part):
            merged[part] = {**(project_fields.get(part) or {}), **(suite_fields.get(part) or {})}
    merged["fail_on"] = fail_on or project_fields.get("fail_on") or suite_fields.get("fail_on") or ["hard_fail"]
    return Policy.model_validate({name: value for name, value in merged.items() if value is not None})
