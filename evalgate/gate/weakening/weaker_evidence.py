"""Finds where less is judged than in the baseline.

Suites may read traces in another way; scenarios and trials may be missing.
"""

from __future__ import annotations

import posixpath
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.errors import Location
from evalgate.gate.common.scenarios import ScenarioIndex
from evalgate.measures.values.json_values import show
from evalgate.models.comparison.comparison import NOT_MEASURED, ScenarioKey
from evalgate.models.comparison.weakening import Weakening
from evalgate.suite.models import FilteredForm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.measures.jmespath.query import Query
    from evalgate.measures.prices import Rates
    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.comparison.weakening import WeakeningKind
    from evalgate.suite.models import Configuration, CustomMapping, Form, Ignored, Suite

    Entry = tuple[str, Any, Any]

MAX_SHOWN = 120
CUSTOM = "custom"


class Reading(NamedTuple):
    """Which files of a suite are read, by globs from a folder, and in which format."""

    globs: Sequence[str]
    folder: str
    form: Form


class ReadingChange(NamedTuple):
    """One part of a suite's reading that changed, before and after.

    With `needs_files` the run's files have to be read again to know what it does; else its traces are enough.
    """

    kind: WeakeningKind
    before: str | None
    after: str | None
    needs_files: bool = False


def find_reading_changes(old: Suite, new: Suite, readings: tuple[Reading, Reading]) -> Iterator[ReadingChange]:
    """What changed in the way traces are found, read, priced and assigned; `readings` are of both sides."""
    globs = [
        sorted({posixpath.normpath(posixpath.join(each.folder, glob)) for glob in each.globs}) for each in readings
    ]
    if globs[0] != globs[1]:
        texts = [f"traces: {show(each, MAX_SHOWN)}" for each in globs]
        yield ReadingChange("traces_changed", texts[0], texts[1], needs_files=True)
    forms = [_divide(each.form) for each in readings]
    yield from _find_format_change(forms[0][0], forms[1][0])
    if forms[0][1] != forms[1][1]:
        texts = [f"reading: {show(each, MAX_SHOWN) if each else 'none'}" for _, each in forms]
        yield ReadingChange("reading_changed", texts[0], texts[1], needs_files=True)
    expressions = [each.scenario_from and each.scenario_from.expression for each in (old, new)]
    if expressions[0] != expressions[1]:
        texts = [f"scenario_from: {each or 'none'}" for each in expressions]
        yield ReadingChange("reading_changed", texts[0], texts[1])
    yield from _find_match_change(old, new)
    yield from _find_price_change(old.prices.entries, new.prices.entries)


def _divide(form: Form) -> tuple[str | CustomMapping, dict[str, Any]]:
    """A format, and what is left out of what is read in it."""
    if isinstance(form, FilteredForm):
        return form.form, _list_ignored(form.ignored)
    return form, {}


def _list_ignored(ignored: Ignored) -> dict[str, Any]:
    return {"ignore": sorted(set(ignored.paths)), "even_calls": ignored.even_calls} if ignored.paths else {}


def _find_format_change(before: str | CustomMapping, after: str | CustomMapping) -> Iterator[ReadingChange]:
    if isinstance(before, str) or isinstance(after, str):
        names = [each if isinstance(each, str) else CUSTOM for each in (before, after)]
        if names[0] != names[1]:
            yield ReadingChange("reading_changed", f"format: {names[0]}", f"format: {names[1]}", needs_files=True)
        return
    old, new = _list_expressions(before), _list_expressions(after)
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    if changed:
        name, more = changed[0], f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
        texts = [f"custom.{name}: {each.get(name, 'none')}" for each in (old, new)]
        yield ReadingChange("reading_changed", texts[0], texts[1] + more, needs_files=True)


def _list_expressions(custom: CustomMapping) -> dict[str, str]:
    """The expressions of a custom format by their place, and the words that it maps."""
    entries = custom.entries
    found: dict[str, Query | None] = {
        "run_id": custom.run_id,
        "records": custom.records,
        "items": None if entries is None else entries.items,
        "type_field": None if entries is None else entries.type_field,
        **{f"join.{name}": query for name, query in custom.join.items()},
        **custom.run,
        **{f"message.{name}": query for name, query in custom.message.items()},
        "tool_calls.path": custom.calls,
        **{f"tool_calls.{name}": query for name, query in custom.call.items()},
    }
    words: dict[str, str] = {f"roles.{name}": role for name, role in custom.roles.items()}
    words |= {f"types.{name}": kind for name, kind in (entries.types.items() if entries else ())}
    if entries is not None and not entries.has_calls:
        found["message.tool_calls"] = None
    expressions = {name: query.expression for name, query in found.items() if query is not None}
    ignored = {name: show(each, MAX_SHOWN) for name, each in _list_ignored(custom.ignored).items()}
    return {"lines": "run" if custom.joins_lines else "trace", **expressions, **words, **ignored}


def _find_match_change(old: Suite, new: Suite) -> Iterator[ReadingChange]:
    """A change in which traces a scenario selects.

    A scenario that selects only its own id can't take a trace from another that selects only its own; adding or
    removing such a scenario beside those is no change here.
    """
    variants = [_list_variants(suite.content) or None for suite in (old, new)]
    if variants[0] != variants[1]:
        yield _build_match_change("variants", *variants)
    entries = [_list_entries(suite) for suite in (old, new)]
    if all(map(_is_plain, entries[0])):
        entries = [[entry for entry in side if not _is_plain(entry)] for side in entries]
    else:
        entries = [
            sorted(side, key=lambda entry: (_is_plain(entry), _is_plain(entry) and entry[0])) for side in entries
        ]
    differing = next((before or after for before, after in zip_longest(*entries) if before != after), None)
    if differing is not None:
        sides = [next((each for each in _list_entries(suite) if each[0] == differing[0]), None) for suite in (old, new)]
        yield _build_match_change("match", *(each and _show_entry(each) for each in sides))


def _build_match_change(name: str, before: Any, after: Any) -> ReadingChange:
    texts = [None if each is None else f"{name}: {show(each, MAX_SHOWN)}" for each in (before, after)]
    return ReadingChange("reading_changed", texts[0], texts[1])


def _list_variants(written: Mapping[str, Any]) -> dict[str, Any] | None:
    """Which traces belong to each variant of a suite or scenario; None if it does not list them."""
    variants = written.get("variants")
    return None if variants is None else {name: (each or {}).get("match") for name, each in variants.items()}


def _list_entries(suite: Suite) -> list[Entry]:
    """Which traces the scenarios and goldens of a suite select, as written, in order."""
    entries = [*(suite.content.get("scenarios") or ()), *(suite.content.get("goldens") or ())]
    return [(str(each.get("id")), each.get("match") or None, _list_variants(each)) for each in entries]


def _show_entry(entry: Entry) -> dict[str, Any]:
    id_, match, variants = entry
    shown = {"match": match, "variants": variants}
    return {"id": id_, **{name: value for name, value in shown.items() if value is not None}}


def _is_plain(entry: Entry) -> bool:
    """Whether a scenario selects exactly its own id."""
    id_, match, variants = entry
    return match is None and variants is None and "*" not in id_


def _find_price_change(
    old: Sequence[tuple[str, Rates | None]], new: Sequence[tuple[str, Rates | None]]
) -> Iterator[ReadingChange]:
    """A change of prices, unless the same models cost the same or more."""
    if [name for name, _ in old] == [name for name, _ in new] and all(
        _is_covered(before, after) for (_, before), (_, after) in zip(old, new, strict=True)
    ):
        return
    before, after = next(pair for pair in zip_longest(old, new) if pair[0] != pair[1])
    yield ReadingChange("price_lowered", _show_price(before), _show_price(after), needs_files=True)


def _is_covered(before: Rates | None, after: Rates | None) -> bool:
    """Whether a price is at least as high as before; one that becomes known may be too low."""
    if before is None or after is None:
        return before is after
    return all(new >= old for old, new in zip(before, after, strict=True))


def _show_price(entry: tuple[str, Rates | None] | None) -> str | None:
    if entry is None:
        return None
    model, rates = entry
    shown = None if rates is None else {name: rate for name, rate in rates._asdict().items() if _is_own(name, rates)}
    return f"prices: {show({model: shown}, MAX_SHOWN)}"


def _is_own(name: str, rates: Rates) -> bool:
    """Whether a price has to be shown: cached tokens often cost as much as others."""
    return not name.startswith("cache") or getattr(rates, name) != rates.input


def find_removed_scenarios(
    removed_keys: Iterable[ScenarioKey],
    baseline: Configuration | None,
    current: Configuration,
    counts: Mapping[str, int],
) -> list[Weakening]:
    """Weakenings for scenarios that the baseline judged, or its suites name, and that no suite judges now.

    `removed_keys` are those of its results; a removed suite is one weakening. `counts` is how many scenarios
    of each suite the baseline judged.
    """
    current_suites = {suite.name: suite for suite in current.suites}
    keys = dict.fromkeys(removed_keys)
    for suite in baseline.suites if baseline is not None else ():
        if suite.name in current_suites:
            keys |= dict.fromkeys(_find_unnamed_keys(suite, ScenarioIndex(current_suites[suite.name])))
        else:
            keys |= {ScenarioKey(suite.name, "", None): None}
    paths = {suite.name: suite.path for suite in (*current.suites, *(baseline.suites if baseline is not None else ()))}
    found: list[Weakening] = []
    for name in dict.fromkeys(key.suite for key in keys):
        location = Location(paths[name]) if name in paths else None
        if name not in current_suites:
            count = counts.get(name, 0)
            count_text = f"{count} scenario{'' if count == 1 else 's'}"
            found.append(Weakening("suite_removed", name, baseline=count_text, location=location, scenarios=count))
            continue
        found += [
            Weakening("scenario_removed", key.suite, key.id, key.variant, location=location)
            for key in keys
            if key.suite == name
        ]
    return found


def _find_unnamed_keys(suite: Suite, current: ScenarioIndex) -> Iterator[ScenarioKey]:
    """Keys of scenarios that a suite names one by one and that belong to no current entry."""
    for scenario in suite.scenarios:
        variant = scenario.variant.name if scenario.variant else None
        if not scenario.is_glob and variant not in current.find_scenarios(scenario.id):
            yield ScenarioKey(suite.name, scenario.id, variant)


TrialCounts = tuple[str, int, int]
"""A suite, the number of a scenario's trials in the baseline, and in this run."""


def find_missing_trials(comparison: Comparison) -> Sequence[Weakening]:
    """Weakenings for scenarios with fewer trials than in the baseline; equal ones of a suite are merged.

    A scenario without any trial is left out: its verdict MISSING covers that.
    """
    found: dict[TrialCounts, list[ScenarioKey]] = {}
    for key, (baseline_count, current_count) in comparison.trial_counts.items():
        if 0 < current_count < baseline_count:
            found.setdefault((key.suite, baseline_count, current_count), []).append(key)
    return [_build_weakening(counts, keys) for counts, keys in found.items()]


def find_unmeasured_scenarios(comparison: Comparison) -> Sequence[Weakening]:
    """Weakenings for scenarios that the baseline measured and an outage left unmeasured now; one for each suite."""
    found: dict[str, list[ScenarioKey]] = {}
    for key, baseline in comparison.baseline_outcomes.items():
        if baseline.trials and comparison.changes[key].reason == NOT_MEASURED:
            found.setdefault(key.suite, []).append(key)
    return [_name_only_scenario(Weakening("not_measured", suite), keys) for suite, keys in found.items()]


def _build_weakening(counts: TrialCounts, keys: Sequence[ScenarioKey]) -> Weakening:
    suite, baseline_count, current_count = counts
    weakening = Weakening(
        "trials_missing", suite, baseline=f"trials: {baseline_count}", current=f"trials: {current_count}"
    )
    return _name_only_scenario(weakening, keys)


def _name_only_scenario(weakening: Weakening, keys: Sequence[ScenarioKey]) -> Weakening:
    """The weakening of some scenarios, with the name of the only one."""
    if len(keys) > 1:
        return weakening._replace(scenarios=len(keys))
    return weakening._replace(scenario=keys[0].id, variant=keys[0].variant)
