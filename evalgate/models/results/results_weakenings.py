"""What a gate demands less than its baseline's, and where changes come from, in `results.json`."""

from __future__ import annotations

from typing import TypedDict

from evalgate.models.results.results_location import LocationDoc  # noqa: TC001  the schema is made of these types


class WeakeningDoc(TypedDict):
    """One demand that was weakened; see models.comparison.weakening for its kinds.

    `suite` is null for the project, `scenario` for a whole suite or where `scenarios` of them share the
    demand. `before` and `after` are what was and is demanded, in short. `gates` says whether it fails the
    gate; `message` is all of it in words, but for the place.
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
    """Whether a change comes from the agent or the rules; see models.comparison.cause for the kinds.

    The two verdicts are those of the run's recordings by the baseline's rules, and of the baseline's by those
    of the run; null where they can't be told.
    """

    kind: str
    message: str
    now_by_old_rules: str | None
    before_by_new_rules: str | None
