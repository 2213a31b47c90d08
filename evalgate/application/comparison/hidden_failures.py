"""Finds what fails by the baseline's rules or reading and not by today's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.comparison.cross_scoring import compare_readings
from evalgate.application.comparison.policies import refuse_duplicates
from evalgate.application.comparison.price_comparison import (
    compare_costs_alike,
    drop_incomparable_costs,
    reprice_baseline,
)
from evalgate.errors import Location, Problem
from evalgate.gate.comparison.freshness import explain_not_new, mark_stale
from evalgate.gate.decision.failures import explain_verdict, find_failures
from evalgate.measures.text.plain_text import mark_part
from evalgate.measures.values.json_values import mark_name
from evalgate.models.comparison.comparison import ScenarioKey, list_scenarios
from evalgate.models.comparison.weakening import Weakening
from evalgate.models.run.run import HARD_FAILS, NOT_EVALUATED, Run, SuiteResult
from evalgate.models.run.trials import iter_trials
from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalgate.application.comparison.policies import JudgedRun
    from evalgate.application.evaluation.cross_scorer import CrossScorer, RulePair
    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.gate.weakening.weaker_evidence import ReadingChange
    from evalgate.models.comparison.decision import FailOn
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.run.run import ScenarioResult
    from evalgate.ports import PriceTable
    from evalgate.suite.models import Configuration, Suite

MOST_NAMED = 3
NO_FILE = "the baseline's globs find no file"


class OldRules(NamedTuple):
    """The rules of the baseline, its results, and the verdicts on this run by these rules.

    `words` are those of `fail_on`, of both sides, by suite.
    """

    configuration: Configuration
    results: BaselineRun
    prices: PriceTable | None
    cross_scorer: CrossScorer
    words: Mapping[str, Collection[FailOn]]


class HiddenFailures(NamedTuple):
    """What weakens the gate, and notes on changes that turned out to be harmless."""

    weakenings: Sequence[Weakening] = ()
    notes: Sequence[Problem] = ()


class _Hidden(NamedTuple):
    key: ScenarioKey
    reason: str


def find_hidden_failures(judged: JudgedRun, old: OldRules) -> HiddenFailures:
    """Compares the verdicts of both rules, suite by suite, for those whose rules or reading changed."""
    pairs = old.cross_scorer.pairs
    if not pairs:
        return HiddenFailures()
    by_old = _judge_by_old_rules(judged, old)
    weakenings, notes, harmless = list[Weakening](), list[Problem](), dict[str, list[str]]()
    for suite in judged.run.suites:
        if suite.name not in pairs:
            continue
        pair = pairs[suite.name]
        hidden = list(_find_hidden(judged, by_old, suite, old))
        if not pair.reading:
            weakenings += _build_masked(pair, hidden, _count_unchecked(suite, pair, old.cross_scorer))
            continue
        effect = _describe_effect(pair, hidden)
        if _is_only_moved(pair):
            doubt = _explain_not_new(suite, judged, old.results)
            effect = f"{NO_FILE}, and {doubt}"
            if doubt is None:
                notes.append(_describe_moved(pair))
                continue
        if effect is None:
            harmless.setdefault(_list_keys(pair), []).append(suite.name)
        else:
            weakenings += _build_weakenings(pair.new, pair.reading, effect)
    notes += (Problem(_describe_harmless(keys, suites)) for keys, suites in harmless.items())
    return HiddenFailures(weakenings, notes)


def _is_only_moved(pair: RulePair) -> bool:
    """Whether nothing of a suite's reading changed but where its files are, and none are where they were."""
    kinds = [each.kind for each in pair.reading]
    return kinds == ["traces_changed"] and pair.problem is None and not pair.read_files


def _explain_not_new(suite: SuiteResult, judged: JudgedRun, baseline: BaselineRun) -> str | None:
    """Why traces from another place may be old ones; None if all were recorded after those of the baseline.

    If they were, they are no weaker evidence than new ones at the old place would be.
    """
    known = [
        trial.trace for key, entry in baseline.entries.items() if key.suite == suite.name for trial in entry.trials
    ]
    return explain_not_new([trial.trace for trial in iter_trials(suite)], known, judged.present.now)


def _describe_moved(pair: RulePair) -> Problem:
    [change] = pair.reading
    before, now = (mark_part(_show_globs(each or "")) for each in (change.before, change.after))
    what = f"suite {mark_name(pair.new.name)} reads its traces from {now} instead of {before}, where none are now"
    return Problem(f"{what}; all were recorded after the baseline's", Location(pair.new.path), code="moved_traces")


def _show_globs(text: str) -> str:
    """The globs of a change, without the brackets of a single one."""
    listed = text.removeprefix("traces: ")
    return listed if '","' in listed else listed.removeprefix('["').removesuffix('"]')


def list_unchecked_readings(old: Configuration, new: Configuration, choice: TraceChoice) -> list[Weakening]:
    """Every change of how traces are read, if it can't be known what it does."""
    current = {suite.name: suite for suite in new.suites}
    return [
        weakening
        for suite in old.suites
        if suite.name in current
        for weakening in _build_weakenings(
            current[suite.name],
            compare_readings(suite, current[suite.name], choice),
            "not checked: the traces were not read by both rules",
        )
    ]


def _build_weakenings(suite: Suite, reading: Sequence[ReadingChange], effect: str) -> list[Weakening]:
    """One weakening for each part of a suite's reading that changed; the first says what all of them do."""
    return [
        Weakening(
            *(each.kind, suite.name),
            baseline=each.before,
            current=each.after,
            location=Location(suite.path),
            effect=None if index else effect,
        )
        for index, each in enumerate(reading)
    ]


def _describe_effect(pair: RulePair, hidden: Sequence[_Hidden]) -> str | None:
    """What a changed reading does to the run; None if nothing."""
    if pair.problem is not None:
        return f"not checked: {pair.problem}"
    parts = []
    if pair.needs_files and not pair.read_files:
        parts.append(NO_FILE)
    if pair.lost_files:
        more = f" and {len(pair.lost_files) - 1:,} more" if len(pair.lost_files) > 1 else ""
        parts.append(f"{cut_quote(pair.lost_files[0])}{more} {'are' if more else 'is'} no longer read")
    if hidden:
        more = f" (and {len(hidden) - 1:,} more)" if len(hidden) > 1 else ""
        parts.append(f"read as in the baseline, {_name(hidden[0].key)} {hidden[0].reason}{more}")
    return "; ".join(parts) or None


def _judge_by_old_rules(judged: JudgedRun, old: OldRules) -> JudgedRun:
    """The run judged by the baseline's rules, compared with the baseline at its own prices."""
    scorer = old.cross_scorer
    run = Run(
        [
            SuiteResult(name, pair.old.path, [*scorer.judge_by_old_rules(name).values()])
            for name, pair in scorer.pairs.items()
        ]
    )
    refuse_duplicates(run, judged.policies)
    mark_stale(run, judged.policies.suites, judged.present)
    costs = drop_incomparable_costs(reprice_baseline(old.results, old.configuration, old.prices), run)
    comparison = compare_costs_alike(run, costs, judged.policies)
    return judged._replace(run=run, comparison=comparison)


def _find_hidden(judged: JudgedRun, by_old: JudgedRun, suite: SuiteResult, rules: OldRules) -> Iterator[_Hidden]:
    """The scenarios that fail by the baseline's rules and not now."""
    pair, words = rules.cross_scorer.pairs[suite.name], rules.words[suite.name]
    current = dict(list_scenarios([suite]))
    old_suite = next(each for each in by_old.run.suites if each.name == suite.name)
    gating, old_gating = _list_gating(judged, suite, words), _list_gating(by_old, old_suite, words)
    for key, old in rules.cross_scorer.judge_by_old_rules(suite.name).items():
        now = current.get(key)
        if now is not None and pair.problem is not None and len(now.trials) != len(old.trials):
            continue
        reason = old_gating.get(key) if key not in gating else None
        if pair.reading:
            reason = _explain_reading(old, now) or reason
        elif now is None:
            reason = None  # the scenario was removed, or its trace could not be read
        elif now.verdict == "PASS" and old.verdict != "PASS" and old.verdict not in NOT_EVALUATED:
            reason = explain_verdict(old)
        if reason is not None:
            yield _Hidden(key, reason)


def _explain_reading(old: ScenarioResult, now: ScenarioResult | None) -> str | None:
    """What is lost by a changed reading; a scenario that passed by the old one, or fails hard now, hides nothing."""
    if now is None:
        return f"is {explain_verdict(old)}, and is not there now"
    if len(now.trials) < len(old.trials):
        return f"has {len(old.trials)} trials instead of {len(now.trials)}"
    if old.verdict in ("PASS", now.verdict) or now.verdict in HARD_FAILS:
        return None
    return f"is {explain_verdict(old)}"


def _list_gating(judged: JudgedRun, suite: SuiteResult, words: Collection[FailOn]) -> dict[ScenarioKey, str]:
    """The first reason to fail of each scenario that has one."""
    found: dict[ScenarioKey, str] = {}
    changes = {} if judged.comparison is None else judged.comparison.changes
    for reason in find_failures(suite, changes, words):
        if reason.scenario is not None:
            found.setdefault(ScenarioKey(suite.name, reason.scenario, reason.variant), reason.message)
    return found


def _count_unchecked(suite: SuiteResult, pair: RulePair, scorer: CrossScorer) -> int:
    """Scenarios with changed rules that pass, and of which not all traces were judged again."""
    if pair.problem is None:
        return 0
    by_old = scorer.judge_by_old_rules(suite.name)
    return sum(
        each.verdict == "PASS"
        and pair.has_changed(key.id)
        and (key not in by_old or len(by_old[key].trials) != len(each.trials))
        for key, each in list_scenarios([suite])
    )


def _build_masked(pair: RulePair, hidden: Sequence[_Hidden], unchecked: int) -> Iterator[Weakening]:
    """One weakening for one scenario, or one for several of a suite."""
    location = Location(pair.new.path)
    if len(hidden) == 1:
        key, reason = hidden[0]
        yield Weakening("failure_masked", *key, location=location, effect=reason)
    elif hidden:
        names = ", ".join(_name(each.key) for each in hidden[:MOST_NAMED])
        more = f" and {len(hidden) - MOST_NAMED:,} more" if len(hidden) > MOST_NAMED else ""
        yield Weakening(
            "failure_masked", pair.new.name, location=location, scenarios=len(hidden), effect=f"{names}{more}"
        )
    if unchecked:
        yield Weakening("rules_unchecked", pair.new.name, location=location, scenarios=unchecked, effect=pair.problem)


def _list_keys(pair: RulePair) -> str:
    """The keys of a suite's reading that changed."""
    names = dict.fromkeys((each.after or each.before or "").partition(":")[0] for each in pair.reading)
    return ", ".join(f"`{name}`" for name in names)


def _describe_harmless(keys: str, suites: Sequence[str]) -> str:
    more = f" and {len(suites) - 1:,} more" if len(suites) > 1 else ""
    return f"suite {cut_quote(suites[0])}{more}: {keys} changed; no scenario passes only because of that"


def _name(key: ScenarioKey) -> str:
    return cut_quote(key.id if key.variant is None else f"{key.id} {key.variant}")
