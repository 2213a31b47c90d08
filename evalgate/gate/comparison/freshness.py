"""Checks whether a trace is still evidence of what is judged: its commit, what produced it, its age."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from evalgate.gate.common.wording import format_count
from evalgate.measures.redaction.known_secrets import REDACTED
from evalgate.measures.redaction.redact import redact
from evalgate.models.run.trials import list_origins, set_stale
from evalgate.models.trace.trace import format_place
from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from evalgate.models.comparison.weakening import FreshnessContext
    from evalgate.models.results.baseline_run import BaselineTrace
    from evalgate.models.results.results import OriginsDoc
    from evalgate.models.run.run import Run, ScenarioResult, TraceRef, Trial
    from evalgate.models.run.trial_doc import TraceDoc
    from evalgate.models.trace.trace import Warning_
    from evalgate.suite.policy import FreshnessPolicy, Policy

SHORT_SHA = 7
SHORT_HASH = 12
MAX_WARNINGS, MOST_COMMITS = 50, 3
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
CODE = "stale_evidence"
NO_COMMIT = "it does not record its commit (`evalgate.commit`)"
NO_HASH = "it does not record a hash of the agent's files (`evalgate.agent_hash`)"
NO_TIME = "it has no valid timestamp"
FUTURE = "a trace is of a time in the future: the clock that recorded it is wrong"
OF_FUTURE = "its time is in the future"
SKEW = timedelta(minutes=10)
"""How far the clock of a recorder may be ahead."""
NO_HEAD = "the judged commit is not known: set --commit"


def mark_stale(run: Run, policies: Mapping[str, Policy], present: FreshnessContext) -> list[Warning_]:
    """Notes on every stale trace why it is stale; returns warnings for suites whose `fail_on` ignores that.

    A trace that could not be read is an error already and is skipped.
    """
    places_by_reason: dict[str, list[str]] = {}
    warnings: list[Warning_] = []
    for suite in run.suites:
        warnings += _warn_of_future(suite.latest, present.now)
        warnings += filter(None, map(_warn_of_recordings, suite.scenarios))
        policy = policies[suite.name]
        if policy.freshness is None:
            continue
        files = present.watched.get(suite.name)
        watched = None if files is None else files.fingerprint
        for scenario in suite.scenarios:
            several = _describe_recordings(scenario) if policy.freshness.one_recording else None
            for trial, trace in _readable_traces(scenario):
                reason = find_staleness(trace, policy.freshness, present, watched) or several
                set_stale(trial, reason and redact(reason))
                if reason is not None and CODE not in policy.fail_on:
                    places_by_reason.setdefault(reason, []).append(format_place(trace.path, trace.line, trace.record))
    return [*warnings, *_build_warnings(places_by_reason)]


def _warn_of_future(latest: TraceRef | None, now: datetime) -> Iterator[Warning_]:
    """A warning if a trace is of a time to come, which is no time: neither its age nor its order is known."""
    if latest is not None and _is_future(_parse_timestamp(latest.recorded_at), now):
        place = format_place(latest.path, latest.line, latest.record)
        yield {"code": "future_time", "message": FUTURE, "where": place}


def _describe_recordings(scenario: ScenarioResult) -> str | None:
    """Says that trials of a scenario are of several recordings; None if they are of one."""
    times = sorted(scenario.recordings.values())
    if len(times) < 2:  # noqa: PLR2004
        return None
    name = cut_quote(scenario.id)
    return f"trials of {name} are of recordings of {times[0]} and {times[-1]}, and all count: delete the older ones"


def _warn_of_recordings(scenario: ScenarioResult) -> Warning_ | None:
    found = _describe_recordings(scenario)
    return None if found is None else {"code": "several_recordings", "message": redact(found), "where": None}


def _is_future(recorded: datetime | None, now: datetime) -> bool:
    return recorded is not None and recorded > now + SKEW


def _build_warnings(places: Mapping[str, Sequence[str]]) -> list[Warning_]:
    """One warning for each reason, with its first place and how many traces share it."""
    found: list[Warning_] = []
    for reason, trace_places in islice(places.items(), MAX_WARNINGS):
        more = len(trace_places) - 1
        others = f" (and {more:,} more {'trace' if more == 1 else 'traces'})" if more else ""
        found.append({"code": CODE, "message": f"a trace is stale: {reason}{others}", "where": trace_places[0]})
    if len(places) > MAX_WARNINGS:
        rest = f"stale traces for {len(places) - MAX_WARNINGS:,} more reasons"
        found.append({"code": CODE, "message": rest, "where": None})
    return found


def find_staleness(
    trace: TraceRef | TraceDoc, policy: FreshnessPolicy, present: FreshnessContext, watched: str | None
) -> str | None:
    """The first reason why a trace is stale, None if it is fresh. `watched`: the current fingerprint."""
    if policy.require == "head":
        reason = _check_commit(trace.commit, present.commits)
        if reason is not None:
            return reason
    if policy.watch:
        if trace.agent_hash is None:
            return NO_HASH
        if trace.agent_hash != watched:
            producer = _shorten_id(trace.agent_hash, SHORT_HASH)
            return f"its agent hash is {producer}, the watched files have {(watched or 'none')[:SHORT_HASH]}"
    return _check_age(trace.recorded_at, policy, present.now)


def explain_not_new(traces: Sequence[TraceRef | TraceDoc], known: Sequence[BaselineTrace], now: datetime) -> str | None:
    """Why traces that a changed suite reads may not be recordings since its baseline; None if all are."""
    times = [_parse_timestamp(each.recorded_at) for each in known]
    latest = max((each for each in times if each is not None), default=None)
    if latest is None or None in times:
        return "the baseline's traces are without a time"
    digests = {each.digest for each in known if each.digest is not None}
    recordings = {each.recording for each in known}
    recorded = [_parse_timestamp(each.recorded_at) for each in traces]
    doubts = {
        "the same as in the baseline": [each.digest in digests for each in traces],
        "of the same recording as the baseline's": [each.recording in recordings - {None} for each in traces],
        "not written by `evalgate record`, unlike the baseline's": [
            each.recording is None and None not in recordings for each in traces
        ],
        "without a time": [time is None or _is_future(time, now) for time in recorded],
        "not recorded after the baseline's": [time is not None and time <= latest for time in recorded],
    }
    for doubt, found in doubts.items():
        if count := sum(found):
            return f"{count:,} of {format_count(len(traces), 'trace')} {'is' if count == 1 else 'are'} {doubt}"
    return None if traces else "there is none"


def _check_commit(commit: str | None, judged_commits: frozenset[str]) -> str | None:
    if commit is None:
        return NO_COMMIT
    if not judged_commits:
        return NO_HEAD
    if _is_any_commit(commit, judged_commits):
        return None
    listed = " or ".join(sorted(each[:SHORT_SHA] for each in judged_commits))
    return f"recorded at commit {_shorten_id(commit, SHORT_SHA)}, expected {listed}"


def find_origins(
    run: Run, judged_commits: frozenset[str], known: Container[int | None], *, is_asked: bool
) -> OriginsDoc | None:
    """Which traces were replayed or made at another commit; None if none was. `known` are the baseline's.

    One that is committed can't name the commit that holds it, so a report only says so: `require: head` refuses it.
    """
    found = list_origins([trial for suite in run.suites for each in suite.scenarios for trial in each.trials])
    commits = Counter(
        commit
        for digest, commit in found
        if commit
        and judged_commits
        and (digest is None or digest not in known)
        and not _is_any_commit(commit, judged_commits)
    )
    replayed = sum(digest is None for digest, _ in found)
    if not commits and not replayed:
        return None
    names = dict.fromkeys(commit[:SHORT_SHA] for commit, _ in commits.most_common() if _COMMIT.fullmatch(commit))
    return {
        "of": len(found),
        "replayed": replayed,
        "elsewhere": commits.total(),
        "commits": [*names][:MOST_COMMITS],
        "is_asked": is_asked,
    }


def _shorten_id(text: str, length: int) -> str:
    """The first characters of an untrusted text; all of it if something in it was redacted."""
    clean = redact(text)
    return cut_quote(clean if REDACTED in clean else clean[:length])


def _is_any_commit(commit: str, judged_commits: frozenset[str]) -> bool:
    return any(_is_same_commit(commit, each) for each in judged_commits)


def _is_same_commit(one: str, other: str) -> bool:
    """Whether two commits are equal; either may be abbreviated."""
    one, other = one.lower(), other.lower()
    return len(min(one, other, key=len)) >= SHORT_SHA and (one.startswith(other) or other.startswith(one))


def _check_age(recorded_at: str | None, policy: FreshnessPolicy, now: datetime) -> str | None:
    if policy.max_age is None:
        return None
    recorded = _parse_timestamp(recorded_at)
    if recorded is None or _is_future(recorded, now):
        return NO_TIME if recorded is None else OF_FUTURE
    age = now - recorded
    return f"it is {_format_age(age)} old, at most {policy.max_age} is allowed" if age > policy.longest_age else None


def _parse_timestamp(text: str | None) -> datetime | None:
    try:
        timestamp = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return timestamp if timestamp.tzinfo is not None else timestamp.replace(tzinfo=UTC)


def _format_age(age: timedelta) -> str:
    hours = int(age.total_seconds() // 3600)
    days = hours // 24
    return f"{days:,} day{'' if days == 1 else 's'}" if days else f"{hours} hour{'' if hours == 1 else 's'}"


def _readable_traces(scenario: ScenarioResult) -> Iterator[tuple[Trial, TraceRef | TraceDoc]]:
    return ((trial, trace) for trial in scenario.trials if (trace := trial.trace).id is not None)
