"""Each kind of line that Codex and Claude Code wrote within a year, up to November 2026, and what is read of it.

From the code of Codex (the enums of its rollout, its events, items and turn items, to 0.171), from Claude Code's
changelog (to 2.1.240) and from lists of kinds in tools that read its sessions. The samples are written here.
"""

from __future__ import annotations

from typing import Any

import pytest

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.models.trace.trace import Trace, TraceLocation

WHEN = "2026-09-01T10:00:00.000Z"
Line = dict[str, Any]
CALL = {"name": "delete_user", "arguments": {"id": 1}}
QUIET = "quiet"
"""Known, and no call: neither a call, a warning nor a gap."""
TOLD = "told"
"""Not known; nothing in it can be a call, so it is a warning."""
OPEN = "open"
"""It may hold a call that is not read: the calls are incomplete."""

META = {"timestamp": WHEN, "type": "session_meta", "payload": {"id": "019b", "timestamp": WHEN, "cwd": "/w"}}


def line(kind: str, /, **payload: Any) -> Line:
    return {"timestamp": WHEN, "type": kind, "payload": payload}


def item(kind: str, /, **fields: Any) -> Line:
    return line("response_item", type=kind, **fields)


def event(kind: str, /, **fields: Any) -> Line:
    return line("event_msg", type=kind, **fields)


def ended(kind: str, /, **fields: Any) -> Line:
    return event("item_completed", thread_id="t", turn_id="u", item={"type": kind, "id": "i", **fields})


COMMAND = {"command": ["ls"], "cwd": "/w", "parsed_cmd": [{"type": "list_files", "cmd": "ls", "path": "a"}]}
RAN = {"call_id": "c", "turn_id": "u", **COMMAND, "source": "agent"}
INVOKED = {"call_id": "c", "invocation": {"server": "crm", "tool": "drop", "arguments": {"id": 7}}}
CHANGES = {"/w/a": {"type": "delete", "content": "x"}}
AGENTS = {"call_id": "c", "sender_thread_id": "t", "receiver_thread_id": "r", "prompt": "go", "status": "running"}
TEXT = [{"type": "output_text", "text": "Hello."}]
CODEX: dict[str, tuple[str | list[str], Line]] = {
    # lines
    "turn_context": (QUIET, line("turn_context", cwd="/w", model="gpt-5.6", approval_policy="never",
                                 sandbox_policy={"type": "read-only"}, workspace_roots=["/w"])),
    "compacted": (QUIET, line("compacted", message="so far", window_number=1, replacement_history=[
        {"type": "message", "role": "user", "content": TEXT}], mcp_resource_origins={"a": {"server": "crm"}})),
    "world_state": (QUIET, line("world_state", full=True, state={"agents_md": {"text": "Be kind.", "files": ["a"]}})),
    "inter_agent_communication": (QUIET, line("inter_agent_communication", author="/root", recipient="/root/a",
                                              content="go", other_recipients=["b"])),
    "inter_agent_communication_metadata": (QUIET, line("inter_agent_communication_metadata", trigger_turn=True)),
    "token_usage_record": (QUIET, line("token_usage_record", usage={"input_tokens": 3}, model="gpt-5.6")),
    "security_risk_score": (QUIET, line("security_risk_score", score=0.1, labels=["none"])),
    "realtime_item": (QUIET, line("realtime_item", id="r", realtime_session_id="s", type="transcript_segment",
                                  data={"role": "user", "text": "Hi"})),
    "retained_context": (QUIET, line("retained_context", type="verified_answer", turn_id="u", call_id="c",
                                     questions=[{"question": "Which?", "answer": "The first."}])),
    "id_allocation": (QUIET, line("id_allocation", next=4)),
    "a new line without a call": (TOLD, line("battery_level", level=4, unit="percent")),
    "a new line with what may be one": (OPEN, line("deed", do="drop_user", **{"with": {"id": 1}})),
    "metadata beside an item": (QUIET, {**item("message", role="assistant", content=TEXT), "ordinal": 4,
                                        "metadata": {"client_authored": True}}),
    # items of the model
    "message": (QUIET, item("message", role="assistant", content=TEXT, phase="commentary")),
    "agent_message": (QUIET, item("agent_message", author="a", recipient="b", content=TEXT, source_call_id="c")),
    "reasoning": (QUIET, item("reasoning", summary=[{"type": "summary_text", "text": "x"}], encrypted_content="x")),
    "local_shell_call": (["local_shell"], item("local_shell_call", call_id="c", status="completed",
                                               action={"type": "exec", "command": ["ls"]})),
    "function_call": (["drop"], item("function_call", name="drop", namespace="crm", arguments="{}", call_id="c")),
    "tool_search_call": (["tool_search"], item("tool_search_call", call_id="c", execution="client",
                                               arguments={"q": "x"})),
    "custom_tool_call": (["apply_patch"], item("custom_tool_call", call_id="c", name="apply_patch", input="*** x")),
    "a script that calls no tool": (["exec"], item("custom_tool_call", call_id="c", name="exec", input="text('hi')")),
    "web_search_call": (["web_search"], item("web_search_call", status="completed",
                                             action={"type": "search", "query": "x", "queries": ["x"]})),
    "image_generation_call": (["image_generation"], item("image_generation_call", id="i", status="completed",
                                                         revised_prompt="a cat", result="AAAA")),
    "compaction": (QUIET, item("compaction", encrypted_content="x")),
    "compaction_trigger": (QUIET, item("compaction_trigger")),
    "context_compaction": (QUIET, item("context_compaction", encrypted_content="x")),
    "additional_tools": (QUIET, item("additional_tools", role="developer",
                                     tools=[{"type": "function", "name": "drop", "parameters": {"type": "object"}}])),
    "input of a client's tool": (QUIET, item("function_call_output", id="o", name="create_thread",
                                             namespace="codex_app", output="Look at it.")),
    # items of a turn
    "UserMessage": (QUIET, ended("UserMessage", content=[{"type": "text", "text": "x", "text_elements": []}])),
    "HookPrompt": (QUIET, ended("HookPrompt", fragments=[{"text": "x", "hookRunId": "h"}])),
    "AgentMessage": (QUIET, ended("AgentMessage", content=[{"type": "Text", "text": "x"}], memory_citation={
        "entries": [{"path": "a", "note": "b"}]})),
    "Plan": (QUIET, ended("Plan", text="1. look")),
    "Reasoning": (QUIET, ended("Reasoning", summary_text=["x"], raw_content=["y"])),
    "CommandExecution": (["exec_command"], ended("CommandExecution", **COMMAND, source="agent", status="completed")),
    "DynamicToolCall": (["drop"], ended("DynamicToolCall", tool="drop", arguments={}, status="completed")),
    "CollabAgentToolCall": (["wait"], ended("CollabAgentToolCall", tool="wait", status="completed",
                                            senderThreadId="t", receiverThreadIds=[], agentsStates={})),
    "WebSearch": (["web_search"], ended("WebSearch", query="x", action={"type": "search", "query": "x"})),
    "ImageView": (["view_image"], ended("ImageView", path="/w/a.png")),
    "Sleep": (["sleep"], ended("Sleep", duration_ms=5)),
    "ImageGeneration": (["image_generation"], ended("ImageGeneration", status="completed", result="A")),
    "FileChange": (["apply_patch"], ended("FileChange", changes=CHANGES, status="completed")),
    "McpToolCall": (["mcp__crm__drop"], ended("McpToolCall", server="crm", tool="drop", arguments={},
                                              status="completed", pluginId="p", appName="a")),
    "ContextCompaction": (QUIET, ended("ContextCompaction")),
    "FunctionCallOutput": (QUIET, ended("FunctionCallOutput", name="create_thread", output="Look at it.")),
    "EnteredReviewMode": (QUIET, ended("EnteredReviewMode", review="x")),
    "ExitedReviewMode": (QUIET, ended("ExitedReviewMode", review="x")),
    "Extension: a pause": (["sleep"], ended("Extension", kind="clock.sleep", durationMs=5)),
    "Extension: a picture": (["image_generation"], ended("Extension", kind="image_gen.generation", status="completed",
                                                         revisedPrompt="a cat", result="", savedPath="/w/a.png")),
    "Extension: a search": (["web_search"], ended("Extension", kind="web.search", query="x", status="completed")),
    "Extension of a new kind": (OPEN, ended("Extension", kind="crm.lookup", title="x")),
    # events
    "exec_command_begin": (["exec_command"], event("exec_command_begin", **RAN)),
    "exec_command_end": (["exec_command"], event("exec_command_end", **RAN, stdout="a", exit_code=0)),
    "exec_command_output_delta": (QUIET, event("exec_command_output_delta", call_id="c", stream="stdout", chunk="eA")),
    "terminal_interaction": (["write_stdin"], event("terminal_interaction", call_id="c", process_id="1", stdin="y")),
    "mcp_tool_call_begin": (["mcp__crm__drop"], event("mcp_tool_call_begin", **INVOKED)),
    "mcp_tool_call_end": (["mcp__crm__drop"], event("mcp_tool_call_end", **INVOKED, result={"Ok": {"content": []}})),
    "web_search_begin": (["web_search"], event("web_search_begin", call_id="c")),
    "web_search_end": (["web_search"], event("web_search_end", call_id="c", query="x")),
    "view_image_tool_call": (["view_image"], event("view_image_tool_call", call_id="c", path="/w/a.png")),
    "patch_apply_begin": (["apply_patch"], event("patch_apply_begin", call_id="c", changes=CHANGES)),
    "patch_apply_updated": (QUIET, event("patch_apply_updated", call_id="c", changes=CHANGES)),
    "patch_apply_end": (["apply_patch"], event("patch_apply_end", call_id="c", success=True, changes=CHANGES)),
    "image_generation_begin": (["image_generation"], event("image_generation_begin", call_id="c")),
    "image_generation_end": (["image_generation"], event("image_generation_end", call_id="c", result="A")),
    "dynamic_tool_call_request": (["drop"], event("dynamic_tool_call_request", callId="c", tool="drop",
                                                  arguments={})),
    "dynamic_tool_call_response": (["dynamic_tool_call"], event("dynamic_tool_call_response", call_id="c",
                                                                content_items=[], success=True)),
    "collab_agent_spawn_begin": (["spawn_agent"], event("collab_agent_spawn_begin", call_id="c", prompt="go")),
    "collab_agent_interaction_begin": (["send_input"], event("collab_agent_interaction_begin", **AGENTS)),
    "collab_waiting_begin": (["wait"], event("collab_waiting_begin", call_id="c", receiver_thread_ids=[])),
    "collab_close_begin": (["close_agent"], event("collab_close_begin", **AGENTS)),
    "collab_resume_begin": (["resume_agent"], event("collab_resume_begin", **AGENTS)),
    "sub_agent_activity": (OPEN, event("sub_agent_activity", kind="interacted", agent_thread_id="r", agent_path="/a")),
    "exec_approval_request": (QUIET, event("exec_approval_request", **RAN, reason="x", proposed=["ls"])),
    "apply_patch_approval_request": (QUIET, event("apply_patch_approval_request", call_id="c", changes=CHANGES)),
    "elicitation_request": (QUIET, event("elicitation_request", server_name="crm", id="1", message="Which?",
                                         request={"mode": "form", "requested_schema": {"type": "object"}})),
    "request_user_input": (QUIET, event("request_user_input", call_id="c", questions=[
        {"id": "q", "header": "h", "question": "Which?", "options": [{"label": "a", "description": "b"}]}])),
    "request_permissions": (QUIET, event("request_permissions", call_id="c", permissions={"network": ["a.org"]})),
    "guardian_assessment": (QUIET, event("guardian_assessment", id="g", status="approved", risk_level="low",
                                         action={"type": "command", "command": "ls", "cwd": "/w"})),
    "hook_started": (QUIET, event("hook_started", run={"id": "h", "event_name": "pre_tool_use", "handler": "x"})),
    "hook_completed": (QUIET, event("hook_completed", run={"id": "h", "entries": [{"kind": "x", "text": "y"}]})),
    "plan_update": (QUIET, event("plan_update", explanation="x", plan=[{"step": "look", "status": "pending"}])),
    "mcp_startup_update": (QUIET, event("mcp_startup_update", server="crm", status={"state": "ready"})),
    "mcp_startup_complete": (QUIET, event("mcp_startup_complete", ready=["crm"], failed=[], cancelled=[])),
    "turn_diff": (QUIET, event("turn_diff", unified_diff="--- a\n+++ b")),
    "raw_response_completed": (QUIET, event("raw_response_completed", response_id="r", token_usage={"a": 1})),
    "realtime_conversation_realtime": (QUIET, event("realtime_conversation_realtime",
                                                    payload={"SessionUpdated": {"instructions": "x"}})),
    "thread_settings_applied": (QUIET, event("thread_settings_applied", settings={"model": "m", "roots": ["/w"]})),
    "thread_goal_updated": (QUIET, event("thread_goal_updated", goal={"objective": "x", "status": "active"})),
    "model_reroute": (QUIET, event("model_reroute", from_model="a", to_model="b", reason="x")),
    "turn_moderation_metadata": (QUIET, event("turn_moderation_metadata", metadata={"a": ["b"]})),
    **{kind: (QUIET, event(kind, message="x")) for kind in (
        "warning", "guardian_warning", "background_event", "stream_error", "deprecation_notice", "undo_started",
        "undo_completed", "context_compacted", "model_verification", "safety_buffering", "thread_rolled_back",
        "thread_name_updated", "thread_queue_changed", "environment_connected", "environment_disconnected",
        "auth_recovery_started", "auth_recovery_completed", "realtime_conversation_started",
        "realtime_conversation_sdp", "realtime_conversation_closed", "shutdown_complete", "skills_update_available")},
    "a new event without a call": (TOLD, event("battery_low", level=4, unit="percent")),
    "a new event with what may be one": (OPEN, event("deed_done", do="drop_user", **{"with": {"id": 1}})),
}  # fmt: skip
SESSION = {"sessionId": "s", "timestamp": WHEN, "uuid": "u9"}
BASH = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}


def own(kind: str, /, **fields: Any) -> Line:
    return {**SESSION, "type": kind, **fields}


def answer(*blocks: Any, **fields: Any) -> Line:
    return own(
        "assistant", message={"id": "m9", "role": "assistant", "model": "claude", "content": [*blocks]}, **fields
    )


CLAUDE: dict[str, tuple[str | list[str], Line]] = {
    "tool_use": (["Bash"], answer({**BASH, "caller": {"type": "direct"}}, effort="high", requestId="r")),
    "server_tool_use": (["advisor"], answer({"type": "server_tool_use", "id": "s1", "name": "advisor", "input": {}})),
    "a new block with a call": (["drop"], answer({"type": "deed", "name": "drop", "input": {"id": 1}})),
    "fields of a user's line": (QUIET, own("user", message={"role": "user", "content": "Go on."}, promptId="p",
                                           origin={"kind": "human"}, thinkingMetadata={"level": "high", "triggers": []},
                                           imagePasteIds=[1], classifierMetaLines=[], planContent="x",
                                           mcpMeta={"server": "crm"}, supersedesUuids=["a"], slug="x")),
    "both spellings of the session's id": (QUIET, own("user", session_id="s-1", sessionKind="bg", message={
        "role": "user", "content": "Go on."})),
    "progress of a hook": (QUIET, own("progress", data={"type": "hook_progress", "hookEvent": "PreToolUse",
                                                        "command": "callback"}, toolUseID="t")),
    "progress of a command": (QUIET, own("progress", data={"type": "bash_progress", "output": "x", "totalLines": 1})),
    "attachment of a hook": (QUIET, own("attachment", attachment={"type": "hook_success", "hookName": "Start:x",
                                                                  "content": "x", "toolUseID": "t"})),
    "attachment with names of tools": (QUIET, own("attachment", attachment={
        "type": "deferred_tools_delta", "addedNames": ["WebFetch"], "addedLines": ["WebFetch"], "removedNames": []})),
    "attachment of a queued prompt": (QUIET, own("attachment", attachment={"type": "queued_command", "prompt": "x"})),
    "file-history-snapshot": (QUIET, own("file-history-snapshot", messageId="m", snapshot={"trackedFileBackups": {
        "a.py": {"backupFileName": "x@v1", "version": 1}}})),
    "attribution-snapshot": (QUIET, own("attribution-snapshot", surface="cli", promptCount=1, fileStates={
        "a.py": {"contentHash": "h", "claudeContribution": 3}})),
    "content-replacement": (QUIET, own("content-replacement", replacements=[
        {"kind": "tool-result", "toolUseId": "t", "replacement": "x"}])),
    "marble-origami-snapshot": (QUIET, own("marble-origami-snapshot", armed=True, staged=[
        {"startUuid": "a", "endUuid": "b", "summary": "x"}])),
    "worktree-state": (QUIET, own("worktree-state", worktreeSession={"worktreePath": "/x", "worktreeName": "n"})),
    "cost-state": (QUIET, own("cost-state", totalCostUSD=2.1, modelUsage={"claude": {"inputTokens": 3}})),
    "fork-context-ref": (QUIET, own("fork-context-ref", agentId="a", parentSessionId="p", contextLength=4)),
    "rate_limit_event": (QUIET, own("rate_limit_event", rate_limit_info={"status": "allowed", "resetsAt": 1})),
    "tool_progress": (OPEN, own("tool_progress", tool_use_id="t", tool_name="Bash", elapsed_time_seconds=1)),
    "tool_use_summary": (QUIET, own("tool_use_summary", summary="Read 3 files", preceding_tool_use_ids=["t"])),
    "auth_status": (QUIET, own("auth_status", isAuthenticating=False, output=["x"])),
    "control_response": (QUIET, own("control_response", response={"request_id": "r", "response": {
        "behavior": "allow", "updatedInput": {"command": "ls"}}})),
    **{kind: (QUIET, own(kind, value="x")) for kind in (
        "queue-operation", "last-prompt", "ai-title", "custom-title", "mode", "permission-mode", "agent-name",
        "agent-color", "agent-setting", "tag", "pr-link", "bridge-session", "atis-latch", "isolation-latch",
        "history-suppression", "session-meta", "task-summary", "speculation-accept", "marble-origami-commit",
        "marble-origami-reset", "frame-link", "relocated", "started", "file-history-delta", "prompt_suggestion",
        "keep_alive", "conversation_reset", "agent_metadata")},
    **{f"system: {kind}": (QUIET, own("system", subtype=kind, content="x", details={"a": 1})) for kind in (
        "compact_boundary", "microcompact_boundary", "turn_duration", "stop_hook_summary", "away_summary",
        "informational", "local_command", "api_error", "api_retry", "status", "hook_started", "hook_progress",
        "hook_response", "task_started", "task_progress", "task_updated", "files_persisted", "mirror_error",
        "scheduled_task_fire", "bridge_status", "model_refusal_fallback")},
    "result of an agent": (QUIET, own("result", key="v2:1", agentId="a1", result={"summary": "Two files."})),
    "a new line without a call": (TOLD, own("battery", level=4, unit="percent")),
    "a new line with what may be one": (OPEN, own("deed", do="drop_user", **{"with": {"id": 1}})),
}  # fmt: skip
ROWS = [
    *(pytest.param("codex", *row, id=f"codex {kind}") for kind, row in CODEX.items()),
    *(pytest.param("claude-code", *row, id=f"claude-code {kind}") for kind, row in CLAUDE.items()),
]


def read(form: str, found: Line) -> Any:
    """The trace of a run with one more line, or why it is refused."""
    if form == "codex":
        asked = item("message", role="user", content=[{"type": "input_text", "text": "Clean up."}])
        lines = [META, asked, found, item("message", role="assistant", content=TEXT)]
    else:
        asked = {**SESSION, "uuid": "u1", "type": "user", "message": {"role": "user", "content": "Clean up."}}
        words = {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "Done."}]}
        lines = [asked, found, {**SESSION, "uuid": "u2", "type": "assistant", "message": words}]
    known = detect.find_format(form)
    assert known is not None
    [record] = known.reader.split(lines)
    return read_record(known.reader, record, TraceLocation("t.jsonl"), "t.jsonl")


@pytest.mark.parametrize(("form", "reading", "found"), ROWS)
def test_a_kind_is_a_call_or_stops_no_gate(form: str, reading: str | list[str], found: Line) -> None:
    trace = read(form, found)
    assert isinstance(trace, Trace), trace.reason
    assert [call["name"] for call in trace.tool_calls] == (reading if isinstance(reading, list) else [])
    assert ("calls" in trace.gaps) == (reading == OPEN or "spawn_agent" in reading)
    warned = any(warning["code"] == "unknown_field" for warning in trace.warnings)
    assert warned == (reading == TOLD)


@pytest.mark.parametrize(("form", "reading", "found"), ROWS)
def test_a_call_in_a_line_of_any_kind_is_not_silent(form: str, reading: str | list[str], found: Line) -> None:
    holder = found["payload"] if form == "codex" else found
    key = "payload" if form == "codex" else "side"
    held = {**holder, "side": CALL} if form == "codex" else CALL
    trace = read(form, {**found, key: held})
    if isinstance(trace, Trace):
        assert "calls" in trace.gaps or "delete_user" in [call["name"] for call in trace.tool_calls]
    else:
        assert "delete_user" in trace.reason
