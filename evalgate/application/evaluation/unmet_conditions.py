"""Warns of conditions (`when`) that held in no trace of a suite, so that the checks below them judged nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.values.json_values import mark_name
from evalgate.models.run.run import WHEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.errors import Location
    from evalgate.models.run.run import TrialResult
    from evalgate.models.trace.trace import Warning_

MOST = 20


class UnmetConditions:
    """The conditions of a suite by their places in its files, each with the name of its check.

    Those of `_unmet` did not hold in a trial that passed all the same.
    """

    def __init__(self) -> None:
        self._unmet: dict[Location, str] = {}
        self._met: set[Location] = set()

    def add(self, trial: TrialResult) -> None:
        """Adds the results of a trial."""
        for row in trial.assertions:
            if row.type == WHEN and row.location is not None:
                if row.outcome != "skipped":
                    self._met.add(row.location)
                elif trial.status == "passed":  # a trial that fails has its own reasons
                    name = WHEN if row.name.startswith(f"{WHEN} ") else row.name  # so that reports count equal ones
                    self._unmet.setdefault(row.location, name)

    def list_warnings(self, suite: str) -> Iterator[Warning_]:
        """One warning for each condition that was asked and never held; those beyond the first 20 are left out."""
        unmet = [each for each in self._unmet if each not in self._met]
        for place in unmet[:MOST]:
            message = (
                f"suite {mark_name(suite)}: the condition of {mark_name(self._unmet[place])} held in no trace, so that"
                " the check below it judged nothing"
            )
            yield {"code": "unmet_condition", "message": message, "where": f"{place.file}:{place.line}"}
