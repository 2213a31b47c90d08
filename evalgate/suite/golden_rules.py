"""Builds a golden, and the rules that it is judged by, from an entry of a file, and encodes it as one."""

from __future__ import annotations

from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.evaluators.core.field_problems import FieldProblem
from evalgate.models.goldens import PASSING_SCORE
from evalgate.models.run.golden import CATEGORIES, INTENTS, MEMORY_RECALLS, REFUSALS, STANCES, TOOL_USAGES, Golden
from evalgate.scoring.golden.rules import CATEGORY, MEMORY_TOOLS, WARNING_THRESHOLD, GoldenRules, Weights, parse_due

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.evaluators.core.field_problems import Path
    from evalgate.models.goldens import RegressionSuite
    from evalgate.models.run.golden import Dimension, IssueCategory
    from evalgate.suite.diagnostics import Document
    from evalgate.suite.golden_file import GoldenEntry, GoldenSettings


class GoldenDocuments(Struct):
    """The documents that the entries of a suite's `goldens` name, by the number of the entry.

    `thresholds` are the critical issues allowed by the regression suites that goldens came from.
    """

    documents: dict[int, Sequence[Document]] = field(default_factory=dict)
    thresholds: list[int] = field(default_factory=list)


DUE_LISTS = ("required_memory_recall", "required_tool_usage", "required_refusal")
FIELDS = (
    *("id", "conversation_id", "title", "description", "intent", "primary_stance", "secondary_stances", *DUE_LISTS),
    *("user_messages", "golden_responses", "tags", "creator", "version", "created_at", "updated_at"),
)
"""Fields of a golden that an entry of a file has too, in its order."""


def encode_golden(golden: Golden, suite: RegressionSuite | None = None) -> dict[str, Any]:
    """The fields that are not empty, and the passing score and switches of a regression suite, if given.

    >>> from evalgate.models.run.golden import Golden
    >>> encode_golden(Golden("greeting", user_messages=("hi",)))
    {'id': 'greeting', 'intent': 'other', 'primary_stance': 'helpful', 'user_messages': ['hi'], 'version': 1}
    """
    fields = {name: _encode_field(getattr(golden, name)) for name in FIELDS}
    encoded = {name: value for name, value in fields.items() if value not in (None, "", [])}
    if suite is not None:
        encoded["passing_score"] = suite.passing_score
        encoded |= {f"evaluate_{each}": False for each in CATEGORIES if not getattr(suite, f"evaluate_{each}")}
    return encoded


def _encode_field(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value.isoformat() if isinstance(value, datetime) else value


def golden_from_entry(entry: GoldenEntry) -> Golden:
    """The golden of an entry."""
    given = {name: getattr(entry, name) for name in FIELDS}
    fields: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in given.items()}
    fields |= {name: _parse_timestamp(fields[name]) for name in ("created_at", "updated_at")}
    return Golden(**fields)


def build_rules(
    golden: Golden, entry: GoldenEntry, settings: GoldenSettings, assertions: Sequence[Assertion]
) -> tuple[GoldenRules, list[FieldProblem]]:
    """The rules of an entry, completed by the settings of its suite; and the problems in them."""
    weights = Weights() if settings.weights is None else Weights(**settings.weights.model_dump())
    passing = next((each for each in (entry.passing_score, settings.passing_score) if each is not None), None)
    strict = settings.strict if entry.strict is None else entry.strict
    passing = PASSING_SCORE if passing is None else passing
    warning = settings.warning_threshold
    assigned: dict[Dimension, list[Assertion]] = {}
    for each in assertions:
        if each.dimension is not None:
            assigned.setdefault(each.dimension, []).append(each)
    rules = GoldenRules(
        golden,
        weights,
        passing,
        min(passing, WARNING_THRESHOLD) if warning is None else warning,
        _excluded_categories(entry, settings),
        strict,
        MEMORY_TOOLS if settings.memory_tools is None else tuple(settings.memory_tools),
        tuple(entry.turn_weights),
        assigned,
        entry.agent,
    )
    return rules, list(_find_problems(rules, len(entry.turn_weights), assertions))


def find_settings_problem(settings: GoldenSettings) -> FieldProblem | None:
    """The first problem in a suite's settings for all its goldens."""
    if settings.weights is not None:
        problem = Weights(**settings.weights.model_dump()).problem
        if problem is not None:
            hint = "weights that are not given have their defaults: set every weight that differs"
            return FieldProblem(("weights",), problem, hint)
    passing = PASSING_SCORE if settings.passing_score is None else settings.passing_score
    if settings.warning_threshold is not None and settings.warning_threshold > passing:
        return FieldProblem(("warning_threshold",), "`warning_threshold` is above `passing_score`")
    return None


def find_golden_problems(golden: Golden) -> Iterator[FieldProblem]:
    """Problems of a golden itself: a glob id, and references to turns that it does not have."""
    if "*" in golden.id:
        yield FieldProblem(("id",), "a golden is one conversation: its `id` must not contain `*`")
    turns = max(len(golden.user_messages), len(golden.golden_responses))
    for name in DUE_LISTS:
        for index, entry in enumerate(getattr(golden, name)):
            turn = parse_due(entry).turn
            if turn is not None and turn >= turns:
                yield FieldProblem(
                    (name, index), f"`{entry}` refers to turn {turn + 1}, but the golden has only {turns}"
                )


def _excluded_categories(entry: GoldenEntry, settings: GoldenSettings) -> frozenset[IssueCategory]:
    excluded: list[IssueCategory] = []
    for category in CATEGORIES:
        golden_value, suite_value = (getattr(each, f"evaluate_{category}") for each in (entry, settings))
        if (suite_value if golden_value is None else golden_value) is False:
            excluded.append(category)
    return frozenset(excluded)


def _find_problems(rules: GoldenRules, weight_count: int, assertions: Sequence[Assertion]) -> Iterator[FieldProblem]:
    golden, turns = rules.golden, rules.turn_count
    yield from find_golden_problems(golden)
    if not sum(rules.weights.dimension_weight(name) for name in rules.dimensions):
        yield FieldProblem((), f"no dimension of golden `{golden.id}` is evaluated", "enable one, or give it a weight")
    if weight_count > turns:
        yield FieldProblem(("turn_weights",), f"`turn_weights` has {weight_count} entries for {turns} turns")
    if rules.turn_weights and len(rules.turn_weights) == turns and not any(rules.turn_weights):
        yield FieldProblem(("turn_weights",), "the weights of the turns sum to 0")
    for each in assertions:
        if each.dimension is not None and CATEGORY[each.dimension] in rules.left_out:
            message = f"`{each.name}` is assigned to `{each.dimension}`, which is not evaluated"
            yield FieldProblem(("assertions",), message)


def _parse_timestamp(text: str | None) -> datetime | None:
    if text is None:
        return None
    timestamp = datetime.fromisoformat(text)
    return timestamp.replace(tzinfo=UTC) if timestamp.tzinfo is None else timestamp.astimezone(UTC)


MIN_SIMILARITY = 0.8
_LISTS = {
    "secondary_stances": STANCES,
    "required_memory_recall": MEMORY_RECALLS,
    "required_tool_usage": TOOL_USAGES,
    "required_refusal": REFUSALS,
}


def find_likely_typos(golden: Golden) -> Iterator[tuple[Path, str, str]]:
    """The path of each word that is similar to a known one, with a message and a hint."""
    for name, word, known in (("intent", golden.intent, INTENTS), ("primary_stance", golden.primary_stance, STANCES)):
        if similar := _find_similar(word, known):
            yield (name,), f"`{word}` is not a known {name}", f"did you mean `{similar}`?"
    for name, known in _LISTS.items():
        for index, written in enumerate(getattr(golden, name)):
            word = parse_due(written).word
            if similar := _find_similar(word, known):
                yield (name, index), f"`{word}` is not a known value of `{name}`", f"did you mean `{similar}`?"


def _find_similar(word: str, known: tuple[str, ...]) -> str | None:
    if word in known:
        return None
    return next(iter(get_close_matches(word.casefold(), known, 1, MIN_SIMILARITY)), None)
