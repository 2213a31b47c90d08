"""What a run knows of itself that tells a fresh recording from a stale one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.comparison.freshness import mark_stale
from evalgate.models.comparison.freshness import Present

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from evalgate.application.comparison.policies import Policies
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.models.run.run import Run
    from evalgate.ports import Fingerprints


def present_of(
    request: JudgeRequest, policies: Policies, fingerprints: Fingerprints | None, now: datetime
) -> Present:
    """The present of this run. Raises InvalidInput for files to watch that are not there."""
    commits = frozenset(each for each in (request.commit, request.merge_commit) if each)
    return Present(now, commits, _watched(policies, fingerprints))


def _watched(policies: Policies, fingerprints: Fingerprints | None) -> Mapping[str, str]:
    """One fingerprint a suite that watches files; the same globs are read once."""
    if fingerprints is None:
        return {}
    known: dict[tuple[str, ...], str] = {}
    found: dict[str, str] = {}
    for name, policy in policies.suites.items():
        globs = tuple(policy.freshness.watch) if policy.freshness is not None else ()
        if globs and globs not in known:
            known[globs] = fingerprints.of(globs)
        if globs:
            found[name] = known[globs]
    return found


def judge_freshness(run: Run, policies: Policies, present: Present) -> None:
    """Notes on stale traces why they are stale, and warns of those that gate nothing."""
    run.warnings += mark_stale(run, policies.suites, present)
