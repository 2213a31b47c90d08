"""Which scenarios are flaky: those whose outcome turned, and turned again.

One turn is a change, for better or worse. Only who goes and comes back is flaky. A run that judged the very
recording of the run before it has nothing to add: then the newer judgement stands for both.
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
    """What stored runs say of a scenario; they come oldest first."""
    past = PastOutcomes(key, "")
    for seen in sightings:
        past = with_outcome(past, seen.row.verdict, seen.at, seen.row.trace_sha256)
    return past


def with_outcome(
    past: PastOutcomes, verdict: Verdict, at: datetime, fingerprint: str | None = None
) -> PastOutcomes:
    """The same with one more run; one that learned nothing of the scenario says nothing of its stability."""
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
    """One scenario over its last runs, 20 of them at most."""
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
    """Turns in a window, that into its first run included."""
    return [flip for flip in past.flips if start <= flip.run < end]


def _steadiness(runs: int, turns: int) -> Steadiness:
    if runs < LEAST:
        return "unknown"
    if turns >= TURNS_OF_A_FLAKE:
        return "flaky"
    return "changed" if turns else "steady"


def _is_new(past: PastOutcomes) -> bool:
    """Flaky in the last window and not in one of the same size before it."""
    known = len(past.outcomes)
    size = min(WINDOW, known // 2)
    middle = known - size
    now = _steadiness(size, len(_turns(past, middle, known)))
    before = _steadiness(size, len(_turns(past, middle - size, middle)))
    return now == "flaky" and before in ("steady", "changed")
