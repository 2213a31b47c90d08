"""The readers that make traces of what was recorded: of model calls, of spans, and of what an agent wrote itself.

Each is imported when it is needed: the agent starts meanwhile, and most agents send one of the three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.features.record.models.exchange import Exchange, TrialId
    from evalgate.features.record.models.run import ProcessRun, TrialSpans
    from evalgate.models.trace.trace import Trace


class TraceFormats:
    """Implements `TraceReaders`."""

    def build_trace(self, exchanges: Sequence[Exchange], run: ProcessRun) -> Trace:
        """The trace of model calls, which are at least one."""
        from evalgate.features.record.adapters.exchanges.trace import build_trace

        return build_trace(exchanges, run)

    def read_spans(self, spans: TrialSpans, trial: TrialId) -> tuple[list[Trace], list[str]]:
        """The traces of the spans, and why others can't be read."""
        from evalgate.features.record.adapters.received.receiver import build_traces

        return build_traces(spans, trial)

    def find_missing_content(self, traces: Sequence[Trace]) -> list[str]:
        """How to record the messages of these traces, for each tracer that recorded none."""
        from evalgate.features.record.adapters.received.receiver import find_missing_content

        return find_missing_content(traces)

    def read_trace(self, document: Any) -> Trace:
        """The native trace of a document; raises TraceError."""
        from evalgate.adapters.formats.native import reader

        return reader.build(document)

    def add_tool_facts(self, trace: Trace, others: Sequence[Trace]) -> None:
        """Adds what other traces of the same run know of tools: times, errors, and calls that no model asked for."""
        from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
        from evalgate.adapters.formats.core.strict_json import make_printable
        from evalgate.features.record.adapters.received.tool_facts import add_tool_facts

        add_tool_facts(trace, others)
        known = {call["name"] for call in trace.tool_calls}
        unknown = sorted({call["name"] for one in others for call in one.tool_calls} - known)
        if unknown:
            name = make_printable(unknown[0])
            add_gap(trace, "calls", f"`{name}` ran as the agent recorded, but no model call asked for it")

    def encode_trace(self, trace: Trace) -> bytes:
        """The line of a trace, without secrets."""
        import orjson

        from evalgate.adapters.formats.writers import redact_trace
        from evalgate.models.trace.trace_document import encode_trace

        return orjson.dumps(encode_trace(redact_trace(trace)), option=orjson.OPT_APPEND_NEWLINE)

    def encode_spans(self, spans: TrialSpans, trial: TrialId, origin: Mapping[str, str | None]) -> bytes:
        """The lines of the spans, without secrets; `origin` names commit and hash of the agent."""
        from evalgate.features.record.adapters.received.receiver import encode_lines

        return encode_lines(spans, trial, origin)


LEVELS_ABOVE_STATE = 2
"""Of a trace: itself, and `state`."""


def decode_state(printed: bytes) -> Any:
    """The JSON that a state command printed; raises TraceError for what a trace can't hold."""
    from evalgate.adapters.formats.core.strict_json import decode, require_shallow

    value = decode(printed)
    require_shallow(value, LEVELS_ABOVE_STATE)
    return value
