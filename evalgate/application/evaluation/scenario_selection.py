"""The scenarios that a person names: one by its id, or those of `--scenario`, a part of the run and its baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.errors import Problem, SettingError
from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.ids import find_ids, list_ids, suggest_id
from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.results.results import SelectionDoc
    from evalgate.models.run.run import Run

MAX_SHOWN = 100


def is_selected(patterns: Sequence[str], scenario_id: str, variant: str | None) -> bool:
    """Whether a scenario is selected, by its id or by `id[variant]`; without patterns every scenario is.

    >>> is_selected(["refund*"], "refund-late", None), is_selected(["refund[flat]"], "refund", "deep")
    (True, False)
    """
    names = _spell(scenario_id, variant)
    return not patterns or any(matches_id(pattern, name) for pattern in patterns for name in names)


def may_be_selected(patterns: Sequence[str], scenario_id: str, variant: str | None) -> bool:
    """Whether a scenario is selected, or is if no other id begins like a pattern: `resolve_patterns` decides."""
    names = _spell(scenario_id, variant)
    return is_selected(patterns, scenario_id, variant) or any(find_ids(pattern, names) for pattern in patterns)


def resolve_patterns(run: Run, patterns: Sequence[str]) -> list[str]:
    """The patterns, those that match nothing as the one id that begins so.

    Raises SettingError if a pattern matches no scenario, as nothing would be judged by it, or begins several ids.
    """
    keys = [(each.id, each.variant) for suite in run.suites for each in suite.scenarios]
    ids = {name for name, _ in keys}
    names = {name for key in keys for name in _spell(*key)}
    return [
        each
        if any(matches_id(each, name) for name in names)
        else choose_id(each, ids, f"no scenario matches --scenario {shorten(each, MAX_SHOWN)}", names)
        for each in patterns
    ]


def choose_id(given: str, known: Iterable[str], message: str, names: Iterable[str] = ()) -> str:
    """The one known id that is meant, else the one of `names`, longer forms of the ids; `message` is for none.

    Raises SettingError if no id begins so, with the nearest one, or if several do.
    """
    ids, longer = set(known), set(names)
    found = find_ids(given, ids) or find_ids(redact(given), ids) or find_ids(given, longer)
    if len(found) == 1:
        return found[0]
    if found:
        raise SettingError(Problem(message, None, f"{len(found):,} begin so: {list_ids(found)}"))
    raise SettingError(Problem(message, None, suggest_id(given, longer or ids)))


def _spell(scenario_id: str, variant: str | None) -> list[str]:
    """The names of a scenario that a person may write."""
    return [scenario_id, *((f"{scenario_id}[{variant}]", f"{scenario_id} [{variant}]") if variant else ())]


def narrow_run(run: Run, patterns: Sequence[str]) -> SelectionDoc | None:
    """Leaves only the selected scenarios in a run, and counts how many of how many; None without patterns."""
    if not patterns:
        return None
    total = sum(len(suite.scenarios) for suite in run.suites)
    for suite in run.suites:
        suite.scenarios = [each for each in suite.scenarios if is_selected(patterns, each.id, each.variant)]
        suite.skipped = 0
    run.suites = [suite for suite in run.suites if suite.scenarios]
    run.unclaimed = []
    return {
        "patterns": [shorten(pattern, MAX_SHOWN) for pattern in patterns],
        "judged": sum(len(suite.scenarios) for suite in run.suites),
        "of": total,
    }


def narrow_baseline(baseline: BaselineRun, patterns: Sequence[str]) -> BaselineRun:
    """Leaves only the selected scenarios in a baseline; its totals are unknown then."""
    if not patterns:
        return baseline
    entries = {key: each for key, each in baseline.entries.items() if is_selected(patterns, each.id, each.variant)}
    return replace(baseline, entries=entries, summary=None)
