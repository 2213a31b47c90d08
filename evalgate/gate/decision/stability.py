"""Finds flaky scenarios: those whose outcome flipped, and flipped back.

One flip is a change, for better or worse; only two or more make a scenario flaky. If a run judged the same
trace as the run before it, the two count as one run with the newer outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.measures.numeric.estimates import wilson_interval
from evalgate.models.history.stability import FAILED, MIN_RUNS, PASSED, WINDOW, Flip, PastOutcomes, Stability
from evalgate.models.run.run import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.history.stability import Steadiness
    from evalgate.models.history.stored_run import ScenarioHistoryEntry
    from evalgate.models.run.run import Verdict

STABILITY_RUNS = 2 * WINDOW
MIN_FLIPS = 2


def collect_outcomes(key: ScenarioKey, sightings: Iterable[ScenarioHistoryEntry]) -> PastOutcomes:
    """The outcomes of a scenario in stored runs, which are given oldest first."""
    past = PastOutcomes(key, "")
    for seen in sightings:
        past = add_outcome(past, seen.row.verdict, seen.at, seen.row.trace_sha256)
    return past


def add_outcome(past: PastOutcomes, verdict: Verdict, at: datetime, fingerprint: str | None = None) -> PastOutcomes:
    """Adds one run to past outcomes; a run that did not evaluate the scenario changes nothing."""
    if verdict in NOT_EVALUATED:
        return past
    outcomes, flips = past.outcomes, past.flips
    if fingerprint is not None and fingerprint == past.fingerprint:
        outcomes = outcomes[:-1]
        flips = tuple(flip for flip in flips if flip.run < len(outcomes))
    sign = PASSED if verdict == "PASS" else FAILED
    if outcomes and outcomes[-1] != sign:
        flips = (*flips, Flip(len(outcomes), at))
    return replace(past, outcomes=outcomes + sign, flips=flips, fingerprint=fingerprint)


def measure_stability(past: PastOutcomes) -> Stability:
    """The stability of one scenario over its last runs, 20 at most."""
    total = len(past.outcomes)
    start = max(0, total - WINDOW)
    runs = past.outcomes[start:]
    passed = runs.count(PASSED)
    flips = _find_flips(past, start, total)
    steadiness = _classify_steadiness(len(runs), len(flips))
    return Stability(
        past.key,
        len(runs),
        passed,
        len(flips),
        wilson_interval(passed, len(runs)),
        steadiness,
        passes_now=past.outcomes.endswith(PASSED),
        since=flips[0].at if flips else None,
        is_new=steadiness == "flaky" and _is_newly_flaky(past),
    )


def _find_flips(past: PastOutcomes, start: int, end: int) -> Sequence[Flip]:
    return [flip for flip in past.flips if start <= flip.run < end]


def _classify_steadiness(runs: int, flips: int) -> Steadiness:
    if runs < MIN_RUNS:
        return "unknown"
    if flips >= MIN_FLIPS:
        return "flaky"
    return "changed" if flips else "steady"


def _is_newly_flaky(past: PastOutcomes) -> bool:
    """Whether it is flaky in the last window and was not in the one of the same size before it."""
    total = len(past.outcomes)
    size = min(WINDOW, total // 2)
    middle = total - size
    latest = _classify_steadiness(size, len(_find_flips(past, middle, total)))
    preceding = _classify_steadiness(size, len(_find_flips(past, middle - size, middle)))
    return latest == "flaky" and preceding in ("steady", "changed")
