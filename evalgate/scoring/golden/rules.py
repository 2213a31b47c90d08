"""The rules that a golden is judged by: its demands, its suite's settings for goldens, weights of dimensions."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from evalgate.evaluators.core.agents import ANY
from evalgate.measures.numeric.means import DIGITS, weighted_mean
from evalgate.models.goldens import PASSING_SCORE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.run.golden import Dimension, Golden, IssueCategory, Level, Severity

TOLERANCE = 1e-6
CATEGORY: Mapping[Dimension, IssueCategory] = {
    "identity_correctness": "identity",
    "memory_precision": "memory",
    "memory_recall": "memory",
    "tool_success_rate": "tools",
    "tone_adherence": "tone",
    "refusal_correctness": "refusal",
    "factual_accuracy": "accuracy",
    "response_completeness": "completeness",
}
"""The dimensions with their categories; the two of memory share its weight."""


class Weights(NamedTuple):
    """Shares of the overall score, 1 in total."""

    identity: float = 0.15
    memory: float = 0.20
    tools: float = 0.25
    tone: float = 0.15
    refusal: float = 0.10
    accuracy: float = 0.10
    completeness: float = 0.05

    @property
    def problem(self) -> str | None:
        """Why these weights are invalid, or None."""
        if not all(0 <= weight <= 1 for weight in self):
            return "weights must be from 0 to 1"
        total = fsum(self)
        return None if abs(total - 1) <= TOLERANCE else f"the weights must sum to 1, not to {total:.6g}"

    def dimension_weight(self, dimension: Dimension) -> float:
        """The weight of one dimension."""
        share: float = getattr(self, CATEGORY[dimension])
        return share / list(CATEGORY.values()).count(CATEGORY[dimension])


def mean_over_turns(scores: Sequence[float | None], weights: Sequence[float] | None = None) -> float | None:
    """The weighted mean of the turns that have a score; None if no turn has one."""
    turn_weights = [1.0] * len(scores) if weights is None else weights
    judged = [(score, weight) for score, weight in zip(scores, turn_weights, strict=True) if score is not None]
    return weighted_mean([score for score, _ in judged], [weight for _, weight in judged])


def reaches(score: float, limit: float) -> bool:
    """Whether a score is at least the limit, with both rounded."""
    return round(score, DIGITS) >= round(limit, DIGITS)


WARNING_THRESHOLD = 0.75
MEMORY_TOOLS: tuple[str, ...] = (
    *("recall*", "*_recall", "load_memory", "*search_memor*", "*get_memor*", "*read_memor*"),
    *("*retrieve_memor*", "*query_memor*", "*find_memor*", "*memory_search", "*memory_get"),
)
"""Tools that retrieve memories, if a suite names none; `*` matches any characters."""
_LEVELS: tuple[tuple[float, Level], ...] = ((0.95, "excellent"), (0.85, "good"), (0.75, "fair"), (0.60, "poor"))
_NEVER_CRITICAL = frozenset({"tone_adherence", "response_completeness"})


def level(score: float) -> Level:
    """The level of a score.

    >>> [level(score) for score in (0.98, 0.87, 0.76, 0.62, 0.50)]
    ['excellent', 'good', 'fair', 'poor', 'failing']
    """
    return next((word for least, word in _LEVELS if reaches(score, least)), "failing")


def severity(
    dimension: Dimension, score: float, passing: float = PASSING_SCORE, warning: float = WARNING_THRESHOLD
) -> Severity | None:
    """The severity of a score; None for a full one.

    A score of 0 is critical, except for tone and for words that differ from the golden ones.
    """
    if reaches(score, 1.0):
        return None
    if reaches(score, passing):
        return "info"
    if reaches(score, warning):
        return "warning"
    return "error" if score > 0 or dimension in _NEVER_CRITICAL else "critical"


class Due(NamedTuple):
    """One entry of a golden's lists: a known word or a name, due in one turn (from 0) or in any."""

    word: str
    turn: int | None = None


def parse_due(entry: str) -> Due:
    """Parses an entry as written: `lookup_order`, or `lookup_order@2` if it is due in the second turn.

    >>> parse_due("lookup_order@2"), parse_due("mail@home")
    (Due(word='lookup_order', turn=1), Due(word='mail@home', turn=None))
    """
    word, _, number = entry.rpartition("@")
    if word and number.isascii() and number.isdecimal() and int(number) > 0:
        return Due(word, int(number) - 1)
    return Due(entry)


class GoldenRules(Struct, frozen=True):
    """One golden, ready to judge.

    Dimensions of the categories in `left_out` are not judged; `assigned` are assertions that replace a
    dimension's formula, and state their own agent; `turn_weights` may be fewer than the turns: the others weigh 1.
    """

    golden: Golden
    weights: Weights = Weights()
    passing_score: float = PASSING_SCORE
    warning_threshold: float = WARNING_THRESHOLD
    left_out: frozenset[IssueCategory] = frozenset()
    is_strict: bool = False
    memory_tools: Sequence[str] = MEMORY_TOOLS
    turn_weights: Sequence[float] = ()
    assigned: Mapping[Dimension, Sequence[Assertion]] = field(default_factory=dict)
    agent: str = ANY

    @property
    def dimensions(self) -> list[Dimension]:
        """The dimensions that are judged."""
        return [name for name, category in CATEGORY.items() if category not in self.left_out]

    @property
    def turn_count(self) -> int:
        """How many turns the golden has."""
        return max(len(self.golden.user_messages), len(self.golden.golden_responses))
