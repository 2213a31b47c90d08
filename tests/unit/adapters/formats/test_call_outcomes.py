"""How calls ended: one rule for exit codes in all formats."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from assess_assertion import assess
from documents import ROOT
from hostile.recorded_calls import read

from evalgate.adapters.formats.core.builder.call_outcomes import apply_exit_codes
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

REQUEST = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "bash", "arguments": {"command": "grep x a"}}]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "no match", "exit_code": 1}
CALL = {"name": "bash", "arguments": {}, "result_text": "no match", "status": "ok", "exit_code": 1}
NATIVE = {"schema": "evalgate.trace/1", "messages": [REQUEST, RESULT]}
EVENTS = [
    {"id": 1, "source": "user", "action": "message", "args": {"content": "look"}},
    {"id": 2, "source": "agent", "action": "run", "args": {"command": "grep x a"}},
    {"id": 3, "source": "agent", "observation": "run", "cause": 2, "content": "", "extras": {"exit_code": 1}},
]
COMMAND = {"type": "command_execution", "id": "i", "command": "grep x a", "aggregated_output": "", "exit_code": 1}
ANSWER = "```bash\ngrep x a\n```"
RECORDS: dict[str, Sequence[Any]] = {
    "native": [NATIVE],
    "native, with a flag that contradicts": [NATIVE | {"messages": [REQUEST, RESULT | {"is_error": False}]}],
    "native, with calls apart": [{"schema": "evalgate.trace/1", "messages": [REQUEST], "tool_calls": [CALL]}],
    "openhands": [EVENTS],
    "mini-swe-agent": [
        [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": ANSWER},
            {"role": "user", "content": "<returncode>1</returncode>\n<output>\n</output>"},
        ]
    ],
    "codex": [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.completed", "item": COMMAND | {"status": "completed"}},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
    ],
}


def read_trace(documents: Sequence[Any]) -> Trace:
    [trace] = read(b"\n".join(map(orjson.dumps, documents)))
    assert isinstance(trace, Trace)
    return trace


@pytest.mark.parametrize("name", RECORDS)
def test_a_recorded_exit_code_other_than_0_is_an_error_of_the_call(name):
    trace = read_trace(RECORDS[name])
    [call] = trace.tool_calls
    assert (call["status"], call["exit_code"]) == ("error", 1)
    assert assess({"type": "max_tool_errors", "max": 0}, trace).outcome == "failed"
    assert assess({"type": "tool_sequence", "sequence": [{"tool": "*", "status": "ok"}]}, trace).outcome == "failed"


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "recordings").glob("*/*.json*")), ids=lambda path: path.stem)
def test_no_recording_has_a_successful_call_with_another_exit_code(path):
    calls = [call for trace in read(path.read_bytes()) if isinstance(trace, Trace) for call in trace.tool_calls]
    assert [call for call in calls if call["exit_code"] and call["status"] != "error"] == []


def test_exit_code_0_and_recorded_errors_stay():
    trace = read_trace([NATIVE | {"messages": [REQUEST, RESULT | {"exit_code": 0}]}])
    before = copy.deepcopy(trace.tool_calls)
    apply_exit_codes(trace)
    assert trace.tool_calls == before
    trace.tool_calls[0] |= {"exit_code": 1, "status": "error", "error": {"type": "Timeout", "message": "late"}}
    apply_exit_codes(trace)
    assert trace.tool_calls[0]["error"] == {"type": "Timeout", "message": "late"}
