"""Finds whether the agent or the rules changed a verdict, by judging both sides' traces under both rules.

One table over four outcomes: baseline (old traces, old rules), current (new, new), and the two crossed ones,
either of which may be unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.numeric.means import DIGITS
from evalgate.models.comparison.cause import Cause
from evalgate.models.run.run import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.comparison.cause import CauseKind
    from evalgate.models.run.run import Verdict

    Said = tuple[CauseKind, str]
    Case = tuple[bool, bool]
    Outcomes = tuple[bool | None, bool | None]

UNDER = "under the baseline's rules"
SAME_RULES = Cause("agent", "the rules of this scenario are the same as the baseline's")
_TOO_STRICT: Said = ("rules_stricter", "the agent is the same, the rules got stricter")
_TOO_LOOSE: Said = (
    "rules_looser",
    f"the agent is the same, the rules got looser: it would fail {UNDER}",
)
_MASKED: Said = ("masked", f"would fail {UNDER}: the rules got looser as the agent changed")
_OUTGROWN: Said = ("outgrown", f"would pass {UNDER}: the rules got stricter as the agent changed")
_CAUSES: dict[Case, dict[Outcomes, Said]] = {
    (True, False): {
        (True, False): _TOO_STRICT,
        (True, True): ("together", "the agent changed in what only the new rules ask for"),
        (True, None): ("rules_stricter", f"the rules got stricter: it would pass {UNDER}"),
        (False, True): ("agent", f"the agent changed: it would fail {UNDER} too"),
        (False, False): ("both", f"the rules got stricter, and the agent would fail {UNDER} too"),
        (False, None): ("agent", f"the agent changed: it would fail {UNDER} too"),
        (None, True): ("agent", "the agent changed: the baseline's recordings pass the new rules"),
        (None, False): (
            "rules_stricter",
            "the rules got stricter: the baseline's recordings fail them too",
        ),
    },
    (False, True): {
        (False, True): _TOO_LOOSE,
        (False, False): ("together", f"the agent changed and the rules did: it would fail {UNDER}"),
        (False, None): ("rules_looser", f"the rules got looser: it would fail {UNDER}"),
        (True, False): ("agent", f"the agent changed: it would pass {UNDER} too"),
        (True, True): ("both", f"the rules got looser, and the agent would pass {UNDER} too"),
        (True, None): ("agent", f"the agent changed: it would pass {UNDER} too"),
        (None, True): ("rules_looser", "the rules got looser: the baseline's recordings pass them too"),
        (None, False): ("agent", "the agent changed: the baseline's recordings fail the new rules"),
    },
    (True, True): {(False, True): _MASKED, (False, False): _MASKED, (False, None): _MASKED},
    (False, False): {(True, True): _OUTGROWN, (True, False): _OUTGROWN, (True, None): _OUTGROWN},
}
"""Keyed by (baseline, current), then by (current by old rules, baseline by new rules); True is PASS."""
_OF_SCORES: dict[CauseKind, str] = {
    "agent": f"the agent changed: its score moves as much {UNDER}",
    "rules_stricter": "the agent is the same, the rules got stricter",
    "rules_looser": "the agent is the same, the rules got looser",
    "both": "the agent changed and the rules did, each moves the score",
    "together": "the score moves only where new rules meet new recordings",
}


class ScoredVerdict(NamedTuple):
    """A verdict with its score."""

    verdict: Verdict
    score: float | None


class CrossScores(NamedTuple):
    """New traces by old rules, old traces by new rules; `missing_reason` explains why one of them is None."""

    now_by_old: ScoredVerdict | None = None
    before_by_new: ScoredVerdict | None = None
    lacking: str = "the recordings could not be judged by the other rules"


def cause_of(before: ScoredVerdict, now: ScoredVerdict, crossed: CrossScores, least: float) -> Cause | None:
    """Finds whether agent or rules caused a change; None if nothing changed.

    A verdict without an evaluation is no evidence about agent or rules. `min_delta` is the smallest move of a
    score that counts if the verdicts do not flip.
    """
    if {before.verdict, now.verdict} & NOT_EVALUATED:
        return None
    known = CrossScores(_evaluated(crossed.now_by_old), _evaluated(crossed.before_by_new), crossed.lacking)
    case = _passes(before), _passes(now)
    said = _CAUSES[case].get((_held(known.now_by_old, _passes), _held(known.before_by_new, _passes)))
    if said is None and case[0] == case[1]:
        said = _of_scores(before, now, known, least)
        if said is None:
            return None
    kind, message = said or ("unknown", f"agent and rules can't be told apart: {crossed.lacking}")
    found = [None if each is None else each.verdict for each in known[:2]]
    return Cause(kind, message, *found)


def _evaluated(judged: ScoredVerdict | None) -> ScoredVerdict | None:
    return None if judged is None or judged.verdict in NOT_EVALUATED else judged


def _passes(judged: ScoredVerdict) -> bool:
    return judged.verdict == "PASS"


def _held(judged: ScoredVerdict | None, has: Callable[[ScoredVerdict], bool]) -> bool | None:
    return None if judged is None else has(judged)


def _of_scores(before: ScoredVerdict, now: ScoredVerdict, crossed: CrossScores, least: float) -> Said | None:
    """Looks up the cause in the same table for a score that moved by more than `min_delta`."""
    if before.score is None or now.score is None:
        return None
    start, delta = before.score, round(now.score - before.score, DIGITS)
    if abs(delta) <= round(least, DIGITS):
        return None
    fell = delta < 0

    def is_above(judged: ScoredVerdict) -> bool:
        """For a score that fell: at least the baseline's; for one that rose: higher than the baseline's."""
        moved = round((judged.score or 0.0) - start, DIGITS)
        return moved >= -round(least, DIGITS) if fell else moved > round(least, DIGITS)

    case = (True, False) if fell else (False, True)
    found = _held(crossed.now_by_old, is_above), _held(crossed.before_by_new, is_above)
    said = _CAUSES[case].get(found)
    if said is None:
        return "unknown", f"agent and rules can't be told apart: {crossed.lacking}"
    return said[0], _OF_SCORES[said[0]]
