"""Checks whether a trace is still evidence of what is judged: its commit, what produced it, its age."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from evalgate.measures.redaction.redact import redact
from evalgate.measures.redaction.token_shapes import REDACTED
from evalgate.models.run.trials import make_stale
from evalgate.scoring.wording import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.comparison.freshness import Present
    from evalgate.models.run.run import Run, ScenarioResult, TraceRef
    from evalgate.models.trace.trace import Warning_
    from evalgate.suite.policy import FreshnessPolicy, Policy

SHORT_SHA = 7
SHORT_HASH = 12
MAX_WARNINGS = 50
CODE = "stale_evidence"
NO_COMMIT = "it does not say of which commit it is (`evalgate.commit`)"
NO_HASH = "it does not say what made it (`evalgate.agent_hash`)"
NO_TIME = "it does not say when it was made"
NO_HEAD = "the commit that is judged is not known: give --commit"


def mark_stale(run: Run, policies: Mapping[str, Policy], present: Present) -> list[Warning_]:
    """Notes on every stale trace why it is stale; returns warnings for suites whose `fail_on` ignores that.

    A trace that could not be read is an error already and is skipped.
    """
    warned: dict[str, list[str]] = {}
    for suite in run.suites:
        policy = policies[suite.name]
        if policy.freshness is None:
            continue
        watched = present.fingerprints.get(suite.name)
        for scenario in suite.scenarios:
            for place, trace in _readable(scenario):
                why = staleness(trace, policy.freshness, present, watched)
                make_stale(scenario.trials, place, why and redact(why))
                if why is not None and CODE not in policy.fail_on:
                    warned.setdefault(why, []).append(_place(trace))
    return _warnings(warned)


def _warnings(places: Mapping[str, Sequence[str]]) -> list[Warning_]:
    """One warning for each reason, with its first place and how many traces share it."""
    found: list[Warning_] = []
    for why, where in islice(places.items(), MAX_WARNINGS):
        others = f" (and {len(where) - 1:,} more traces)" if len(where) > 1 else ""
        found.append({"code": CODE, "message": f"a trace is stale: {why}{others}", "where": where[0]})
    if len(places) > MAX_WARNINGS:
        more = f"stale traces for {len(places) - MAX_WARNINGS:,} more reasons"
        found.append({"code": CODE, "message": more, "where": None})
    return found


def staleness(trace: TraceRef, policy: FreshnessPolicy, present: Present, watched: str | None) -> str | None:
    """The first reason why a trace is stale, None if it is fresh. `watched`: the current fingerprint."""
    if policy.require == "head":
        found = _foreign(trace.commit, present.commits)
        if found is not None:
            return found
    if policy.watch:
        if trace.agent_hash is None:
            return NO_HASH
        if trace.agent_hash != watched:
            made = _beginning(trace.agent_hash, SHORT_HASH)
            return f"made by {made}, the watched files are {(watched or 'not known')[:SHORT_HASH]} now"
    return _too_old(trace.recorded_at, policy, present.now)


def _foreign(commit: str | None, judged: frozenset[str]) -> str | None:
    if commit is None:
        return NO_COMMIT
    if not judged:
        return NO_HEAD
    if any(_same(commit, each) for each in judged):
        return None
    listed = " or ".join(sorted(each[:SHORT_SHA] for each in judged))
    return f"made at commit {_beginning(commit, SHORT_SHA)}, judged is {listed}"


def _beginning(told: str, length: int) -> str:
    """The first characters of an untrusted text; all of it if something in it was redacted."""
    clean = redact(told)
    return shorten(clean if REDACTED in clean else clean[:length])


def _same(one: str, other: str) -> bool:
    """Whether two commits are equal; either may be abbreviated."""
    one, other = one.lower(), other.lower()
    return len(min(one, other, key=len)) >= SHORT_SHA and (one.startswith(other) or other.startswith(one))


def _too_old(recorded_at: str | None, policy: FreshnessPolicy, now: datetime) -> str | None:
    if policy.max_age is None:
        return None
    moment = _moment(recorded_at)
    if moment is None:
        return NO_TIME
    age = now - moment
    return f"it is {_age(age)} old, {policy.max_age} is the most" if age > policy.longest else None


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _age(age: timedelta) -> str:
    hours = int(age.total_seconds() // 3600)
    days = hours // 24
    return f"{days:,} day{'' if days == 1 else 's'}" if days else f"{hours} hour{'' if hours == 1 else 's'}"


def _readable(scenario: ScenarioResult) -> Iterator[tuple[int, TraceRef]]:
    traces = (trial.trace for trial in scenario.trials)
    return ((place, trace) for place, trace in enumerate(traces) if trace.id is not None)


def _place(trace: TraceRef) -> str:
    if trace.line is not None:
        return f"{trace.path}:{trace.line}"
    return trace.path if trace.record is None else f"{trace.path}#{trace.record}"
