"""Reads LangSmith runs: exported, nested or flat, and the batches its SDK sends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap, find_unknown, note_unknown
from evalgate.adapters.formats.core.builder.run import read_tags
from evalgate.adapters.formats.core.builder.run_end import mark_incomplete
from evalgate.adapters.formats.core.builder.side_fields import (
    drop_recorder_keys,
    identify_by_metadata,
    set_scenario_and_trial,
)
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    dict_or_empty,
    do_each,
    listing,
    mapping,
    number,
    read_at,
    required_text,
    text,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, words
from evalgate.adapters.formats.core.missing_rest import find_missing_rest
from evalgate.adapters.formats.core.provider_response import (
    LANGCHAIN_USAGE,
    ProviderResponse,
    read_detail,
    read_provider_response,
)
from evalgate.adapters.formats.core.strict_json import make_printable, require_shallow
from evalgate.adapters.formats.core.usage import TokenTable, build_score
from evalgate.adapters.formats.messages.sniff_messages import read_exchange
from evalgate.adapters.formats.spans import assemble
from evalgate.adapters.formats.spans.dialects.platforms import add_tool_exchange
from evalgate.adapters.formats.spans.encodings.values import parse_time
from evalgate.adapters.formats.spans.run_status import mark_span_failure
from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import Trace, TraceScore, Usage

KINDS: dict[str, SpanKind] = {"llm": "inference", "tool": "tool", "embedding": "excluded"}
RUN_HOLDERS = words("""
    inputs outputs extra events child_runs serialized tags feedback feedback_stats manifest attachments
    child_run_ids direct_child_run_ids parent_run_ids prompt_token_details completion_token_details
    prompt_cost_details completion_cost_details s3_urls inputs_s3_urls outputs_s3_urls
""")
SHAPES = (Shape(("runs", EACH), RUN_HOLDERS, words("llm chain tool retriever embedding prompt parser"), "run_type"),)
DECIMAL_PATTERN = re.compile(r"\d{1,9}(\.\d{1,30})?([eE]-?\d{1,2})?")
START_PATTERN = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{6})Z")


def span_from_run(run: dict[str, Any]) -> Span:
    """The span of a run; raises FieldError."""
    error = text(run.get("error"), "error")
    return Span(
        text(run.get("trace_id"), "trace_id") or "",
        required_text(run.get("id"), "id"),
        text(run.get("parent_run_id"), "parent_run_id") or _parent_id(run.get("dotted_order")),
        text(run.get("name"), "name") or "",
        _start_time(run),
        parse_time(run.get("end_time"), "end_time"),
        {key: value for key, value in run.items() if key not in {"child_runs", "events", "serialized"}},
        has_failed=bool(error),
        status_message=error or None,
    )


def read_facts(span: Span) -> SpanFacts:
    """Reads facts from a run; only the outermost chain is the agent, the others repeat their parts."""
    run = span.attributes
    kind = KINDS.get(str(run.get("run_type")), "other")
    if kind == "other" and span.parent_id is None:
        kind = "agent"
    library = read_at(run, "extra.runtime", mapping).get("library")
    facts = SpanFacts(kind, framework=_text_or_none(library) if library != "langsmith" else None)
    if kind == "inference":
        _add_answer(facts, run)
    elif kind == "tool":
        facts.tool_name = span.name or None
        add_tool_exchange(facts, run.get("inputs"), run.get("outputs"))
    elif kind == "agent":
        facts.agent = span.name or None
        facts.usage = COLUMNS.read_if_counted(run, "")
    if kind in ("inference", "agent"):
        facts.input, facts.output = read_exchange(run.get("inputs"), run.get("outputs"))
        facts.cost_usd = _read_cost(run)
    if span.has_failed:
        facts.error_type = (span.status_message or "").partition("(")[0][:80].strip() or "error"
    return facts


def _add_answer(facts: SpanFacts, run: dict[str, Any]) -> None:
    metadata, settings = (read_at(run, f"extra.{key}", mapping) for key in ("metadata", "invocation_params"))
    outputs = run.get("outputs")
    answer = read_provider_response(outputs)
    inner = _read_generation(outputs)
    asked = next((value for value in (metadata.get("ls_model_name"), settings.get("model")) if value), None)
    facts.provider = _text_or_none(metadata.get("ls_provider"))
    facts.model = answer.model or inner.model or _text_or_none(asked)
    facts.response_id = answer.id or inner.id
    facts.finish_reason = answer.finish_reason or inner.finish_reason
    facts.usage = answer.usage or inner.usage
    if facts.usage is None:
        facts.usage, facts.is_metered = COLUMNS.read_if_counted(run, ""), False


def _read_generation(outputs: Any) -> ProviderResponse:
    """Reads LangChain's form of a response: a message, or the first generation's message."""
    value = outputs.get("output", outputs) if isinstance(outputs, dict) else None
    listed = value.get("generations") if isinstance(value, dict) else None
    info: dict[str, Any] = {}
    while isinstance(listed, list) and listed:
        listed = listed[0]
    if isinstance(listed, dict):
        info = dict_or_empty(listed.get("generation_info"))
        value = listed.get("message")
    message = dict_or_empty(value)
    message = dict_or_empty(message.get("kwargs", message.get("data", message)))
    metadata = dict_or_empty(message.get("response_metadata"))
    usage = dict_or_empty(message.get("usage_metadata"))
    return ProviderResponse(
        _text_or_none(metadata.get("id", message.get("id"))) if metadata else None,
        _text_or_none(metadata.get("model_name", metadata.get("model"))),
        _read_usage(usage),
        _text_or_none(metadata.get("finish_reason", metadata.get("stop_reason", info.get("finish_reason")))),
    )


def _read_usage(usage: dict[str, Any]) -> Usage | None:
    try:
        return LANGCHAIN_USAGE.read(usage, "usage_metadata") if usage else None
    except FieldError:
        return None


COLUMNS = TokenTable(
    "langsmith",
    input_tokens="prompt_tokens",
    output_tokens="completion_tokens",
    total_tokens="total_tokens",
    cache_read_input_tokens=(read_detail("cache_read"), "prompt_token_details"),
    cache_write_input_tokens=(read_detail("cache_creation"), "prompt_token_details"),
    reasoning_output_tokens=(read_detail("reasoning"), "completion_token_details"),
)
"""The run's tokens, which the platform may have counted."""


def _read_cost(run: dict[str, Any]) -> float | None:
    """The cost in US dollars, from a number or decimal text."""
    cost = run.get("total_cost")
    if isinstance(cost, str):
        if not DECIMAL_PATTERN.fullmatch(cost):
            raise FieldError("total_cost", "is not an amount")
        cost = float(cost)
    return amount(cost, "total_cost")


def _start_time(run: dict[str, Any]) -> int | None:
    """Start time; the JavaScript SDK's milliseconds lose the order that `dotted_order` keeps."""
    began = run.get("start_time")
    order = START_PATTERN.match(str(run.get("dotted_order") or "").rpartition(".")[2])
    if isinstance(began, int) and order is not None:
        day, clock = "-".join(order.groups()[:3]), ":".join(order.groups()[3:6])
        return parse_time(f"{day}T{clock}.{order[7]}Z", "dotted_order")
    return parse_time(began, "start_time")


def _parent_id(order: Any) -> str | None:
    """The parent run's id, from `dotted_order`."""
    above = order.rpartition(".")[0] if isinstance(order, str) else ""
    return above.rpartition(".")[2].partition("Z")[2] or None


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


EXAMPLE_KEY = "reference_example_id"
THREAD_KEYS = ("thread_id", "conversation_id", "session_id")


class RunTree(NamedTuple):
    """The runs of one trace; `missing` says why others may be missing, if the file says so."""

    runs: list[dict[str, Any]]
    missing: str | None = None

    @property
    def root(self) -> dict[str, Any]:
        """The run without a parent among them; the earliest if there are several."""
        known = {run.get("id") for run in self.runs if isinstance(run.get("id"), str)}
        tops = [run for run in self.runs if not isinstance(one := run.get("parent_run_id"), str) or one not in known]
        return min(tops or self.runs, key=lambda run: str(run.get("dotted_order") or run.get("start_time")))


def split(documents: list[Any]) -> Sequence[RunTree]:
    """Groups runs by trace; later updates of a run overwrite earlier values."""
    runs: dict[str, dict[str, Any]] = {}
    for run in _iter_runs(documents):
        run_id = _run_id(run)
        merged = runs.setdefault(run_id, {"id": run_id})
        merged.update({key: value for key, value in run.items() if value is not None and key != "id"})
    traces: dict[str, list[dict[str, Any]]] = {}
    for run in runs.values():
        traces.setdefault(_trace_id(run, runs), []).append(run)
    missing = find_missing_rest(documents)
    return [RunTree(found, missing) for found in traces.values()]


def build(record: RunTree) -> Trace:
    """Builds one trace."""
    for run in record.runs:
        require_shallow({key: value for key, value in run.items() if key != "child_runs"})
    spans: list[Span] = []
    do_each(record.runs, "runs", lambda run: spans.append(span_from_run(run)))
    root = record.root
    trace = assemble.build(spans, read_facts)
    metadata = read_at(root, "extra.metadata", mapping)
    trace.trace_id = text(root.get("trace_id"), "trace_id") or required_text(root.get("id"), "id")
    trace.name = text(root.get("name"), "name")
    trace.tags = read_tags(root.get("tags"), "tags")
    set_scenario_and_trial(trace, {**metadata, EXAMPLE_KEY: root.get(EXAMPLE_KEY)}, EXAMPLE_KEY)
    trace.metadata = drop_recorder_keys(metadata)
    thread = next((metadata[key] for key in THREAD_KEYS if isinstance(metadata.get(key), str)), None)
    trace.conversation_id = trace.conversation_id or thread
    trace.evaluations += _feedback(root)
    error = text(root.get("error"), "error")
    if error and trace.status == "ok":
        mark_span_failure(trace, None, error)
    elif root.get("end_time") is None and trace.status == "ok":
        mark_incomplete(trace, "the run has no end time: it was stopped, or exported before it ended")
    note_unknown(trace, find_unknown({"runs": record.runs}, SHAPES))
    if record.missing:
        add_gap(trace, "calls", record.missing)
    return trace


def identify(record: RunTree) -> Identity:
    """Scenario and trial from the root's metadata, else the id of the data set's example."""
    root = record.root
    known = dict_or_empty(dict_or_empty(root.get("extra")).get("metadata"))
    return identify_by_metadata({**known, EXAMPLE_KEY: root.get(EXAMPLE_KEY)}, EXAMPLE_KEY)


def _iter_runs(documents: list[Any]) -> Iterator[dict[str, Any]]:
    """Yields every run within lists, batches and other runs."""
    waiting = list(reversed(documents))
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, dict) and ("id" in value or "dotted_order" in value):
            yield value
            children = value.get("child_runs")
            waiting += reversed(children) if isinstance(children, list) else []
        elif isinstance(value, dict):
            waiting += [value.get(key) for key in ("runs", "patch", "post") if value.get(key) is not None]


def _run_id(run: dict[str, Any]) -> str:
    """The id of a run; a patch may have it only in the last part of `dotted_order`."""
    run_id = run.get("id")
    if isinstance(run_id, str) and run_id:
        return run_id
    return str(run.get("dotted_order")).rpartition(".")[2].partition("Z")[2]


def _trace_id(run: dict[str, Any], runs: dict[str, dict[str, Any]]) -> str:
    """The run's trace id, or that of its nearest ancestor with one, else the id of the topmost run."""
    seen: set[str] = set()
    while not isinstance(run.get("trace_id"), str):
        parent = run.get("parent_run_id")
        if not isinstance(parent, str) or parent not in runs or parent in seen:
            return str(run["id"])
        seen.add(parent)
        run = runs[parent]
    return str(run["trace_id"])


def _feedback(root: dict[str, Any]) -> list[TraceScore]:
    """Scores of the run from users and evaluators: one by one, or averages by name."""
    found: list[TraceScore] = []

    def add(entry: dict[str, Any]) -> None:
        score, value = entry.get("score"), entry.get("value")
        grade = build_score(entry.get("key", ""), float(score) if isinstance(score, bool) else score, "")
        grade["score_label"] = value if isinstance(value, str) else None
        grade["explanation"] = text(entry.get("comment"), "comment")
        found.append(grade)

    do_each(listing(root.get("feedback"), "feedback"), "feedback", add)
    stats = {} if found else mapping(root.get("feedback_stats"), "feedback_stats")
    for name, entry in stats.items():
        path = f"feedback_stats.{make_printable(name)}"
        average = number(mapping(entry, path).get("avg"), f"{path}.avg")
        if average is not None:
            found.append(build_score(name, average, path))
    return found


READER = Reader(build=build, identify=identify, shapes=(), split=split, without_calls=frozenset({"events"}))
