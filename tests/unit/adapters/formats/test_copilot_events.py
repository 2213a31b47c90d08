"""Events of Copilot's SDK that came after August 2026: none that holds no call stops a gate, and no call is lost."""

from __future__ import annotations

from typing import Any

import pytest

from evalgate.adapters.formats.copilot import COPILOT
from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.models.trace.trace import Trace, TraceLocation

PHASE = {
    "fusionId": "f",
    "phaseId": "p",
    "phaseKind": "draft",
    "role": "draft",
    "model": "gpt-5",
    "usage": {"inputTokens": 3},
}
EVENTS: dict[str, dict[str, Any]] = {
    "session.mode_notice_delivered": {"mode": "plan", "content": "Plan mode is on"},
    "session.fusion_route_started": {"attemptId": "a", "turnKind": "user", "policy": "balanced"},
    "session.fusion_route_failed": {"attemptId": "a", "reason": "timeout", "fallbackModel": "gpt-5"},
    "session.fusion_resolved": {
        "fusionId": "f",
        "pattern": "critique",
        "phasePlan": [{"kind": "draft", "scope": "root"}],
    },
    "session.fusion_completed": {"fusionId": "f", "outcome": "completed", "phaseCount": 2, "finalSourceModel": "gpt-5"},
    "assistant.fusion_phase_started": PHASE,
    "assistant.fusion_phase_completed": {**PHASE, "content": "Done.", "projectionMessage": {"role": "assistant"}},
    "assistant.fusion_phase_failed": {**PHASE, "reason": "refused"},
    "assistant.server_tool_progress": {"kind": "web_search", "outputIndex": 0, "status": "searching"},
    "model.call_finished": {"turnId": "0", "outcome": "success", "dispatchDurationMs": 6960},
    "subagent.configured": {"model": "gpt-5-mini", "reasoningEffort": "high", "multiTurn": True},
    "factory.run_started": {"runId": "r", "factoryName": "build", "attempt": 1},
    "model.call_final_result": {"model": "gpt-5", "isByok": True, "result": "success"},
    "session.usage_record": {"usage": {"inputTokens": 30, "toolCounts": {"skill": 1}, "accounting": {"sequence": 1}}},
    "skill.context_delivered": {"source": "skill-pdf", "content": "<skill-context>Fill it.</skill-context>"},
    "skill.context_delivered_ref": {"source": "skill-pdf", "contentId": "sha256:00", "prefix": "", "suffix": ""},
    "skill.invoked_ref": {"name": "pdf", "path": "/s/pdf/SKILL.md", "contentId": "sha256:00", "trigger": "agent"},
    "tool.shell_output": {"toolCallId": "c1", "stream": "stdout", "text": "done", "sequence": 0},
    "session.completion_receipt": {"schemaVersion": 1, "finalTool": "bash", "successfulToolCount": 1},
    "human_response.recorded": {"requestId": "r", "toolCallId": "c1", "actor": "user", "response": "yes"},
    "session.model_deselected": {"previousModel": "gpt-5", "reason": "withdrawn"},
}
OF_RESULTS = {"tool.shell_output", "model.call_final_result"}
"""Events that are named for what was returned, in which something like a call is data."""
STAGED = {"toolCallId": "c9", "toolName": "delete_user", "arguments": '{"id": 1}', "phaseId": "p"}


def event(kind: str, /, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": kind, "parentId": None, "timestamp": "2026-11-01T10:00:00.000Z"}


def read(kind: str, /, **data: Any) -> Any:
    asked, said = event("user.message", content="Clean up."), event("assistant.message", content="Done.")
    started = event("session.start", sessionId="s", version=1, producer="copilot-agent", copilotVersion="1.0.90")
    [record] = COPILOT.reader.split([started, asked, event(kind, **data), said])
    return read_record(COPILOT.reader, record, TraceLocation("t.jsonl"), "t.jsonl")


@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_without_a_call_stops_no_gate(kind: str) -> None:
    trace = read(kind, **EVENTS[kind])
    assert isinstance(trace, Trace), trace.reason
    assert not trace.gaps
    assert trace.tool_calls == []


@pytest.mark.parametrize("kind", sorted(EVENTS.keys() - OF_RESULTS))
def test_a_call_in_an_event_is_not_silent(kind: str) -> None:
    trace = read(kind, **EVENTS[kind], stagedTerminal=STAGED)
    assert not isinstance(trace, Trace) or trace.tool_calls or "calls" in trace.gaps


@pytest.mark.parametrize(("code", "status"), [(0, "ok"), (1, "error")])
def test_the_last_line_of_what_it_prints_says_whether_the_run_failed(code: int, status: str) -> None:
    last = {"type": "result", "timestamp": "2026-11-01T10:00:00.000Z", "sessionId": "s", "exitCode": code}
    usage = {"premiumRequests": 0, "codeChanges": {"linesAdded": 0, "filesModified": []}}
    events = [event("user.message", content="Clean up."), event("assistant.message", content="Done.")]
    [record] = COPILOT.reader.split([*events, {**last, "usage": usage}])
    trace: Any = read_record(COPILOT.reader, record, TraceLocation("t.jsonl"), "t.jsonl")
    assert (trace.status, trace.gaps) == (status, {})
    assert trace.trace_id == "s"
