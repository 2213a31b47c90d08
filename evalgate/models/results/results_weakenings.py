"""Weakenings of the gate since the baseline, and causes of changes, in `results.json`."""

from __future__ import annotations

from typing import TypedDict

from evalgate.models.results.results_location import LocationDoc  # noqa: TC001  the schema is made of these types


class WeakeningDoc(TypedDict):
    """One demand that was weakened; see models.comparison.weakening for its kinds.

    `suite` is null for the project, `scenario` for a whole suite or if `scenarios` of them share the demand.
    `before` and `after` are the former and the present demand, in short. `gates` is true if it fails the
    gate; `message` is all of it in words, without the location.
    """

    kind: str
    suite: str | None
    scenario: str | None
    variant: str | None
    assertion: str | None
    before: str | None
    after: str | None
    location: LocationDoc | None
    scenarios: int
    gates: bool
    message: str


class CauseDoc(TypedDict):
    """Whether the agent or the rules caused a change; see models.comparison.cause for the kinds.

    The two verdicts are those of the run's traces by the baseline's rules, and of the baseline's traces by
    the run's rules; null if unknown.
    """

    kind: str
    message: str
    now_by_old_rules: str | None
    before_by_new_rules: str | None
