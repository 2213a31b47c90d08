"""What a run knows about itself that distinguishes fresh traces from stale ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.comparison.freshness import mark_stale
from evalgate.models.comparison.freshness import FreshnessContext

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from evalgate.application.comparison.policies import Policies
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.models.run.run import Run
    from evalgate.ports import Fingerprints


def present_of(
    request: JudgeRequest, policies: Policies, fingerprints: Fingerprints | None, now: datetime
) -> FreshnessContext:
    """What this run knows about itself. Raises InvalidInput if files to watch are missing."""
    commits = frozenset(each for each in (request.commit, request.merge_commit) if each)
    return FreshnessContext(now, commits, _fingerprint_watched_files(policies, fingerprints))


def _fingerprint_watched_files(policies: Policies, fingerprints: Fingerprints | None) -> Mapping[str, str]:
    """One fingerprint for each suite that watches files; equal globs are read once."""
    if fingerprints is None:
        return {}
    by_globs: dict[tuple[str, ...], str] = {}
    found: dict[str, str] = {}
    for name, policy in policies.suites.items():
        globs = tuple(policy.freshness.watch) if policy.freshness is not None else ()
        if globs and globs not in by_globs:
            by_globs[globs] = fingerprints.compute_fingerprint(globs)
        if globs:
            found[name] = by_globs[globs]
    return found


def judge_freshness(run: Run, policies: Policies, present: FreshnessContext) -> None:
    """Marks stale traces with the reason, and warns about those that no longer gate anything."""
    run.warnings += mark_stale(run, policies.suites, present)
