"""Builds the reader of `format: custom` from the expressions of a suite."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from evalgate.adapters.formats.core.builder.conversation import get_instructions
from evalgate.adapters.formats.core.builder.evidence_gaps import MAX_FIELDS, add_gap, shorten
from evalgate.adapters.formats.core.builder.run import set_final_response, warn_of_missing_results
from evalgate.adapters.formats.core.builder.run_end import add_recorded_end
from evalgate.adapters.formats.core.fields import (
    END_FIELDS,
    FieldError,
    amount,
    any_value,
    count,
    identifier,
    mapping,
    milliseconds_between,
    number,
    read_timestamp,
    text,
    whole_number,
)
from evalgate.adapters.formats.core.format import Format, Identity, Reader, build_identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.token_rules import RULES
from evalgate.adapters.formats.core.usage import (
    build_score,
    build_usage,
    finish_reason,
    read_cost_usd,
    to_milliseconds,
)
from evalgate.adapters.formats.custom.conversations import (
    NOTHING,
    FieldExpression,
    build_conversation,
    check_value,
    describe_expression,
    find_value,
    read_text,
    require_list,
)
from evalgate.adapters.formats.custom.entries import EntryReader, find_type
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Latency, Trace, Usage, unknown_usage
from evalgate.suite.models import CUSTOM, CustomMapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.core.builder.conversation import Conversation

NO_CALLS = "`custom` does not say where tool calls are: set `tool_calls.path`, or `messages`"
NO_CALL_TYPES = "`custom` does not say where tool calls are: set `types.call`, or `message.tool_calls`"
UNKNOWN_TYPES = "entries that may be calls are of a type that `custom.types` does not name:"
TYPES_ADVICE = "name it as `call`, or as `ignore` if it holds no calls"
STATUSES = frozenset({"ok", "error", "incomplete"})
TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "total_tokens")


def make_format(custom: CustomMapping) -> Format:
    """The format that one suite describes; it is never detected, only chosen."""
    divide = split_lines if custom.joins_lines else split
    reader = Reader(
        build=partial(build, custom), identify=partial(identify, custom), shapes=(), split=partial(divide, custom)
    )
    needs = "the fields that `custom` describes"
    return Format(CUSTOM, needs, lambda _: True, joins_lines=custom.joins_lines, own_reader=reader)


def split(custom: CustomMapping, document: Any) -> Sequence[Any]:
    """The runs of a document; raises TraceError if the expression finds none."""
    if custom.records is None:
        return document if isinstance(document, list) else [document]
    require_shallow(document)
    where = describe_expression("records", custom.records)
    found = find_value(custom.records, document, where)
    if found is None:
        raise FieldError(where, NOTHING)
    return check_value(found, require_list, where)


def split_lines(custom: CustomMapping, documents: Any) -> Sequence[Any]:
    """The runs of a file, each a list of its lines; raises TraceError for a line that is of no run."""
    lines = documents[0] if len(documents) == 1 and isinstance(documents[0], list) else documents
    if custom.run_id is None:
        return [lines]
    runs: dict[str, list[Any]] = {}
    for index, line in enumerate(lines, 1):
        require_shallow(line)
        location = f" of line {index}"
        found = _find_run_id(custom, line, location)
        if found is not None:
            runs.setdefault(found, []).append(line)
        elif not _is_ignored(custom, line, location):
            raise FieldError(f"{describe_expression('run_id', custom.run_id)}{location}", NOTHING)
    return list(runs.values())


def _find_run_id(custom: CustomMapping, line: Any, location: str = "") -> str | None:
    queries = {} if custom.run_id is None else {"run_id": custom.run_id}
    return FieldExpression(queries, line, "", location).get("run_id", identifier)


def _is_ignored(custom: CustomMapping, line: Any, location: str) -> bool:
    name = None if custom.entries is None else find_type(custom.entries, line, location)
    return custom.entries is not None and name is not None and custom.entries.find_kind(name) == "ignore"


def identify(custom: CustomMapping, record: Any) -> Identity:
    """Scenario id and trial, if their expressions find them."""
    run = FieldExpression(custom.run, record)
    try:
        return build_identity(run.get("scenario_id", any_value), run.get("trial", any_value))
    except TraceError:
        return None, None


def build(custom: CustomMapping, record: Any) -> Trace:
    """One run; raises TraceError that names the expression and what it found."""
    require_shallow(record)
    run = FieldExpression(custom.run, record)
    conversation, unknown = _read_conversation(custom, run, record)
    if not conversation.messages:
        raise TraceError("`custom` finds no message, call or response in this run")
    trace = Trace(
        run.get("id", identifier) or (_find_run_id(custom, record[0]) if custom.run_id else None) or "",
        conversation.messages,
        conversation.calls,
        conversation.get_response(),
        scenario_id=run.get("scenario_id", identifier),
        trial=run.get("trial", whole_number),
        provider=run.get("provider", text),
        model=run.get("model", text),
        finish_reason=finish_reason(run.get("finish_reason", text)),
        started_at=run.get("started_at", read_timestamp),
        ended_at=run.get("ended_at", read_timestamp),
        system_instructions=get_instructions(conversation.messages),
        tags=run.get("tags", _read_tags) or [],
        metadata=run.get("metadata", mapping) or {},
        warnings=[*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)],
    )
    answer = run.get("response", read_text)
    if answer != trace.response["content"]:
        set_final_response(trace, answer)
    if isinstance(record, dict) and END_FIELDS.isdisjoint(custom.run):
        add_recorded_end(trace, record)
    _add_end(trace, run)
    _add_measurements(trace, run)
    for reason in _find_gaps(custom, unknown):
        add_gap(trace, "calls", reason)
    return trace


def _read_conversation(custom: CustomMapping, run: FieldExpression, record: Any) -> tuple[Conversation, Sequence[str]]:
    """The conversation of a run, and the types of its entries that the suite does not name."""
    if custom.entries is None:
        return build_conversation(custom, run, record), ()
    reader = EntryReader(custom, custom.entries)
    reader.read(record)
    return reader.conversation, list(reader.unknown)


def _find_gaps(custom: CustomMapping, unknown: Sequence[str]) -> Iterator[str]:
    """Why calls of a run may be missing: nothing says where they are, or types of entries are unknown."""
    is_open = not custom.has_no_tools
    if is_open and custom.entries is None and custom.calls is None and "messages" not in custom.run:
        yield NO_CALLS
    if is_open and custom.entries is not None and not custom.entries.has_calls:
        yield NO_CALL_TYPES
    if unknown:
        shown = ", ".join(f"`{shorten(name)}`" for name in unknown[:MAX_FIELDS])
        more = f" and {len(unknown) - MAX_FIELDS} more" if len(unknown) > MAX_FIELDS else ""
        yield f"{UNKNOWN_TYPES} {shown}{more}: {TYPES_ADVICE}"


def _read_tags(value: Any, path: str) -> list[str]:
    """A list of words; each entry of an object becomes `key:value`."""
    if isinstance(value, dict):
        return [f"{key}:{item}" for key, item in value.items() if isinstance(item, str | int | float)]
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise FieldError(path, "is neither a list of text nor an object")


def _read_scores(value: Any, path: str) -> dict[str, float | None]:
    """An object of numbers; true and false are 1 and 0."""
    return {
        name: float(score) if isinstance(score, bool) else number(score, path)
        for name, score in mapping(value, path).items()
        if name
    }


def _read_status(value: Any, path: str) -> str:
    if not isinstance(value, str) or value not in STATUSES:
        raise FieldError(path, f"is not one of {', '.join(sorted(STATUSES))}")
    return value


def _add_end(trace: Trace, run: FieldExpression) -> None:
    error = run.get("error", read_text)
    if error:
        trace.status, trace.error = "error", {"type": None, "message": error}
    trace.status = cast("Any", run.get("status", _read_status)) or trace.status


def _add_measurements(trace: Trace, run: FieldExpression) -> None:
    trace.usage = _read_usage(run)
    trace.cost, warnings = read_cost_usd(run.get("cost_usd", amount), trace.usage, "custom.cost_usd")
    trace.warnings += warnings
    trace.latency = _read_latency(trace, run)
    for name, score in (run.get("scores", _read_scores) or {}).items():
        trace.evaluations.append(build_score(name, score, "custom.scores"))


def _read_usage(run: FieldExpression) -> Usage:
    input_tokens, output_tokens, cached, total = (run.get(name, count) for name in TOKENS)
    parts = {"input_tokens": input_tokens, "output_tokens": output_tokens, "total_tokens": total}
    if cached is None and not any(number is not None for number in parts.values()):
        return unknown_usage()
    return build_usage({**parts, "cache_read_input_tokens": cached}, RULES["custom"])


def _read_latency(trace: Trace, run: FieldExpression) -> Latency:
    """The recorded latency, else the time from start to end if both are found."""
    took, seconds = run.get("latency_ms", amount), run.get("latency_seconds", amount)
    if took is None and seconds is not None:
        took = to_milliseconds(seconds)
    if took is not None:
        return {"total_ms": took, "source": "recorded"}
    took = milliseconds_between(trace.started_at, trace.ended_at)
    return {"total_ms": took, "source": "none" if took is None else "timestamps"}
