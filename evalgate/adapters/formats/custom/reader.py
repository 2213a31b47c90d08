"""Builds the reader of `format: custom` from the expressions of a suite."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from evalgate.adapters.formats.core.build.conversation import first_instructions
from evalgate.adapters.formats.core.build.run_end import handed_in, missing_results
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    count,
    identifier,
    mapping,
    milliseconds_between,
    number,
    text,
    whole,
)
from evalgate.adapters.formats.core.format import Format, Identity, Reader, identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.timestamps import moment
from evalgate.adapters.formats.core.usage.usage_fields import (
    evaluation,
    finish_reason,
    milliseconds,
    recorded_cost,
    total_tokens,
)
from evalgate.adapters.formats.custom.conversations import converse, required_list, words
from evalgate.adapters.formats.custom.expressions import (
    NOTHING,
    FieldExpression,
    anything,
    checked,
    find,
    label,
)
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Latency, Trace, Usage, unknown_usage
from evalgate.suite.custom_format import CUSTOM, Custom

if TYPE_CHECKING:
    from collections.abc import Sequence

STATUSES = frozenset({"ok", "error", "incomplete"})
TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "total_tokens")


class CustomFormat(Format):
    """A format that one suite describes; it is never detected, only chosen."""

    __slots__ = ("_reader",)
    _reader: Reader

    def __init__(self, custom: Custom) -> None:
        super().__init__(CUSTOM, "what `custom` says", lambda _: True, "custom.reader")
        object.__setattr__(self, "_reader", _reader_of(custom))

    @property
    def reader(self) -> Reader:
        """The reader of the format."""
        return self._reader


def _reader_of(custom: Custom) -> Reader:
    return Reader(
        build=partial(build, custom), identify=partial(identify, custom), split=partial(split, custom)
    )


def format_of(custom: Custom) -> Format:
    """The format that reads files with the suite's expressions."""
    return CustomFormat(custom)


def split(custom: Custom, document: Any) -> Sequence[Any]:
    """The runs of a document; raises TraceError if the expression finds none."""
    if custom.records is None:
        return document if isinstance(document, list) else [document]
    require_shallow(document)
    where = label("records", custom.records)
    found = find(custom.records, document, where)
    if found is None:
        raise FieldError(where, NOTHING)
    return checked(found, required_list, where)


def identify(custom: Custom, record: Any) -> Identity:
    """Scenario id and trial, if their expressions find them."""
    run = FieldExpression(custom.run, record)
    try:
        return identity(run.get("scenario_id", anything), run.get("trial", anything))
    except TraceError:
        return None, None


def build(custom: Custom, record: Any) -> Trace:
    """One run; raises TraceError that names the expression and what it found."""
    require_shallow(record)
    run = FieldExpression(custom.run, record)
    conversation = converse(custom, run, record)
    if not conversation.messages:
        raise TraceError("`custom` finds neither a message, a call nor a response in this run")
    trace = Trace(
        run.get("id", identifier) or "",
        conversation.messages,
        conversation.calls,
        conversation.response(),
        scenario_id=run.get("scenario_id", identifier),
        trial=run.get("trial", whole),
        provider=run.get("provider", text),
        model=run.get("model", text),
        finish_reason=finish_reason(run.get("finish_reason", text)),
        started_at=run.get("started_at", moment),
        ended_at=run.get("ended_at", moment),
        system_instructions=first_instructions(conversation.messages),
        tags=run.get("tags", _tags) or [],
        metadata=run.get("metadata", mapping) or {},
        warnings=[*conversation.warnings(), *missing_results(conversation.calls)],
    )
    answer = run.get("response", words)
    if answer != trace.response["content"]:
        handed_in(trace, answer)
    _add_end(trace, run)
    _add_figures(trace, run)
    return trace


def _tags(value: Any, path: str) -> list[str]:
    """A list of words; each entry of an object becomes `key:value`."""
    if isinstance(value, dict):
        return [f"{key}:{said}" for key, said in value.items() if isinstance(said, str | int | float)]
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise FieldError(path, "is neither a list of text nor an object")


def _scores(value: Any, path: str) -> dict[str, float | None]:
    """An object of numbers; true and false are 1 and 0."""
    return {
        name: float(score) if isinstance(score, bool) else number(score, path)
        for name, score in mapping(value, path).items()
        if name
    }


def _status(value: Any, path: str) -> str:
    if not isinstance(value, str) or value not in STATUSES:
        raise FieldError(path, f"is none of {', '.join(sorted(STATUSES))}")
    return value


def _add_end(trace: Trace, run: FieldExpression) -> None:
    error = run.get("error", words)
    if error:
        trace.status, trace.error = "error", {"type": None, "message": error}
    trace.status = cast("Any", run.get("status", _status)) or trace.status


def _add_figures(trace: Trace, run: FieldExpression) -> None:
    trace.usage = _usage(run)
    trace.cost, warnings = recorded_cost(run.get("cost_usd", amount), trace.usage, "custom.cost_usd")
    trace.warnings += warnings
    trace.latency = _latency(trace, run)
    for name, score in (run.get("scores", _scores) or {}).items():
        trace.evaluations.append(evaluation(name, score, "custom.scores"))


def _usage(run: FieldExpression) -> Usage:
    input_tokens, output_tokens, cached, total = (run.get(name, count) for name in TOKENS)
    usage = unknown_usage()
    usage["input_tokens"], usage["output_tokens"] = input_tokens, output_tokens
    usage["cache_read_input_tokens"] = cached
    usage["total_tokens"] = total_tokens(usage) if total is None else total
    if usage != unknown_usage():
        usage["source"] = "recorded_total"
    return usage


def _latency(trace: Trace, run: FieldExpression) -> Latency:
    """The recorded latency, else the time from start to end if both are found."""
    took, seconds = run.get("latency_ms", amount), run.get("latency_seconds", amount)
    if took is None and seconds is not None:
        took = milliseconds(seconds)
    if took is not None:
        return {"total_ms": took, "source": "recorded"}
    took = milliseconds_between(trace.started_at, trace.ended_at)
    return {"total_ms": took, "source": "none" if took is None else "timestamps"}
