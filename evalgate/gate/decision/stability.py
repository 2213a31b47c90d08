"""Finds flaky scenarios: those whose outcome flipped, and flipped back.

One flip is a change, for better or worse; only two or more make a scenario flaky. If a run judged the same
trace as the run before it, the two count as one run with the newer outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.numeric.intervals import wilson
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.models.store.stability import FAILED, LEAST, PASSED, WINDOW, Flip, PastOutcomes, Stability
from evalgate.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.run.run import Verdict
    from evalgate.models.store.stability import Steadiness
    from evalgate.models.store.stored_run import Sighting

RUNS_LOOKED_AT = 2 * WINDOW
TURNS_OF_A_FLAKE = 2


def past_outcomes(key: ScenarioKey, sightings: Iterable[Sighting]) -> PastOutcomes:
    """The outcomes of a scenario in stored runs, which are given oldest first."""
    past = PastOutcomes(key, "")
    for seen in sightings:
        past = with_outcome(past, seen.row.verdict, seen.at, seen.row.trace_sha256)
    return past


def with_outcome(
    past: PastOutcomes, verdict: Verdict, at: datetime, fingerprint: str | None = None
) -> PastOutcomes:
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


def stability(past: PastOutcomes) -> Stability:
    """The stability of one scenario over its last runs, 20 at most."""
    known = len(past.outcomes)
    start = max(0, known - WINDOW)
    runs = past.outcomes[start:]
    passed = runs.count(PASSED)
    turned = _turns(past, start, known)
    steadiness = _steadiness(len(runs), len(turned))
    return Stability(
        past.key,
        len(runs),
        passed,
        len(turned),
        wilson(passed, len(runs)),
        steadiness,
        passes_now=past.outcomes.endswith(PASSED),
        since=turned[0].at if turned else None,
        is_new=steadiness == "flaky" and _is_new(past),
    )


def _turns(past: PastOutcomes, start: int, end: int) -> Sequence[Flip]:
    """The flips in a window, including the one into its first run."""
    return [flip for flip in past.flips if start <= flip.run < end]


def _steadiness(runs: int, turns: int) -> Steadiness:
    if runs < LEAST:
        return "unknown"
    if turns >= TURNS_OF_A_FLAKE:
        return "flaky"
    return "changed" if turns else "steady"


def _is_new(past: PastOutcomes) -> bool:
    """Whether it is flaky in the last window and was not in the one of the same size before it."""
    known = len(past.outcomes)
    size = min(WINDOW, known // 2)
    middle = known - size
    now = _steadiness(size, len(_turns(past, middle, known)))
    before = _steadiness(size, len(_turns(past, middle - size, middle)))
    return now == "flaky" and before in ("steady", "changed")
