"""The scenarios that `--scenario` selects: a part of the run, compared with the same part of the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.measures.text.globs import matches_id
from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.results.results import SelectionDoc
    from evalgate.models.run.run import Run

MAX_SHOWN = 100


def is_selected(patterns: Sequence[str], scenario_id: str, variant: str | None) -> bool:
    """Whether a scenario is selected, by its id or by `id[variant]`; without patterns every scenario is.

    >>> is_selected(["refund*"], "refund-late", None), is_selected(["refund[flat]"], "refund", "deep")
    (True, False)
    """
    names = [scenario_id, *((f"{scenario_id}[{variant}]", f"{scenario_id} [{variant}]") if variant else ())]
    return not patterns or any(matches_id(pattern, name) for pattern in patterns for name in names)


def narrow_run(run: Run, patterns: Sequence[str]) -> SelectionDoc | None:
    """Leaves only the selected scenarios in a run, and says how many of how many; None without patterns.

    Raises SettingError if a pattern matches no scenario: nothing would be judged by it.
    """
    if not patterns:
        return None
    ids = [(each.id, each.variant) for suite in run.suites for each in suite.scenarios]
    for pattern in patterns:
        if not any(is_selected([pattern], *each) for each in ids):
            names = {name for name, _ in ids} | {f"{name}[{variant}]" for name, variant in ids if variant}
            message = f"no scenario matches --scenario {shorten(pattern, MAX_SHOWN)}"
            raise SettingError(Problem(message, None, suggest(pattern[:MAX_SHOWN], names)))
    for suite in run.suites:
        suite.scenarios = [each for each in suite.scenarios if is_selected(patterns, each.id, each.variant)]
        suite.skipped = 0
    run.suites = [suite for suite in run.suites if suite.scenarios]
    run.unclaimed = []
    return {
        "patterns": [shorten(pattern, MAX_SHOWN) for pattern in patterns],
        "judged": sum(len(suite.scenarios) for suite in run.suites),
        "of": len(ids),
    }


def narrow_baseline(baseline: BaselineRun, patterns: Sequence[str]) -> BaselineRun:
    """Leaves only the selected scenarios in a baseline; its totals are unknown then."""
    if not patterns:
        return baseline
    entries = {key: each for key, each in baseline.entries.items() if is_selected(patterns, each.id, each.variant)}
    return replace(baseline, entries=entries, summary=None)
