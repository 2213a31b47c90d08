"""Finds where today's suites and policies demand less than those that the baseline was judged by.

An expectation counts as kept only if the new one is clearly at least as strict. If that is unknown, the
expectation is reported as replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import Location
from evalgate.gate.common.quarantine import covers
from evalgate.gate.common.scenario_index import ScenarioIndex
from evalgate.gate.weakening.weaker_checks import lost_checks
from evalgate.gate.weakening.weaker_policy import eased
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.comparison.weakening import Weakening
from evalgate.suite.policy import effective
from evalgate.suite.schema.suite_file import PolicyEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.suite.models import Configuration, Scenario, Suite


class _Found(NamedTuple):
    """A weakening, and the key by which the same one in other scenarios of the suite is recognised."""

    weakening: Weakening
    common: tuple[object, ...]


def weakened(
    old: Configuration, new: Configuration, compared: Mapping[str, Sequence[str]]
) -> list[Weakening]:
    """What the scenarios and policies of `current` demand less, in the order of `baseline`.

    `compared_ids` are the ids of scenarios, by suite, that both sides judged, for those that globs found. For
    what one side lacks entirely, see `removed_scenarios.find_removed_scenarios`.
    """
    now = {suite.name: suite for suite in new.suites}
    found = _policies(old, new)
    for suite in old.suites:
        if suite.name in now:
            each = _of_suite(suite, now[suite.name], compared.get(suite.name, ()))
            found += _gathered(each, now[suite.name])
            found += _quarantines(suite, now[suite.name])
    return found


def _quarantines(old: Suite, new: Suite) -> Iterator[Weakening]:
    """Quarantines that the baseline's suite did not have, or not for as long."""
    for each in new.quarantine:
        if any(covers(earlier, each) for earlier in old.quarantine):
            continue
        same = [one for one in old.quarantine if (one.scenario, one.variant) == (each.scenario, each.variant)]
        until = max((one.until for one in same), default=None)
        yield Weakening(
            "quarantine_added" if until is None else "quarantine_extended",
            *(new.name, each.scenario, each.variant),
            before=None if until is None else f"until: {until.isoformat()}",
            after=f"until: {each.until.isoformat()}",
            location=each.location,
        )


def _policies(old: Configuration, new: Configuration) -> list[Weakening]:
    """Weakenings of the project's policy, then those of suite policies that the project's does not share."""
    shared = list(
        eased(
            effective(PolicyEntry.unsaid(), old.policy, None),
            effective(PolicyEntry.unsaid(), new.policy, None),
        )
    )
    found = [Weakening(each.kind, before=each.before, after=each.after) for each in shared]
    now = {suite.name: suite for suite in new.suites}
    for suite in old.suites:
        if suite.name not in now:
            continue
        before = effective(suite.policy, old.policy, None)
        after = effective(now[suite.name].policy, new.policy, None)
        place = Location(now[suite.name].path)
        found += [
            Weakening(each.kind, suite.name, before=each.before, after=each.after, location=place)
            for each in eased(before, after)
            if each not in shared
        ]
    return found


def _of_suite(old: Suite, new: Suite, compared: Sequence[str]) -> Iterator[_Found]:
    """Compares every entry that judged an id with the entry that judges it now; each pair once."""
    before, now = ScenarioIndex(old), ScenarioIndex(new)
    seen: set[tuple[int, int]] = set()
    for id_ in dict.fromkeys((*before.ids(), *compared)):
        mates = now.of(id_)
        for variant, was in before.of(id_).items():
            mate = mates.get(variant)
            if mate is not None and (id(was), id(mate)) not in seen:
                seen.add((id(was), id(mate)))
                named = id_ if was.id != mate.id else was.id
                yield from _of_scenario(ScenarioKey(old.name, named, variant), was, mate)


def _of_scenario(key: ScenarioKey, old: Scenario, new: Scenario) -> Iterator[_Found]:
    place = new.location
    for weakening in _demands(old, new):
        each = weakening._replace(suite=key.suite, scenario=key.id, variant=key.variant, location=place)
        yield _Found(each, (each.kind, each.before, each.after))
    before, after = old.assertions, new.assertions
    if before is after:
        return
    if old.golden is not None:
        from evalgate.gate.weakening.weaker_goldens import assigned, weaker_golden

        for weakening in weaker_golden(old.golden, new.golden):
            each = weakening._replace(suite=key.suite, scenario=key.id, variant=key.variant, location=place)
            yield _Found(each, (each.kind, each.assertion, each.before, each.after))
        before, after = [*before, *assigned(old.golden)], [*after, *assigned(new.golden)]
    for lost in lost_checks(before, after):
        about = lost.now or lost.was
        where = lost.now.location if lost.now is not None else place
        found = Weakening(lost.kind, *key, about.name, lost.before, lost.after, where)
        yield _Found(found, (lost.kind, id(lost.was), id(lost.now), lost.before, lost.after))


def _demands(old: Scenario, new: Scenario) -> Iterator[Weakening]:
    """What a scenario demands less, apart from its checks."""
    before, now = old.rules, new.rules
    if round(new.threshold, DIGITS) < round(old.threshold, DIGITS):
        texts = f"threshold: {old.threshold:g}", f"threshold: {new.threshold:g}"
        yield Weakening("threshold_lowered", before=texts[0], after=texts[1])
    if now.optional and not before.optional:
        yield Weakening("scenario_optional", before="optional: false", after="optional: true")
    if now.allow_errors and not before.allow_errors:
        yield Weakening("errors_allowed", before="allow_errors: false", after="allow_errors: true")
    if now.min < before.min:
        yield Weakening("trials_lowered", before=f"trials.min: {before.min}", after=f"trials.min: {now.min}")
    if before.min_pass_rate is not None and (now.min_pass_rate or 0.0) < before.min_pass_rate:
        after = None if now.min_pass_rate is None else f"trials.min_pass_rate: {now.min_pass_rate:g}"
        yield Weakening(
            "trials_lowered", before=f"trials.min_pass_rate: {before.min_pass_rate:g}", after=after
        )
    if before.min_pass_k is not None and _rate(now.min_pass_k) < _rate(before.min_pass_k):
        told = [_pass_k(each) for each in (before.min_pass_k, now.min_pass_k)]
        yield Weakening("trials_lowered", before=told[0], after=told[1])


def _rate(demand: tuple[int, int] | None) -> float:
    return 0.0 if demand is None else round(demand[0] / demand[1], DIGITS)


def _pass_k(demand: tuple[int, int] | None) -> str | None:
    return None if demand is None else f"trials.min_pass_k: {demand[0]} of {demand[1]}"


def _gathered(found: Iterable[_Found], suite: Suite) -> list[Weakening]:
    """Merges weakenings that several scenarios share into one of the suite."""
    groups: dict[tuple[object, ...], list[Weakening]] = {}
    for each in found:
        groups.setdefault(each.common, []).append(each.weakening)
    told = []
    for first, *others in groups.values():
        if not others:
            told.append(first)
            continue
        places = {each.location for each in (first, *others)}
        place = first.location if len(places) == 1 else Location(suite.path)
        whole = first._replace(scenario=None, variant=None, location=place, scenarios=1 + len(others))
        told.append(whole)
    return told
