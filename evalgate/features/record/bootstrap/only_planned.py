"""The trials that `--only` names: those of a suite that `confirm --plan` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import DecodeError, json

from evalgate.errors import Location, Problem, SettingError
from evalgate.features.record.application.plan import PlannedTrial, plan_trials
from evalgate.models.run.arms import MOST_BYTES, TrialPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.suite.models import Suite

HINT = "give the file that `evalgate confirm --plan` wrote"


def read_plan(path: str, cwd: str) -> TrialPlan:
    """Reads a plan; raises SettingError if it is missing, too large or no plan."""
    try:
        with Path(cwd, path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SettingError(Problem(error.strerror or "can't be read", Location(path), HINT)) from None
    if len(content) > MOST_BYTES:
        raise SettingError(Problem(f"larger than {MOST_BYTES:,} bytes", Location(path), HINT))
    try:
        return json.decode(content, type=TrialPlan)
    except (DecodeError, UnicodeDecodeError):
        raise SettingError(Problem("is no plan of trials", Location(path), HINT)) from None


def list_planned(suite: Suite, plan: TrialPlan) -> Iterator[PlannedTrial]:
    """The planned trials of a suite; raises SettingError for a scenario that the suite lacks."""
    for each in plan.scenarios:
        if each.suite != suite.name:
            continue
        found = [trial for trial in plan_trials(suite, each.id, each.trials) if trial.trial.variant == each.variant]
        if not found:
            raise SettingError(f"the suite has no scenario {each.id!r}, which the plan names")
        yield from found
