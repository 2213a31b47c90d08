"""What the gate makes of a run: the `policy` of a project or suite, parsed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from evalgate.models.decision import FailOn

Share = Annotated[float, Field(ge=0, le=1)]
FailOnList = Annotated[list[FailOn], Field(min_length=1)]


class Closed(BaseModel):
    """Base of all a suite file may say: unknown keys, loose types and non-finite numbers are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


class IncreaseLimit(Closed):
    """How much a scenario's mean may grow, relative to the baseline's (0.2 = a fifth)."""

    max_increase: Annotated[float, Field(ge=0)]


class RegressionPolicy(Closed):
    """When a difference from the baseline counts as a change.

    `threshold` is the least move of a score, `alpha` the largest p-value that counts as evidence where both
    sides have several trials. `require_evidence` makes single trials inconclusive.
    """

    threshold: Share = 0.05
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    require_evidence: bool = False
    correction: Literal["none"] = "none"
    cost: IncreaseLimit | None = None
    latency: IncreaseLimit | None = None
    tokens: IncreaseLimit | None = None


class Policy(Closed):
    """The policy of one suite, with what it does not say taken from the project and then the defaults."""

    fail_on: FailOnList = ["hard_fail"]
    regression: RegressionPolicy = RegressionPolicy()
    min_evaluated: Share = 0.0


def effective(entry: BaseModel, project: BaseModel, fail_on: list[FailOn] | None) -> Policy:
    """The policy of one suite.

    `fail_on` of a flag wins over the project, which wins over the suite; everything else the suite says wins
    over the project.
    """
    said, shared = entry.model_dump(exclude_unset=True), project.model_dump(exclude_unset=True)
    merged = {**shared, **said}
    merged["regression"] = {**(shared.get("regression") or {}), **(said.get("regression") or {})}
    merged["fail_on"] = fail_on or shared.get("fail_on") or said.get("fail_on") or ["hard_fail"]
    return Policy.model_validate({name: value for name, value in merged.items() if value is not None})
