"""The trials to record again of scenarios that got worse, on both sides: what `confirm --plan` writes for `record`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from evalgate.models.run.bounds import Count, Id, Name  # noqa: TC001  needed for decoding

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
