"""Checks that redaction does not make two scenario ids equal in reports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.errors import Problem, SuiteError
from evalgate.gate.common.scenario_index import find_baseline_key
from evalgate.measures.redaction.redact import get_project_secrets
from evalgate.models.comparison.comparison import ScenarioKey

if TYPE_CHECKING:
    from evalgate.models.run.run import Run

HINT = "they can't be compared separately; give them ids that `redact` does not change"


def require_distinct_redacted_ids(run: Run) -> None:
    """Raises SuiteError if a project's `redact` makes the ids of two scenarios of a suite equal."""
    if get_project_secrets() is None:
        return
    counts = Counter(
        find_baseline_key(ScenarioKey(suite.name, each.id, each.variant), ())
        for suite in run.suites
        for each in suite.scenarios
    )
    same = [
        Problem(f"{count:,} scenarios have the id `{key.id}` after redaction", None, HINT)
        for key, count in counts.items()
        if count > 1
    ]
    if same:
        raise SuiteError(*same)
