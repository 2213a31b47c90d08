"""Applies quarantine to a run: checks its dates, marks its scenarios and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import SuiteError
from evalgate.models.comparison.comparison import ScenarioKey

if TYPE_CHECKING:
    from datetime import date

    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.comparison.quarantine import QuarantineRuling
    from evalgate.models.run.run import Run
    from evalgate.suite.models import Configuration


def check_quarantine(configuration: Configuration, today: date) -> None:
    """Raises SuiteError for every quarantine that lasts too long."""
    written = [each for suite in configuration.suites for each in suite.quarantine]
    if not written:
        return
    from evalgate.gate.common.quarantine import too_long

    problems = list(too_long(written, today))
    if problems:
        raise SuiteError(*problems)


def apply_quarantine(
    run: Run, comparison: Comparison | None, configuration: Configuration, today: date
) -> list[QuarantineRuling]:
    """The ruling on every quarantine; marks quarantined scenarios and their changes."""
    written = {suite.name: suite.quarantine for suite in configuration.suites if suite.quarantine}
    if not written:
        return []
    from evalgate.gate.common import quarantine

    rulings = [
        ruling
        for suite in run.suites
        if suite.name in written
        for ruling in quarantine.apply_quarantines(suite, written[suite.name], today)
    ]
    flag_changes(run, comparison)
    return rulings


def flag_changes(run: Run, comparison: Comparison | None) -> None:
    """Flags the changes of scenarios in quarantine."""
    for suite in run.suites if comparison is not None else ():
        for scenario in suite.scenarios:
            key = ScenarioKey(suite.name, scenario.id, scenario.variant)
            change = comparison.changes.get(key) if comparison is not None and scenario.quarantined else None
            if change is not None:
                change.flags.append("quarantined")
