from __future__ import annotations

import orjson
from documents import ROOT
from trace_table import read_traces

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.cursor import CURSOR
from evalgate.adapters.formats.open import detect
from evalgate.models.trace.trace import TraceLocation

STREAM = ROOT / "tests" / "recordings" / "cursor" / "stream.jsonl"
INIT = {"type": "system", "subtype": "init", "apiKeySource": "env", "session_id": "s", "model": "Auto"}
USER = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "Hi"}]}, "session_id": "s"}
RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s"}
CLAUDE = {"type": "system", "subtype": "init", "apiKeySource": "none", "session_id": "s", "tools": [], "uuid": "u"}


def read(*lines):
    return read_record(CURSOR.reader, [INIT, USER, *lines], TraceLocation("x.jsonl"), "x.jsonl")


def test_a_stream_is_read_with_its_calls_in_order():
    (trace,) = read_traces(STREAM.parent)
    assert [(c["name"], c["status"], c["step"], c["duration_ms"], c["agent"]) for c in trace.tool_calls] == [
        ("grep", "ok", 1, 500.0, None),
        ("shell", "error", 1, 40.0, None),
        ("delete_user", "ok", 2, 250.0, None),
        ("task", "ok", 3, 2000.0, None),
        ("read", "ok", 3, None, "subagent"),
        ("notify", "error", 4, 100.0, None),
    ]
    assert trace.tool_calls[1]["exit_code"] == 1
    assert trace.tool_calls[2]["arguments"] == {"id": 7}
    assert trace.tool_calls[2]["result_text"] == "user 7 is deleted"
    assert trace.tool_calls[4]["result_text"] == "12,7\n13,7\n"
    assert trace.tool_calls[5]["arguments"] == {"text": "done"}


def test_a_stream_has_its_messages_tokens_and_time():
    (trace,) = read_traces(STREAM.parent)
    assert trace.messages[0]["content"] == "Remove the account of Ada and list her orders."
    assert trace.messages[1]["reasoning"] == "First look for her."
    assert trace.response["content"] == "Ada's account is deleted; her orders are 12 and 13."
    assert (trace.model, trace.status, trace.latency["total_ms"]) == ("Composer 2", "ok", 4200.0)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (3000, 140)
    assert trace.cost["usd"] is None
    assert trace.gaps == {}


def test_cursor_and_claude_code_have_different_lines():
    lines = [orjson.loads(line) for line in STREAM.read_bytes().splitlines()]
    assert detect.detect_format(lines).name == "cursor"
    assert detect.detect_format([lines]).name == "cursor"
    assert detect.detect_format([CLAUDE, USER, RESULT]).name == "claude-code"
    assert detect.detect_format([{**RESULT, "request_id": "r", "duration_ms": 1}]).name == "cursor"
    assert detect.detect_format([{**RESULT, "total_cost_usd": 0.1, "num_turns": 1}]).name == "claude-code"
