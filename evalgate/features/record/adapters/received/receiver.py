"""Keeps the spans of each trial while an agent runs, and gives them as the lines of an OTLP file at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.adapters.formats.spans import span_records
from evalgate.adapters.formats.spans.encodings.otlp import read_spans
from evalgate.adapters.formats.spans.span import MAX_SPANS, SpanFile
from evalgate.errors import TraceError
from evalgate.features.record.adapters.received.attribution import build_documents, group_by_trial
from evalgate.features.record.adapters.received.requests import (
    JSON,
    PROTOBUF,
    decode_request,
    encode_answer,
    encode_error,
)
from evalgate.features.record.models.run import TrialSpans
from evalgate.features.record.ports import ReceiverAnswer
from evalgate.measures.redaction.redact import redact_field, redact_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from evalgate.features.record.models.exchange import TrialId
    from evalgate.features.record.models.run import ReceivedRecord
    from evalgate.models.trace.trace import Trace

MAX_KEPT = 128 * 1024 * 1024
"""Bytes of the requests of one recording that are kept, unpacked."""
OK, BAD_REQUEST, UNSUPPORTED = 200, 400, 415


class SpanReceiver:
    """Takes requests of exporters; implements `OtlpReceiver`."""

    def __init__(self) -> None:
        self._received: dict[TrialId, TrialSpans] = {}
        self._size = 0

    def receive(self, signal: str, content_type: str, body: bytes, trial: TrialId) -> ReceiverAnswer:
        """Takes one request; metrics are dropped. A request that is refused is noted as missing spans."""
        kind = content_type.partition(";")[0].strip().lower()
        if kind not in (PROTOBUF, JSON):
            return ReceiverAnswer(UNSUPPORTED, JSON, encode_error(JSON, f"send {PROTOBUF} or {JSON}"))
        if signal != "metrics":
            spans = self._received.setdefault(trial, TrialSpans())
            try:
                spans.records += self._decode(signal, kind, body, spans)
            except TraceError as error:
                self.note_refused(signal, str(error), trial)
                return ReceiverAnswer(BAD_REQUEST, kind, encode_error(kind, str(error)))
        return ReceiverAnswer(OK, kind, encode_answer(kind))

    def note_refused(self, signal: str, reason: str, trial: TrialId) -> None:
        """Notes that the records of a request are missing."""
        if signal != "metrics":
            problems = self._received.setdefault(trial, TrialSpans()).problems
            problems.append(f"a request with {signal} was refused: {reason}")

    def _decode(self, signal: str, kind: str, body: bytes, spans: TrialSpans) -> list[ReceivedRecord]:
        if self._size + len(body) > MAX_KEPT:
            raise TraceError(f"the recording has more than {MAX_KEPT // 1024**2} MB of spans")
        found = decode_request(signal, kind, body)
        if len(found) + len(spans.records) > MAX_SPANS:
            raise TraceError(f"the trial has more than {MAX_SPANS:,} spans and log records")
        self._size += len(body)
        return found

    def take(self) -> dict[TrialId, TrialSpans]:
        """What was received, by trial, and forgets it; spans of an address without a scenario may name one."""
        taken: dict[TrialId, TrialSpans] = {}
        for address, spans in self._received.items():
            groups = group_by_trial(spans.records, address) or {address: []}
            for trial, records in groups.items():
                found = taken.setdefault(trial, TrialSpans())
                found.records += records
                found.problems += spans.problems
        self._received, self._size = {}, 0
        return taken


def encode_lines(spans: TrialSpans, trial: TrialId, origin: Mapping[str, str | None]) -> bytes:
    """The file of a trial, a line a record, without secrets; `origin` names commit and hash of the agent."""
    import orjson

    documents = build_documents(spans.records, trial, origin)
    return b"".join(orjson.dumps(redact_document(one), option=orjson.OPT_APPEND_NEWLINE) for one in documents)


def redact_document(value: Any) -> Any:
    """A document without secrets; an attribute is a field of its key's name."""
    clean = redact_value(value)
    _redact_attributes(clean)
    return clean


def _redact_attributes(value: Any) -> None:
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(inner, dict) and isinstance(inner.get("key"), str) and isinstance(inner.get("value"), dict):
            for kind, one in inner["value"].items():
                inner["value"][kind] = redact_field(inner["key"], one)
        _redact_attributes(inner)


def build_traces(spans: TrialSpans, trial: TrialId) -> tuple[list[Trace], list[str]]:
    """The traces of a trial's spans, and why others can't be read."""
    span_file = SpanFile()
    read_spans(list(build_documents(spans.records, trial, {})), span_file)
    traces, problems = [], []
    for run in span_records.runs_from_file(span_file):
        try:
            traces.append(span_records.build(run))
        except TraceError as error:
            problems.append(make_printable(str(error)))
    return traces, problems


def find_missing_content(traces: Sequence[Trace]) -> list[str]:
    """How to record the messages of these traces, for each tracer that recorded none."""
    settings = {trace.gaps["messages"] for trace in traces if "messages" in trace.gaps}
    return sorted(settings | {trace.gaps["calls"] for trace in traces if "calls" in trace.gaps})
