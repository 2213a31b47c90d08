"""Makes the file of a trial from all that was recorded of it: model calls, spans, and what the agent wrote itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.errors import SettingError, TraceError
from evalgate.features.record.models.run import AgentEnd
from evalgate.models.trace.final_answer import build_response
from evalgate.models.trace.trace import AGENT_COMMAND, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.features.record.models.exchange import TrialId
    from evalgate.features.record.models.run import TrialSpans
    from evalgate.features.record.ports import TraceReaders
    from evalgate.models.trace.trace import RunState

RECORDING_ID = "evalgate.recording_id"
"""The metadata that names the recording which wrote a trace."""
SKILLS = "evalgate.skills"
"""The metadata that names the skills of the agent, each as NAME=DIGEST of its SKILL.md."""
NATIVE, OTLP = ".jsonl", ".otlp.jsonl"
MAX_SHOWN = 5


class TrialEvidence(Struct):
    """What was recorded of one trial; `calls` is the trace of its model calls, `own` the one that the agent wrote."""

    trial: TrialId
    end: AgentEnd = AgentEnd(0)
    calls: Trace | None = None
    spans: TrialSpans | None = None
    own: Trace | None = None
    state: RunState | None = None

    @property
    def span_count(self) -> int:
        """Number of spans."""
        return 0 if self.spans is None else self.spans.span_count


def build_file(
    evidence: TrialEvidence, origin: Mapping[str, str | None], readers: TraceReaders, note: Callable[[str], None]
) -> tuple[str, bytes] | None:
    """The end of the file's name and its content without secrets; None if nothing was recorded.

    Model calls come first, then what the agent wrote, then spans; the others add times and errors of tools. Spans of
    which some were lost make no file: what is missing would look as if it had not happened.
    """
    measured, problems = _read_spans(evidence, readers)
    trace = evidence.calls or evidence.own or _build_unmeasured(evidence, measured)
    for problem in dict.fromkeys(problems):
        note(f"{evidence.trial}: {problem}")
    if trace is None:
        if evidence.spans is None or not measured or problems:
            return None
        for reason in readers.find_missing_content(measured)[:MAX_SHOWN]:
            note(f"{evidence.trial}: spans came without content: {reason}")
        if evidence.end.describe() is None and evidence.state is None:
            return OTLP, readers.encode_spans(evidence.spans, evidence.trial, origin)
        for one in measured:  # spans have no place for the end of the process, and for the state
            _add_end(one, evidence.end)
            one.state = evidence.state
            _stamp(one, origin)
        return NATIVE, b"".join(map(readers.encode_trace, measured))
    own = None if evidence.own is trace else evidence.own
    readers.add_tool_facts(trace, measured if own is None else [own, *measured])
    if own is not None and own.status == "error" and trace.status != "error":
        trace.status, trace.error = "error", own.error
    _add_end(trace, evidence.end)
    _stamp(trace, origin)
    trace.state = evidence.state
    return NATIVE, readers.encode_trace(trace)


def build_failed_file(
    evidence: TrialEvidence, origin: Mapping[str, str | None], readers: TraceReaders
) -> tuple[str, bytes]:
    """The file of a run that failed before anything of it was recorded: a trace without content says how it ended."""
    trace = _build_empty(evidence.trial)
    trace.gaps = dict.fromkeys(("messages", "calls"), "the agent ended before anything of this run was recorded")
    _add_end(trace, evidence.end)
    _stamp(trace, origin)
    trace.state = evidence.state
    return NATIVE, readers.encode_trace(trace)


def _build_unmeasured(evidence: TrialEvidence, measured: Sequence[Trace]) -> Trace | None:
    """A trace without content if the state is not known and nothing else was recorded; None otherwise."""
    if measured or evidence.state is None or "outage" not in evidence.state:
        return None
    trace = _build_empty(evidence.trial)
    trace.status = "incomplete"
    return trace


def _build_empty(trial: TrialId) -> Trace:
    return Trace("", [], [], build_response(None), scenario_id=trial.scenario, trial=trial.trial)


def _stamp(trace: Trace, origin: Mapping[str, str | None]) -> None:
    """Names the recording, its command and the skills; commit and hash of the agent are fields of the trace."""
    named = {name: origin[name] for name in (RECORDING_ID, SKILLS, AGENT_COMMAND) if origin.get(name) is not None}
    trace.metadata = {**trace.metadata, **named}


def _add_end(trace: Trace, end: AgentEnd) -> None:
    """Adds how the process ended, unless it ended well; one that the recording stopped has no end of its own."""
    reason, known = end.describe(), trace.error and trace.error["message"]
    if reason is None:
        return
    if end.was_stopped:
        trace.status, trace.stopped_by = "incomplete", end.reached
        trace.warnings.append({"code": "incomplete", "message": reason, "where": None})
        return
    trace.status = "error"
    if end.stderr or known is None:
        trace.error = {"type": end.name, "message": end.stderr or None}


def read_own_trace(document: Any, trial: TrialId, readers: TraceReaders) -> Trace | None:
    """The trace that the agent's recorder sent at the end of a scenario; None for one without any content.

    Raises SettingError for a damaged one, and for one of another scenario.
    """
    if document is None:
        return None
    try:
        trace = readers.read_trace(document)
    except TraceError as error:
        raise SettingError(f"the trace of {trial} is damaged: {error}") from None
    if (trace.scenario_id, trace.trial) != (trial.scenario, trial.trial):
        raise SettingError(f"the trace is not that of {trial}")
    is_empty = not trace.messages and not trace.llm_calls and trace.status == "ok"
    return None if is_empty else trace


def _read_spans(evidence: TrialEvidence, readers: TraceReaders) -> tuple[list[Trace], list[str]]:
    """The traces of the spans, and why others are missing."""
    if evidence.spans is None:
        return [], []
    if not evidence.spans.records:
        return [], evidence.spans.problems
    traces, damaged = readers.read_spans(evidence.spans, evidence.trial)
    return traces, [*evidence.spans.problems, *damaged]
