"""Suggests checks for changes that a scenario does not notice: each was tried on its traces and on the changed ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.core.parse import Parser
from evalgate.features.learn.application.mutation.candidates import Facts, allow_tools, forbid_tools, list_candidates
from evalgate.features.learn.application.mutation.operators import apply_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.features.learn.application.mutation.operators import KnownTools
    from evalgate.models.mutation import Mutation, Survivor
    from evalgate.models.trace.trace import Trace

    Check = dict[str, Any]

MAX_CANDIDATES = 100
"""Checks that are tried for one entry of a suite."""
HOLDS = frozenset({"passed", "skipped"})
"""Outcomes of a required check that let a trial pass."""


class MissedChange(NamedTuple):
    """A change of a passing trace that its scenario did not notice, and the survivor that it belongs to."""

    change: Mutation
    trace: Trace
    survivor: Survivor


class TriedCheck(NamedTuple):
    """A check that holds for all traces of an entry; `notices` has a bit for each missed change."""

    check: Check
    notices: int


def suggest_checks(missed: Sequence[MissedChange], traces: Sequence[Trace], tools: KnownTools) -> None:
    """Notes with each survivor of one entry the check that notices most of its changes, if one was found.

    No check fails on one of `traces`. The checks that notice the most changes are preferred.
    """
    facts = Facts(traces)
    changes = [each.change for each in missed]
    first = _dedupe([*forbid_tools(changes, facts), *_list_in_turn(missed, facts)])
    chosen = _choose(_try(first[:MAX_CANDIDATES], missed, traces, tools), len(missed))
    left = [each for number, each in enumerate(missed) if not any(tried.notices >> number & 1 for tried in chosen)]
    if any(each.change.operator in ("other_tool", "extra_destructive_call") for each in left):
        chosen += _choose(_try([*allow_tools(facts)], missed, traces, tools), len(missed))
    _assign(missed, chosen)


def _list_in_turn(missed: Sequence[MissedChange], facts: Facts) -> Iterator[Check]:
    """The candidates for one change of each kind, the most harmful first, then those for the others."""
    seen: set[tuple[str, str, str]] = set()
    later: list[MissedChange] = []
    for each in sorted(missed, key=lambda each: each.survivor.harm):
        change = each.change
        kind = (change.operator, change.tool, change.other)
        if kind in seen:
            later.append(each)
        else:
            seen.add(kind)
            yield from list_candidates(change, each.trace, facts)
    for each in later:
        yield from list_candidates(each.change, each.trace, facts)


def _dedupe(checks: Iterable[Check]) -> list[Check]:
    """Each check once, at most MAX_CANDIDATES."""
    found: dict[str, Check] = {}
    for check in checks:
        found.setdefault(json.dumps(check, sort_keys=True), check)
        if len(found) >= MAX_CANDIDATES:
            break
    return list(found.values())


def _try(
    checks: Sequence[Check], missed: Sequence[MissedChange], traces: Sequence[Trace], tools: KnownTools
) -> list[TriedCheck]:
    """The checks that hold for all traces, with the changes that each notices."""
    parser = Parser(lambda _: None)
    parsed = [(check, parser.parse_assertion(check, ())) for check in checks]
    valid = [(check, found) for check, found in parsed if found is not None and _holds(found, traces)]
    notices = [0] * len(valid)
    for number, each in enumerate(missed if valid else ()):
        changed = apply_change(each.trace, each.change, tools)
        for place, (_, assertion) in enumerate(valid):
            if assertion.evaluate(changed).outcome not in HOLDS:
                notices[place] |= 1 << number
        changed.kept_view = None  # breaks a reference cycle
    return [TriedCheck(check, found) for (check, _), found in zip(valid, notices, strict=True)]


def _holds(assertion: Assertion, traces: Iterable[Trace]) -> bool:
    for trace in traces:
        outcome = assertion.evaluate(trace).outcome
        trace.kept_view = None
        if outcome not in HOLDS:
            return False
    return True


def _choose(tried: Sequence[TriedCheck], count: int) -> list[TriedCheck]:
    """Again and again the check that notices the most of the changes that none so far does; of equals the first."""
    chosen: list[TriedCheck] = []
    left = (1 << count) - 1
    while left:
        best = max(tried, key=lambda each: (each.notices & left).bit_count(), default=None)
        if best is None or not best.notices & left:
            break
        chosen.append(best)
        left &= ~best.notices
    return chosen


def _assign(missed: Sequence[MissedChange], chosen: Sequence[TriedCheck]) -> None:
    bits: dict[int, tuple[Survivor, int]] = {}
    for number, each in enumerate(missed):
        survivor, mask = bits.get(id(each.survivor), (each.survivor, 0))
        bits[id(survivor)] = survivor, mask | 1 << number
    for survivor, mask in bits.values():
        best = max(chosen, key=lambda each: (each.notices & mask).bit_count(), default=None)
        noticed = 0 if best is None else (best.notices & mask).bit_count()
        if best is not None and noticed:
            survivor.check, survivor.noticed = best.check, noticed
