"""Files of programs that no format reads: the reason names the program and says what to do."""

from __future__ import annotations

import json

import pytest
from documents import ROOT
from in_process_command import evalgate

from evalgate.adapters.formats.open import detect, foreign
from evalgate.errors import TraceError

UNREAD = ROOT.parent / "shared" / "unread"
CALL = {"type": "tool_use", "id": "c1", "name": "delete_user", "input": {"id": 7}}
SAID = [{"type": "text", "text": "hi"}]
DOCUMENTS = [
    ("a document of EvalGate", {"schema": "evalgate.results/1", "suites": []}),
    ("Droid", {"type": "session_start", "id": "s", "title": "t", "sessionTitle": "t", "owner": "u", "cwd": "/w"}),
    ("Droid", {"type": "system", "session_id": "s", "timestamp": "t", "model": "m", "cwd": "/w", "id": "i"}),
    ("Qwen Code", {"uuid": "u", "parentUuid": None, "sessionId": "s", "type": "user", "message": {"role": "user", "parts": []}}),
    ("Kimi", {"type": "metadata", "protocol_version": "1.4", "created_at": 1}),
    ("Kiro", {"conversation_id": "c", "next_message": None, "history": [], "transcript": [], "tools": {}}),
    ("Kiro", {"version": "v1", "kind": "Prompt", "data": {"message_id": "m", "content": []}}),
    ("Hermes", {"role": "session_meta", "tools": [], "model": "m", "platform": "cli"}),
    ("Letta", {"agents": [{"messages": []}], "blocks": [], "tools": [], "mcp_servers": []}),
    ("Cline", [{"ts": 1, "type": "say", "say": "text", "text": "hi"}]),
    ("Cline", [{"ts": 1, "type": "ask", "ask": "tool", "text": "{}"}]),
    ("Azure AI", {"query": "hi", "response": [], "tool_definitions": []}),
    ("Who&When", {"history": [{"content": "hi", "role": "human"}], "mistake_agent": "A", "mistake_step": "1"}),
    ("Antigravity", {"step_index": 0, "source": "MODEL", "type": "X", "status": "DONE", "created_at": "t"}),
    ("Grok", {"type": "assistant", "content": "hi", "model_id": "grok", "tool_calls": []}),
    ("Cursor", {"role": "assistant", "message": {"content": [CALL]}}),
    ("opencode", {"id": "m", "sessionID": "s", "role": "user", "content": "hi", "time": {"created": 1}}),
    ("Goose", {"id": "s", "working_dir": "/w", "conversation": [], "extension_data": {}}),
    ("Goose", {"working_dir": "/w", "description": "d", "message_count": 2}),
    ("Continue", {"sessionId": "s", "title": "t", "workspaceDirectory": "/w", "history": []}),
    ("Trae", {"task": "t", "llm_interactions": [], "agent_steps": []}),
    ("smolagents", [{"step_number": 1, "code_action": "f()", "observations": "x", "token_usage": None}]),
    ("browser-use", {"history": [{"model_output": {}, "result": [], "state": {}, "metadata": {}}]}),
    ("VS Code", {"responderUsername": "GitHub Copilot", "requests": []}),
    ("gemini --output-format json", {"session_id": "s", "response": "hi", "stats": {}}),
    ("ChatGPT", [{"title": "t", "mapping": {}, "current_node": "n"}]),
    ("ChatGPT", {"id": "c", "title": "t", "mapping": {}}),
    ("claude.ai", [{"uuid": "u", "name": "n", "chat_messages": []}]),
    ("ShareGPT", [{"conversations": [{"from": "human", "value": "hi"}]}]),
    ("Agenta", [{"session_id": "s", "event_index": 0, "session_update": "message", "payload": {}}]),
    ("Agent Client Protocol", {"jsonrpc": "2.0", "method": "session/update", "params": {}}),
    ("JSON-RPC", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}),
    ("AI SDK", [{"type": "tool-input-start", "toolCallId": "c", "toolName": "t"}]),
    ("AI SDK", [{"type": "start"}, {"type": "text-delta", "id": "1", "delta": "hi"}]),
    ("Semantic Kernel", [{"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": "hi"}]}]),
    ("OWL", [{"user": "hi", "assistant": "ho", "tool_calls": []}]),
    ("Vibe Kanban", [{"type": "NORMALIZED_ENTRY", "content": {}, "patchKey": "k", "executionProcessId": "p"}]),
    ("Gemini CLI's tests", {"method": "generateContentStream", "response": []}),
    ("Cohere", {"id": "i", "message": {}, "finish_reason": "COMPLETE", "usage": {"billed_units": {}}}),
    ("Interactions API", {"id": "i", "status": "completed", "service_tier": "s", "usage": {}, "steps": []}),
    ("Assistants API", {"id": "step_1", "object": "thread.run.step", "step_details": {}}),
    ("Assistants API", {"object": "list", "data": [{"object": "thread.run.step"}]}),
    ("Assistants API", {"object": "list", "data": [{"object": "thread.message"}]}),
    ("Batch API", {"id": "b", "custom_id": "r1", "response": {"status_code": 200, "body": {}}, "error": None}),
    ("Braintrust", [{"_is_merge": True, "log_id": "g", "context": {}, "created": "t"}]),
    ("Braintrust", [{"id": "i", "root_span_id": "r", "span_attributes": {"type": "tool"}}]),
    ("Braintrust", [{"name": "generateText", "input": [], "output": {}, "metadata": {"provider": "openai"}}]),
    ("LangWatch", {"scopeName": "opencode", "spanName": "doStream", "attributes": {}}),
    ("Weave", {"id": "i", "op_name": "weave:///o", "started_at": "t", "inputs": {}, "output": {}}),
    ("Helicone", {"request_id": "r", "request_created_at": "t", "request_body": {}, "response_body": {}}),
    ("Datadog", {"ml_app": "shop", "spans": [{"meta": {"kind": "tool"}}]}),
    ("n8n", {"data": {"resultData": {"runData": {}}}, "mode": "manual"}),
    ("n8n", {"name": "w", "nodes": [], "connections": {}}),
    ("Dify", {"conversation_id": "c", "query": "hi", "agent_thoughts": []}),
    ("Dify", {"limit": 20, "data": [{"conversation_id": "c", "agent_thoughts": []}]}),
    ("Flowise", {"text": "hi", "question": "q", "chatId": "c", "chatMessageId": "m"}),
    ("Rasa", {"sender_id": "s", "slots": {}, "events": [{"event": "action", "name": "x"}]}),
    ("LlamaIndex", {"__is_pydantic": True, "value": {}, "qualified_name": "ToolCall"}),
    ("HAR", {"log": {"version": "1.2", "creator": {"name": "b"}, "entries": [{"request": {}}]}}),
    ("VCR", {"http_interactions": [], "recorded_with": "VCR 6"}),
    ("VCR", {"version": 1, "interactions": [{"request": {}, "response": {}}]}),
    ("SWE-bench", {"instance_id": "i", "model_name_or_path": "m", "model_patch": "diff"}),
    ("lm-evaluation-harness", {"doc_id": 0, "doc": {}, "target": "x", "resps": [], "filtered_resps": []}),
    ("OpenAI's evals", {"run_id": "r", "event_id": 0, "sample_id": "s", "type": "match", "created_by": "", "data": {}}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "document"), DOCUMENTS, ids=[f"{n} {name}" for n, (name, _) in enumerate(DOCUMENTS)])
def test_a_known_shape_is_refused_with_its_name_and_the_next_step(name, document):
    with pytest.raises(TraceError, match=r"no format matches .*: it looks like .*; \w+") as caught:
        detect.detect_format([document])
    reason = str(caught.value)
    assert name in reason
    assert " needs " not in reason
    assert not caught.value.nearest


def test_every_line_of_the_table_is_the_one_that_names_a_document():
    found = [(foreign.describe_foreign([document]) or "").partition("; ")[0] for _, document in DOCUMENTS]
    assert found == [f"it looks like {shape.what}" for shape in foreign.SHAPES]
    assert len({shape.what for shape in foreign.SHAPES}) >= 30


def test_lines_of_qwen_code_that_look_like_those_of_claude_code_are_named_too(tmp_path):
    about = {"uuid": "u", "parentUuid": None, "sessionId": "s"}
    said = {**about, "type": "user", "message": {"role": "user", "parts": [{"text": "hi"}]}}
    (tmp_path / "q.jsonl").write_text(
        f"{json.dumps(said)}\n{json.dumps({**about, 'type': 'system', 'subtype': 'x'})}\n"
    )
    done = evalgate("traces", str(tmp_path / "q.jsonl"))
    assert done.exit_code == 2
    assert "it looks like a session of Qwen Code; docs/custom-formats.md has a mapping" in done.err


def test_a_shape_is_recognised_after_other_lines():
    lines = [{"type": "user", "content": []}, {"type": "assistant", "content": "x", "model_id": "grok"}]
    with pytest.raises(TraceError, match="Grok"):
        detect.detect_format(lines)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('event: metadata\ndata: {"run_id": "r"}\n\n', "server-sent events"),
        ("\ndata: {}\n", "server-sent events"),
        ("# aider chat started at 2026-01-05\n", "Aider"),
        ("<!DOCTYPE html><html>", "HTML"),
        ("name,score\n", None),
    ],
)
def test_text_that_is_not_json_is_named(tmp_path, content, name):
    (tmp_path / "a.txt").write_text(content)
    done = evalgate("traces", str(tmp_path / "a.txt"))
    assert done.exit_code == 2
    assert "not valid JSON" in done.err
    assert ("it looks like" in done.err) == (name is not None)
    assert (name or "not valid") in done.err


@pytest.mark.shared
def test_of_foreign_files_none_names_a_format_that_it_is_not():
    """`cass_mg_opencode.jsonl` has lines of `role` and `content`, which is nearly OpenAI chat."""
    done = evalgate("traces", "--json", str(UNREAD))
    nearest = {refused["path"].rpartition("/")[2]: refused["nearest"] for refused in json.loads(done.out)["refused"]}
    assert {path: formats for path, formats in nearest.items() if formats} in (
        {},
        {"cass_mg_opencode.jsonl": ["openai-chat"]},
    )
