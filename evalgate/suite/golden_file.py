"""Models of a golden and of a suite's settings for goldens: the source of their JSON Schema."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from evalgate.evaluators.core.agents import ANY
from evalgate.evaluators.core.evaluator import AgentName
from evalgate.models.run.golden import INTENTS, MEMORY_RECALLS, REFUSALS, STANCES, TOOL_USAGES
from evalgate.models.run.run import RunStatus
from evalgate.scoring.golden.rules import Weights
from evalgate.strict_model import StrictModel
from evalgate.suite.policy import Share
from evalgate.suite.suite_file import Assertions, Globs, Id, MatchEntry, Opaque, Tag, Text, TrialsEntry

MAX_TURNS = 1_000
MAX_DUE = 200
MAX_MESSAGE = 100_000
_WEIGHTS = Weights()


def _open_list_schema(known_words: tuple[str, ...], description: str) -> WithJsonSchema:
    """An open list: the schema names the known words and allows others."""
    options = [{"enum": list(known_words)}, {"type": "string", "minLength": 1, "maxLength": 200}]
    return WithJsonSchema({"anyOf": options, "description": description})


Word = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Intent = Annotated[Word, _open_list_schema(INTENTS, "What the user wants.")]
Stance = Annotated[Word, _open_list_schema(STANCES, "How the agent should come across.")]
Recall = Annotated[
    Word, _open_list_schema(MEMORY_RECALLS, "A kind of memory, or a text to be remembered; `@2`: in turn 2.")
]
Usage = Annotated[Word, _open_list_schema(TOOL_USAGES, "How tools are used, or a tool to be called; `@2`: in turn 2.")]
Refusal = Annotated[
    Word, _open_list_schema(REFUSALS, "What is refused or allowed, or a phrase to refuse with; `@2`: in turn 2.")
]
Message = Annotated[str, Field(max_length=MAX_MESSAGE)]


def _check_timestamp(text: str) -> str:
    from datetime import UTC, datetime

    timestamp = datetime.fromisoformat(text)
    try:
        (timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError("must be a time in the years 1 to 9999") from None
    return text


Moment = Annotated[str, Field(max_length=40), AfterValidator(_check_timestamp)]


class DimensionSwitches(StrictModel):
    """Which dimensions count. One that is not evaluated is left out of the score."""

    evaluate_identity: bool | None = None
    evaluate_memory: bool | None = None
    evaluate_tools: bool | None = None
    evaluate_tone: bool | None = None
    evaluate_refusal: bool | None = None
    evaluate_accuracy: bool | None = None
    evaluate_completeness: bool | None = None


class WeightsEntry(StrictModel):
    """The weight of each dimension, 1 in total; a weight that is not given keeps its default."""

    identity: Share = _WEIGHTS.identity
    memory: Share = _WEIGHTS.memory
    tools: Share = _WEIGHTS.tools
    tone: Share = _WEIGHTS.tone
    refusal: Share = _WEIGHTS.refusal
    accuracy: Share = _WEIGHTS.accuracy
    completeness: Share = _WEIGHTS.completeness


class GoldenSettings(DimensionSwitches):
    """Settings of a suite for all its goldens.

    `strict` demands the golden words; `memory_tools` are the tools that retrieve memories, with `*`.
    """

    weights: WeightsEntry | None = None
    passing_score: Share | None = None
    warning_threshold: Share | None = None
    strict: bool = False
    memory_tools: Annotated[list[Tag], Field(min_length=1, max_length=100)] | None = None


class GoldenEntry(DimensionSwitches):
    """One golden conversation as written, and how its traces are judged.

    `turn_weights` are the weights of the turns; turns beyond them weigh 1. `agent` is whose answers and calls the
    dimensions are judged by.
    """

    id: Id
    conversation_id: Id | None = None
    title: Text = ""
    description: Text = ""
    intent: Intent = "other"
    primary_stance: Stance = "helpful"
    secondary_stances: Annotated[list[Stance], Field(max_length=50)] = Field(default_factory=list)
    required_memory_recall: Annotated[list[Recall], Field(max_length=MAX_DUE)] = Field(default_factory=list)
    required_tool_usage: Annotated[list[Usage], Field(max_length=MAX_DUE)] = Field(default_factory=list)
    required_refusal: Annotated[list[Refusal], Field(max_length=MAX_DUE)] = Field(default_factory=list)
    user_messages: Annotated[list[Message], Field(max_length=MAX_TURNS)] = Field(default_factory=list)
    golden_responses: Annotated[list[Message], Field(max_length=MAX_TURNS)] = Field(default_factory=list)
    tags: list[Tag] = Field(default_factory=list)
    creator: Tag | None = None
    version: Annotated[int, Field(ge=1)] = 1
    created_at: Moment | None = None
    updated_at: Moment | None = None
    match: MatchEntry | None = None
    optional: bool = False
    allow_errors: bool = False
    run_status: RunStatus | None = None
    opaque: Opaque | None = None
    trials: TrialsEntry = TrialsEntry.from_defaults()
    passing_score: Share | None = None
    strict: bool | None = None
    turn_weights: Annotated[list[Annotated[float, Field(ge=0, le=1e6)]], Field(max_length=MAX_TURNS)] = Field(
        default_factory=list
    )
    agent: AgentName = ANY
    assertions: Assertions = Field(default_factory=list)


class GoldenFilesEntry(StrictModel):
    """Goldens in separate files, YAML, JSON or JSON lines, relative to the suite."""

    file: Globs


class StoreChoice(StrictModel):
    """Goldens chosen by id, tag or intent, or those of a stored regression suite."""

    ids: list[Id] = Field(default_factory=list)
    tags: list[Tag] = Field(default_factory=list)
    intents: list[Tag] = Field(default_factory=list)
    suite: Tag | None = None


class GoldenStoreEntry(StrictModel):
    """Goldens from the store."""

    store: StoreChoice
