"""The rules that a golden is judged by: its demands, and its suite's settings for goldens."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from evalgate.models.goldens import PASSING_SCORE
from evalgate.scoring.golden.memories import MEMORY_TOOLS
from evalgate.scoring.golden.weights import CATEGORY, Weights, reaches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.run.golden import Dimension, Golden, IssueCategory, Level, Severity

WARNING_THRESHOLD = 0.75
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
    dimension's formula; `turn_weights` may be fewer than the turns: the others weigh 1.
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

    @property
    def dimensions(self) -> list[Dimension]:
        """The dimensions that are judged."""
        return [name for name, category in CATEGORY.items() if category not in self.left_out]

    @property
    def turn_count(self) -> int:
        """How many turns the golden has."""
        return max(len(self.golden.user_messages), len(self.golden.golden_responses))
