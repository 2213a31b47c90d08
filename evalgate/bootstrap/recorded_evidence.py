"""Makes the file of a trial from all that was recorded of it: model calls, spans, and what the agent wrote itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.errors import SettingError, TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.adapters.formats.received.receiver import TrialSpans
    from evalgate.models.recording.exchange import TrialId
    from evalgate.models.trace.trace import Trace

NATIVE, OTLP = ".jsonl", ".otlp.jsonl"
MAX_SHOWN = 5


class TrialEvidence(Struct):
    """What was recorded of one trial; `calls` is the trace of its model calls, `own` the one that the agent wrote.

    `failure` is why the agent's process failed, if it did.
    """

    trial: TrialId
    failure: str | None = None
    calls: Trace | None = None
    spans: TrialSpans | None = None
    own: Trace | None = None

    @property
    def span_count(self) -> int:
        """Number of spans."""
        return 0 if self.spans is None else self.spans.span_count


def build_file(
    evidence: TrialEvidence, origin: Mapping[str, str | None], note: Callable[[str], None]
) -> tuple[str, bytes] | None:
    """The end of the file's name and its content without secrets; None if nothing was recorded.

    Model calls come first, then what the agent wrote, then spans; the others add times and errors of tools. Spans of
    which some were lost make no file: what is missing would look as if it had not happened.
    """
    measured, problems = _read_spans(evidence)
    trace = evidence.calls or evidence.own
    for problem in dict.fromkeys(problems):
        note(f"{evidence.trial}: {problem}")
    if trace is None:
        if not measured or problems:
            return None
        _note_missing_content(evidence.trial, measured, note)
        if evidence.failure is not None:  # spans have no place for it
            for one in measured:
                _mark_failed(one, evidence.failure)
            return NATIVE, b"".join(map(_encode, measured))
        from evalgate.adapters.formats.received.receiver import encode_lines

        return OTLP, encode_lines(evidence.spans, evidence.trial, origin)  # type: ignore[arg-type]
    own = None if evidence.own is trace else evidence.own
    _add_others(trace, measured if own is None else [own, *measured])
    if own is not None and own.status == "error" and trace.status != "error":
        trace.status, trace.error = "error", own.error
    if evidence.failure is not None:
        _mark_failed(trace, evidence.failure)
    return NATIVE, _encode(trace)


def _mark_failed(trace: Trace, failure: str) -> None:
    if trace.status != "error":
        trace.status, trace.error = "error", {"type": None, "message": failure}


def read_own_trace(document: Any, trial: TrialId) -> Trace | None:
    """The trace that the agent's recorder sent at the end of a scenario; None for one without any content.

    Raises SettingError for a damaged one, and for one of another scenario.
    """
    from evalgate.adapters.formats.native import reader

    if document is None:
        return None
    try:
        trace = reader.build(document)
    except TraceError as error:
        raise SettingError(f"the trace of {trial} is damaged: {error}") from None
    if (trace.scenario_id, trace.trial) != (trial.scenario, trial.trial):
        raise SettingError(f"the trace is not that of {trial}")
    is_empty = not trace.messages and not trace.llm_calls and trace.status == "ok"
    return None if is_empty else trace


def _read_spans(evidence: TrialEvidence) -> tuple[list[Trace], list[str]]:
    """The traces of the spans, and why others are missing."""
    if evidence.spans is None:
        return [], []
    from evalgate.adapters.formats.received.receiver import build_traces

    if not evidence.spans.records:
        return [], evidence.spans.problems
    traces, damaged = build_traces(evidence.spans, evidence.trial)
    return traces, [*evidence.spans.problems, *damaged]


def _note_missing_content(trial: TrialId, traces: Sequence[Trace], note: Callable[[str], None]) -> None:
    from evalgate.adapters.formats.received.receiver import find_missing_content

    for reason in find_missing_content(traces)[:MAX_SHOWN]:
        note(f"{trial}: spans came without content: {reason}")


def _add_others(trace: Trace, others: Sequence[Trace]) -> None:
    """Adds what other recordings of the same run know of tools: times, errors, and calls that no model asked for."""
    from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
    from evalgate.adapters.formats.core.strict_json import make_printable
    from evalgate.adapters.formats.received.tool_facts import add_tool_facts

    add_tool_facts(trace, others)
    known = {call["name"] for call in trace.tool_calls}
    unknown = sorted({call["name"] for one in others for call in one.tool_calls} - known)
    if unknown:
        add_gap(
            trace, "calls", f"`{make_printable(unknown[0])}` ran as the agent recorded, but no model call asked for it"
        )


def _encode(trace: Trace) -> bytes:
    import orjson

    from evalgate.adapters.formats.writers import redact_trace
    from evalgate.models.trace.trace_document import encode_trace

    return orjson.dumps(encode_trace(redact_trace(trace)), option=orjson.OPT_APPEND_NEWLINE)
