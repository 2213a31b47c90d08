"""Aligns the turns of a trace with those of its golden; turns may stay unpaired.

Finds the cheapest alignment (Needleman and Wunsch 1970): a pair costs 1 - similarity, an unpaired turn 0.5.
So two turns are paired unless better pairs make it cheaper to leave both unpaired. Among alignments of equal
cost, turns are paired as early as possible. The memories that an agent retrieved are the results
of its calls of memory tools, and the entries of the trace's `metadata.memories`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct, field

from evalgate.measures.numeric.means import mean_amount
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.text_similarity import TooLongError, words
from evalgate.measures.values.json_values import show
from evalgate.models.trace.trace_view import get_view
from evalgate.scoring.golden.rules import MEMORY_TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.run.golden import Golden
    from evalgate.models.trace.trace import ToolCall, Trace
    from evalgate.scoring.golden.rules import Due, GoldenRules

UNPAIRED_COST = 0.5
"""The cost of a turn without a counterpart."""
MAX_CELLS = 250_000
"""Golden turns times actual turns up to which they are compared."""
_PAIR, _MISSING, _EXTRA = range(3)


class TurnStep(NamedTuple):
    """A turn of the golden conversation and its counterpart, by number from 0; None if it has no counterpart."""

    golden: int | None
    actual: int | None


def align_turn_texts(golden: Sequence[str | None], actual: Sequence[str | None]) -> list[TurnStep]:
    """Returns every turn of both, in order, aligned by the user's text. Raises TooLongError.

    An unknown text is equally similar to every turn.

    >>> align_turn_texts(["hello", "refund please"], ["refund, please"])
    [TurnStep(golden=0, actual=None), TurnStep(golden=1, actual=0)]
    """
    if len(golden) * len(actual) > MAX_CELLS:
        raise TooLongError(f"{len(golden):,} by {len(actual):,} turns are too many to align")
    golden_words, actual_words = _word_sets(golden), _word_sets(actual)
    moves = _find_best_moves(golden_words, actual_words)
    steps, row, column = list[TurnStep](), 0, 0
    while row < len(golden_words) or column < len(actual_words):
        move = moves[row][column]
        paired = move == _PAIR
        steps.append(TurnStep(row if move != _EXTRA else None, column if move != _MISSING else None))
        row += paired or move == _MISSING
        column += paired or move == _EXTRA
    return steps


def _word_sets(texts: Sequence[str | None]) -> list[frozenset[str] | None]:
    return [None if text is None else frozenset(words(text)) for text in texts]


def _word_distance(golden_words: frozenset[str] | None, actual_words: frozenset[str] | None) -> float:
    """Returns 1 - the Jaccard similarity of the words."""
    if golden_words is None or actual_words is None:
        return UNPAIRED_COST
    if golden_words == actual_words:
        return 0.0
    return 1.0 - len(golden_words & actual_words) / len(golden_words | actual_words)


def _find_best_moves(
    golden_words: Sequence[frozenset[str] | None], actual_words: Sequence[frozenset[str] | None]
) -> list[bytearray]:
    """Finds the best move from each cell, starting from the end."""
    width = len(actual_words)
    below = [(width - column) * UNPAIRED_COST for column in range(width + 1)]
    moves = [bytearray([_EXTRA]) * (width + 1)]
    for turn_words in reversed(golden_words):
        here, chosen = [0.0] * width + [below[width] + UNPAIRED_COST], bytearray([_MISSING]) * (width + 1)
        for column in range(width - 1, -1, -1):
            options = (
                below[column + 1] + _word_distance(turn_words, actual_words[column]),
                below[column] + UNPAIRED_COST,
                here[column + 1] + UNPAIRED_COST,
            )
            here[column] = min(options)
            chosen[column] = options.index(here[column])
        below = here
        moves.append(chosen)
    return moves[::-1]


METADATA_KEYS = ("memories", "retrieved_memories")
MAX_MEMORIES = 1_000
_LIST_KEYS = ("memories", "results", "items", "documents", "matches")
_TEXT_KEYS = ("content", "text", "memory", "value", "summary")
_KIND_KEYS = ("kind", "type", "memory_type", "category")


class Memory(NamedTuple):
    """One memory: its text, its kind if the trace records it, and the value in the trace."""

    text: str
    kind: str | None
    recorded: Any


def find_retrieved_memories(calls: Sequence[ToolCall], tools: Sequence[str]) -> list[Memory]:
    """The memories in the results of memory tools."""
    found = [
        memory
        for call in calls
        if call["status"] in ("ok", "unknown") and any(matches_id(glob, call["name"]) for glob in tools)
        for memory in _extract_memories(call["result"] if call["result"] is not None else call["result_text"])
    ]
    return found[:MAX_MEMORIES]


def find_listed_memories(trace: Trace) -> dict[int, list[Memory]]:
    """Memories that the trace's metadata lists, by turn from 1; an entry without `turn` is of the first."""
    found: dict[int, list[Memory]] = {}
    for name in METADATA_KEYS:
        values = trace.metadata.get(name)
        for value in values[:MAX_MEMORIES] if isinstance(values, list) else ():
            turn = value.get("turn") if isinstance(value, dict) else None
            number = turn if isinstance(turn, int) and not isinstance(turn, bool) and turn > 0 else 1
            found.setdefault(number, []).append(_build_memory(value))
    return found


def _extract_memories(result: Any) -> Iterator[Memory]:
    """The memories in a tool's result: a list of them, a mapping that holds such a list, or a single one."""
    if isinstance(result, dict):
        inner = next((result[name] for name in _LIST_KEYS if isinstance(result.get(name), list)), None)
        result = [result] if inner is None and result else inner or []
    for value in result if isinstance(result, list) else [result]:
        if value not in (None, "", {}, []):
            yield _build_memory(value)


def _build_memory(value: Any) -> Memory:
    if not isinstance(value, dict):
        return Memory(value if isinstance(value, str) else show(value, 2_000), None, value)
    text = next((value[name] for name in _TEXT_KEYS if isinstance(value.get(name), str)), None)
    kind = next((value[name] for name in _KIND_KEYS if isinstance(value.get(name), str)), None)
    return Memory(show(value, 2_000) if text is None else text, kind and kind.casefold(), value)


class ActualTurn(Struct):
    """The user's message, the agent's last answer, and what the agent did in between."""

    user: str | None
    response: str | None
    calls: list[ToolCall]
    memories: list[Memory]
    latency_ms: float | None
    tokens: int | None
    cost: float | None


class TurnPair(NamedTuple):
    """One step of both conversations; None if a side has no such turn. Numbers count from 0."""

    step: TurnStep
    actual: ActualTurn | None
    user: str | None
    response: str | None  # the golden one

    @property
    def is_missing(self) -> bool:
        """Only the golden has the turn."""
        return self.actual is None

    @property
    def is_extra(self) -> bool:
        """Only the trace has the turn."""
        return self.step.golden is None


def align_turns(rules: GoldenRules, trace: Trace) -> list[TurnPair]:
    """Pairs every turn of both, in order. Raises TooLongError."""
    golden, turns = rules.golden, collect_turns(trace, rules.memory_tools)
    messages = [_text_at(golden.user_messages, number) for number in range(rules.turn_count)]
    steps = align_turn_texts(messages, [turn.user for turn in turns])
    return [_build_pair(step, golden, turns) for step in steps]


def _build_pair(step: TurnStep, golden: Golden, turns: Sequence[ActualTurn]) -> TurnPair:
    actual = None if step.actual is None else turns[step.actual]
    user = _text_at(golden.user_messages, step.golden)
    return TurnPair(
        step, actual, user if actual is None or actual.user is None else actual.user,
        _text_at(golden.golden_responses, step.golden),
    )  # fmt: skip


def _text_at(texts: Sequence[str], number: int | None) -> str | None:
    return texts[number] if number is not None and number < len(texts) else None


def collect_turns(trace: Trace, memory_tools: Sequence[str] = MEMORY_TOOLS) -> list[ActualTurn]:
    """The turns of a trace, one for each user message; a trace without a user is one turn."""
    exchanges: list[dict[str, Any]] = get_view(trace).get("exchanges") or []
    if not exchanges and (trace.messages or trace.tool_calls):
        content = trace.response["content"]
        exchanges = [{"turn": 0, "user": None, "response": content, "tool_calls": trace.agent_calls}]
    memories, is_single = find_listed_memories(trace), len(exchanges) == 1
    first = exchanges[0]["turn"] if exchanges else 0
    found = []
    for exchange in exchanges:
        number = exchange["turn"]
        turn = ActualTurn(
            exchange["user"],
            exchange["response"],
            exchange["tool_calls"],
            [*find_retrieved_memories(exchange["tool_calls"], memory_tools), *memories.pop(number or 1, ())],
            *(_trace_usage(trace) if is_single else _turn_usage(trace, number, with_earlier=number == first)),
        )
        found.append(turn)
    for leftover in memories.values():  # memories of turns that the trace does not have
        if found:
            found[-1].memories += leftover
    return found


def _trace_usage(trace: Trace) -> tuple[float | None, int | None, float | None]:
    return trace.latency["total_ms"], trace.usage["total_tokens"], trace.cost["usd"]


def _turn_usage(trace: Trace, turn: int, *, with_earlier: bool) -> tuple[float | None, int | None, float | None]:
    """Latency, tokens and cost of the model calls of one turn; unknown if one of them lacks it."""
    calls = [call for call in trace.llm_calls if call["turn"] == turn or (with_earlier and call["turn"] < turn)]
    tokens = [None if call["usage"] is None else call["usage"]["total_tokens"] for call in calls]
    total_tokens = _sum_amounts(tokens)
    return (
        _sum_amounts([call["duration_ms"] for call in calls]),
        None if total_tokens is None else int(total_tokens),
        _sum_amounts([call["cost_usd"] for call in calls]),
    )


def _sum_amounts(amounts: Sequence[float | None]) -> float | None:
    mean = mean_amount(amounts)
    return None if mean is None else mean * len(amounts)


DimensionSource = Literal["formula", "recorded", "assertions", "none"]


class DimensionIssue(NamedTuple):
    """A problem in one step; steps are numbered from 0."""

    step: int
    message: str
    evidence: str | None = None


class StepTally(Struct):
    """Counts the demands of one step, how many of them were met, and how many were missed for lack of a call."""

    met: int = 0
    total: int = 0
    missed: int = 0

    def count(self, *, met: bool) -> None:
        """Counts one more demand."""
        self.met += met
        self.total += 1

    @property
    def share(self) -> float | None:
        """The share that was met; None if there was nothing to meet."""
        return self.met / self.total if self.total else None

    @property
    def best_share(self) -> float | None:
        """The share if calls that were not recorded met the missed demands."""
        return (self.met + self.missed) / self.total if self.total else None


class EvidenceGap(NamedTuple):
    """Why a dimension lacks evidence. `best_steps` are the best scores that more evidence could give.

    `may_fail` is true if the golden demands something, so that more evidence could lower the score.
    """

    reason: str
    best_steps: list[float | None]
    may_fail: bool


class DimensionFinding(Struct):
    """A score for each step, None if there is nothing to judge; `missing_reason` is why all are None."""

    steps: list[float | None]
    issues: list[DimensionIssue] = field(default_factory=list)
    missing_reason: str = ""
    gap: EvidenceGap | None = None


def find_due_step(turn_pairs: Sequence[TurnPair], due: Due) -> int | None:
    """The step of the turn in which something is due; None if any turn will do."""
    if due.turn is None:
        return None
    return next(
        (index for index, each in enumerate(turn_pairs) if each.step.golden == due.turn), find_last_step(turn_pairs)
    )


def find_last_step(turn_pairs: Sequence[TurnPair]) -> int:
    """The step to which something that never came is charged: the golden's last turn."""
    return max((index for index, each in enumerate(turn_pairs) if not each.is_extra), default=len(turn_pairs) - 1)
