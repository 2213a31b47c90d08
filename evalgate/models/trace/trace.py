"""The canonical trace (`evalgate.trace/1`): one recorded run of an agent, independent of the vendor.

Records are TypedDicts: a reader builds them once, queries read them directly, and nothing is converted while it is
judged. Names follow the OpenTelemetry GenAI conventions. Units: milliseconds, US dollars, RFC 3339 in UTC.
Unknown is None and never 0: a recorder that writes cost 0 together with metered tokens did not know the
price.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, get_args

from msgspec import Struct, field

from evalgate.models.trace.actors import ROOT, is_helper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EvidenceKind = Literal["messages", "calls", "arguments", "results", "usage", "cost", "times", "errors"]
EvidenceState = Literal["complete", "partial", "missing"]
KINDS: tuple[EvidenceKind, ...] = get_args(EvidenceKind)

NO_GAPS: Mapping[EvidenceKind, str] = {}
"""The gaps of a trace are the kinds of evidence that may be incomplete, each with the reason."""

SCHEMA = "evalgate.trace/1"
MAX_ID_LENGTH = 512
AGENT_COMMAND = "evalgate.command"
"""The metadata that names the command of a recorded agent, after options of `record` and `--` if it has any."""
BASE_URLS = "evalgate.base_urls"
"""The metadata that names the providers of a recording whose address was not their own default, as NAME or NAME=URL."""
MODEL_SETTINGS = "evalgate.model_settings"
"""The metadata that names the settings of the main agent's requests, as NAME=VALUE; `unset` if they have none."""

OTHER_AGENTS = "evalgate.agents"
"""The metadata that has the instructions and tools of each agent of a recording but the main one."""

Role = Literal["system", "user", "assistant", "tool"]
CallStatus = Literal["ok", "error", "missing", "unknown"]
"""`missing`: no result is recorded. `unknown`: one is, and nothing says whether it is that of a failure."""
RunStatus = Literal["ok", "error", "incomplete"]
Requestor = Literal["assistant", "user"]
UsageSource = Literal["recorded_total", "inference_sum", "agent_span", "none"]
CostSource = Literal["recorded", "computed", "partial", "unknown"]
LatencySource = Literal["span", "timestamps", "recorded", "none"]


class CallRef(TypedDict):
    """A tool call as requested in a message."""

    id: str | None
    name: str
    arguments: Any


class Message(TypedDict):
    """One message of the conversation; `turn` counts user inputs from 1 (0 before the first)."""

    index: int
    turn: int
    role: Role
    content: str | None
    tool_calls: list[CallRef]
    tool_name: str | None
    tool_call_id: str | None
    timestamp: str | None
    name: str | None
    agent: str | None
    actor: str | None
    model: str | None
    reasoning: str | None
    finish_reason: str | None
    parts: list[dict[str, Any]] | None  # kept only if text and tool calls are not the whole content


class ErrorInfo(TypedDict):
    """An error, as recorded."""

    type: str | None
    message: str | None


class ModelError(ErrorInfo):
    """The failure of a request to a model; `status_code` is the HTTP status of the provider's answer."""

    status_code: int | None


class CallVersion(TypedDict):
    """The name and the arguments of a call, as one of two records of it has them."""

    name: str
    arguments: Any


class ToolCall(TypedDict):
    """One tool call: its request and its result.

    `requested` and `executed` are set only where the trace records both and they differ: what the model asked for,
    and what ran, whose name and arguments are those of the call.

    `step` is the number of the model response that requested it: calls of one step were made in parallel.
    `arguments` is None if none were captured; `arguments_error` is the reason why raw text is not JSON.
    `actor` is who made it (see models.trace.actors), None if unknown, and `agent` that one's name as recorded;
    `started_by` is the index of the call that started this actor.
    """

    index: int
    turn: int
    step: int
    id: str | None
    name: str
    arguments: Any
    arguments_raw: str | None
    arguments_error: str | None
    result: Any
    result_text: str | None
    status: CallStatus
    error: ErrorInfo | None
    exit_code: int | None
    duration_ms: float | None
    started_at: str | None
    requestor: Requestor
    agent: str | None
    actor: str | None
    started_by: int | None
    requested: NotRequired[CallVersion]
    executed: NotRequired[CallVersion]


class LlmCall(TypedDict):
    """One request to a model; `error` is present only if it failed."""

    index: int
    turn: int
    step: int
    provider: str | None
    model: str | None
    response_id: str | None
    usage: Usage | None
    cost_usd: float | None
    duration_ms: float | None
    finish_reason: str | None
    error: NotRequired[ModelError]


class Usage(TypedDict):
    """Numbers of tokens: input INCLUDES cache, output INCLUDES reasoning; None is unknown.

    `doubt` says why, until the trace is read in full: then it is one of its warnings.
    """

    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cache_read_input_tokens: int | None
    cache_write_input_tokens: int | None
    reasoning_output_tokens: int | None
    source: UsageSource
    doubt: NotRequired[Warning_]


class Cost(TypedDict):
    """Cost of the agent's own model calls in US dollars (no user simulator, no judge).

    `computed` is tokens times the prices of `price_table`. `partial`: some of the models have no price, and
    `known_usd` is the cost of the others. `note` is the reason if `usd` is None and the tokens are known.
    """

    usd: float | None
    source: CostSource
    price_table: NotRequired[str | None]
    known_usd: NotRequired[float | None]
    note: NotRequired[str | None]


class Latency(TypedDict):
    """Duration of the whole run in milliseconds."""

    total_ms: float | None
    source: LatencySource


class TraceScore(TypedDict):
    """A score that a benchmark, a judge or a person left in the trace."""

    name: str
    score_value: float | None
    score_label: str | None
    explanation: str | None
    source: str | None


class FileState(TypedDict, total=False):
    """A file after the run; without `change` it is as it was.

    `kind` is `file` unless given, else `link` or `other`, which are never opened. `sha256` is its digest, `was` the one
    before, `bytes` its size, `text` its content if that is short text, `diff` a unified difference.
    """

    change: Literal["added", "removed", "changed"]
    kind: Literal["file", "link", "other"]
    bytes: int
    sha256: str
    was: str
    text: str
    diff: str


OPERATIONS = ("add", "remove", "replace")
"""Operations of a difference; those of RFC 6902 that others can express are not read."""


class RunState(TypedDict, total=False):
    """What there was `before` and `after` a run, as JSON: rows of a database, say; a value of None is JSON's null.

    `diff` is the difference of the two as RFC 6902 writes it. It may know of more than they show, which are masked.
    `files` are by path. `outage` says why the state is not known: then nothing of the run is measured.
    """

    before: Any
    after: Any
    diff: list[dict[str, Any]]
    files: dict[str, FileState]
    outage: str


class Response(TypedDict):
    """The final answer: the last assistant message with text, not necessarily the last message."""

    content: str | None
    finish_reason: str | None
    message_index: int | None


class Warning_(TypedDict):  # noqa: N801  (Warning is Python's own)
    """A warning about the trace for readers of the verdict."""

    code: str
    message: str
    where: str | None


OPAQUE = "opaque_agent"
"""The code of a warning that names, in `where`, an agent of which nothing is recorded (see measures.opaque_agents)."""
OPAQUE_START = "nothing is recorded of what "
"""Begins the reason of the gap that such agents are."""


IGNORED_FIELD = "ignored_field"
"""The code of a warning that names, in `where`, a field that the suite ignores."""


def describe_ignored(path: str) -> str:
    """The warning of a field that was left out."""
    return f"`{path}` is left out: the suite ignores it"


class TraceLocation(Struct):
    """Where a trace was read; `line` counts from 1 in JSON lines, `record` from 0 in a document of many."""

    path: str = ""
    format: str = ""
    line: int | None = None
    record: int | None = None
    sha256: str | None = None


def format_place(path: str, line: int | None, record: int | None) -> str:
    """Where a trace is, as `evalgate show` accepts it: FILE, FILE:LINE, and FILE#N for the N-th of a document.

    >>> format_place("a.json", None, 101), format_place("a.jsonl", 7, None)
    ('a.json#102', 'a.jsonl:7')
    """
    lined = path if line is None else f"{path}:{line}"
    return lined if record is None else f"{lined}#{record + 1}"


def unknown_usage() -> Usage:
    """The usage of a trace that was not metered."""
    return {
        "input_tokens": None,
        "output_tokens": None,
        "total_tokens": None,
        "cache_read_input_tokens": None,
        "cache_write_input_tokens": None,
        "reasoning_output_tokens": None,
        "source": "none",
    }


def unknown_cost() -> Cost:
    """The cost of a trace that does not record it."""
    return {"usd": None, "source": "unknown"}


def unknown_latency() -> Latency:
    """The latency of a trace that does not record it."""
    return {"total_ms": None, "source": "none"}


class ToolKinds(Struct, frozen=True):
    """Tools of which a suite says that they are look-ups, or change something, whatever their names say; with `*`."""

    lookups: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()


NO_KINDS = ToolKinds()


class Trace(Struct):
    """One recorded run of an agent. Everything but the messages may be unknown."""

    trace_id: str
    messages: list[Message]
    tool_calls: list[ToolCall]
    response: Response
    scenario_id: str | None = None
    trial: int | None = None
    conversation_id: str | None = None
    name: str | None = None
    agent: dict[str, Any] | None = None
    provider: str | None = None
    model: str | None = None
    status: RunStatus = "ok"
    error: ErrorInfo | None = None
    stopped_by: str | None = None
    """What ended an incomplete run, if that is recorded: a limit of turns, steps, cost, time or length, or a person's
    answer that it waits for. What it did until then is all that it did; of any other incomplete run that is unknown."""
    finish_reason: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    system_instructions: str | None = None
    tool_definitions: list[dict[str, Any]] = field(default_factory=list)
    tool_kinds: ToolKinds = NO_KINDS
    """What the suite that it is judged by says of its tools; no part of the recording."""
    llm_calls: list[LlmCall] = field(default_factory=list)
    usage: Usage = field(default_factory=unknown_usage)
    cost: Cost = field(default_factory=unknown_cost)
    latency: Latency = field(default_factory=unknown_latency)
    evaluations: list[TraceScore] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    commit: str | None = None
    agent_hash: str | None = None
    source: TraceLocation = field(default_factory=TraceLocation)
    warnings: list[Warning_] = field(default_factory=list)
    gaps: Mapping[EvidenceKind, str] = field(default_factory=lambda: NO_GAPS)
    """Evidence that may be incomplete, with the reason and how to record it, by its kind."""
    state: RunState | None = None
    """What the run left behind, if that was recorded."""
    other_spans: list[str] = field(default_factory=list)
    """The names of recorded spans that are no call of a tool: functions, chains, retrievers, events."""
    kept_view: Any = None  # see trace_view.get_view
    pricing: Any = None
    """How the cost was computed (a models.trace.pricing.Pricing); None if it was not."""
    identity: Any = None
    """Digests in which it differs from other traces, once they are needed (see evaluation.trace_identity)."""
    record: Any = None
    """The record as it was read, if a baseline keeps that."""
    baseline: Any = None
    """The results of the same scenario in the baseline (a ScenarioDoc), while the trace is judged."""

    def take_kinds(self, kinds: ToolKinds) -> None:
        """Is judged by what a suite says of its tools from here on."""
        if kinds != self.tool_kinds:
            self.tool_kinds, self.kept_view = kinds, None  # where arguments come from depends on it

    @property
    def turn_count(self) -> int:
        """Number of user inputs in the conversation."""
        return self.messages[-1]["turn"] if self.messages else 0

    @property
    def first_request(self) -> str | None:
        """What the user asked for first in the run; None without a text."""
        texts = (message["content"] for message in self.messages if message["role"] == "user" and message["turn"])
        return next(filter(None, texts), None)

    @property
    def called(self) -> list[str]:
        """The names of the agent's own calls, in order."""
        return [call["name"] for call in self.agent_calls]

    @property
    def called_names(self) -> list[tuple[str, ...]]:
        """All names of each of the agent's own calls: of what ran, and of what was asked for if that differs."""
        return [list_names(call) for call in self.agent_calls]

    @property
    def call_count(self) -> int | None:
        """Number of the agent's own calls; None if none is known and some may not be recorded."""
        return len(self.called) or (None if "calls" in self.gaps else 0)

    @property
    def agent_calls(self) -> list[ToolCall]:
        """The agent's own calls, without those of a user simulator and those that only give a structure."""
        return [
            call
            for call in self.tool_calls
            if call["requestor"] == "assistant" and (call["actor"] == ROOT or not is_helper(call["actor"]))
        ]

    @property
    def helper_calls(self) -> list[ToolCall]:
        """Calls that only gave an answer a structure, as far as the recording shows: nothing executed them."""
        return [call for call in self.tool_calls if is_helper(call["actor"])]

    @property
    def scores(self) -> dict[str, float | None]:
        """Recorded scores by name; of several the one of the whole trace, else the lowest."""
        if not self.evaluations:
            return {}
        return {found["name"]: found["score_value"] for found in sorted(self.evaluations, key=_precedence)}


def list_names(call: ToolCall) -> tuple[str, ...]:
    """The name of what ran, then that of what was asked for if it is another."""
    requested = call.get("requested")
    return (
        (call["name"],) if requested is None or requested["name"] == call["name"] else (call["name"], requested["name"])
    )


def list_arguments(call: ToolCall) -> list[Any]:
    """The arguments of what ran, then those of what was asked for if they differ."""
    requested = call.get("requested")
    return [call["arguments"]] if requested is None else [call["arguments"], requested["arguments"]]


def _precedence(found: TraceScore) -> tuple[bool, bool, float]:
    """Sort key; the score to use is last: a number over none, the whole trace's over a part's, the lower."""
    value = found["score_value"]
    return value is not None, found["source"] in (None, "trace"), -(value or 0.0)


class DamagedTrace(Struct):
    """A record that can't be read: becomes an `error` trial; the other records are still judged.

    `scenario_id` is its scenario, if that could be read; otherwise `fallback_id` is used. `nearest` are the formats
    whose fields a file of unknown format has.
    """

    reason: str
    source: TraceLocation
    fallback_id: str = ""
    scenario_id: str | None = None
    trial: int | None = None
    nearest: Sequence[str] = ()


TraceRecord = Trace | DamagedTrace
