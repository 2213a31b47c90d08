"""Names files that no format reads: which program wrote them, and what to do instead.

Used for the reason of a refused file only, so that no format has to claim what it can't read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

FIRST = 20
"""Values, and entries of a list, that are looked at."""
CUSTOM = "declare its fields with `format: custom`: `evalgate init --format-help FILE` prints a mapping to start from"
RECIPE = "docs/custom-formats.md has a mapping for it"
STREAM = "record `--output-format stream-json`, which has the calls too"
SPANS = "export the same run as OpenTelemetry spans (docs/traces.md#otlp)"
RESPONSES = "record the conversation instead, with `evalgate record` or as native traces (docs/recording.md)"
NO_RUN = "it does not hold what an agent did: point `traces` at the recorded runs"


class ForeignShape(NamedTuple):
    """A shape that is known and not read.

    `marks` are fields that one object of the file has: `a.b` is the field `b` in `a`, or in the first entry of the
    list `a`; `a=b` has the text `b`; `a^b` has a text that begins with `b`.
    """

    marks: str
    what: str
    advice: str


SHAPES = (
    ForeignShape("schema^evalgate.", "a document of EvalGate that is no trace", NO_RUN),
    ForeignShape("type=session_start cwd sessionTitle", "a session of Droid", RECIPE),
    ForeignShape("type=system session_id cwd model", "a stream of Droid", RECIPE),
    ForeignShape("uuid parentUuid sessionId message.parts", "a session of Qwen Code", RECIPE),
    ForeignShape("type=metadata protocol_version", "a session of Kimi", RECIPE),
    ForeignShape("conversation_id history transcript", "a conversation of Kiro or Amazon Q", CUSTOM),
    ForeignShape("version kind=Prompt data", "a session of Kiro", RECIPE),
    ForeignShape("role=session_meta", "a session of Hermes", RECIPE),
    ForeignShape("agents.messages blocks mcp_servers", "an agent file of Letta", RECIPE),
    ForeignShape("ts type=say say", "messages that Cline shows (its API history is read)", CUSTOM),
    ForeignShape("ts type=ask ask", "messages that Cline shows (its API history is read)", CUSTOM),
    ForeignShape("query response tool_definitions", "rows of Azure AI evaluations", RECIPE),
    ForeignShape("history mistake_agent mistake_step", "a run of the Who&When data set", RECIPE),
    ForeignShape("step_index source status created_at", "a session of Antigravity", CUSTOM),
    ForeignShape("type=assistant model_id content", "a chat history of Grok", CUSTOM),
    ForeignShape("role message.content", "a transcript of Cursor (`--output-format stream-json` is read)", CUSTOM),
    ForeignShape(
        "id sessionID role content", "messages of opencode without its parts", "record with `opencode export`"
    ),
    ForeignShape("working_dir conversation", "a session of Goose", CUSTOM),
    ForeignShape("working_dir message_count", "a session of Goose", CUSTOM),
    ForeignShape("sessionId workspaceDirectory history", "a session of Continue", CUSTOM),
    ForeignShape("agent_steps llm_interactions", "a trajectory of Trae", CUSTOM),
    ForeignShape("step_number code_action observations", "the steps of a smolagents agent", SPANS),
    ForeignShape("history.model_output history.state", "a history of browser-use", CUSTOM),
    ForeignShape("responderUsername requests", "a chat exported from VS Code", RECIPE),
    ForeignShape("session_id response stats", "an answer of `gemini --output-format json`", STREAM),
    ForeignShape("mapping current_node", "an export of ChatGPT", CUSTOM),
    ForeignShape("id title mapping", "an export of ChatGPT", CUSTOM),
    ForeignShape("uuid chat_messages", "an export of claude.ai", CUSTOM),
    ForeignShape("conversations.from conversations.value", "ShareGPT conversations", CUSTOM),
    ForeignShape("session_update payload event_index", "a session of Agenta", CUSTOM),
    ForeignShape("jsonrpc method=session/update", "messages of the Agent Client Protocol", CUSTOM),
    ForeignShape("jsonrpc method", "JSON-RPC messages, as of an MCP server", RESPONSES),
    ForeignShape("type=tool-input-start toolCallId", "chunks of an AI SDK stream", RESPONSES),
    ForeignShape("type=text-delta delta", "chunks of an AI SDK stream", RESPONSES),
    ForeignShape("Role Items", "a chat history of Semantic Kernel", SPANS),
    ForeignShape("user assistant tool_calls", "a chat history of OWL", CUSTOM),
    ForeignShape(
        "patchKey executionProcessId", "entries of Vibe Kanban (the session of its agent may be read)", CUSTOM
    ),
    ForeignShape("method=generateContentStream response", "prepared answers of Gemini CLI's tests", NO_RUN),
    ForeignShape("message finish_reason usage.billed_units", "a response of Cohere", RESPONSES),
    ForeignShape("steps status service_tier usage", "a response of Gemini's Interactions API", RESPONSES),
    ForeignShape("object=thread.run.step", "steps of OpenAI's Assistants API", RESPONSES),
    ForeignShape("data.object=thread.run.step", "steps of OpenAI's Assistants API", RESPONSES),
    ForeignShape("data.object=thread.message", "messages of OpenAI's Assistants API", RESPONSES),
    ForeignShape("custom_id response", "an output of OpenAI's Batch API", "save `response.body` of each line"),
    ForeignShape("_is_merge log_id", "spans of Braintrust", SPANS),
    ForeignShape("span_attributes root_span_id", "spans of Braintrust", SPANS),
    ForeignShape("name input output metadata.provider", "spans of Braintrust without their ids", SPANS),
    ForeignShape("scopeName spanName attributes", "a span of LangWatch", SPANS),
    ForeignShape("op_name started_at inputs", "calls of Weave", SPANS),
    ForeignShape("request_created_at request_body", "requests of Helicone", CUSTOM),
    ForeignShape("ml_app spans", "spans of Datadog", SPANS),
    ForeignShape("data.resultData", "an execution of n8n", CUSTOM),
    ForeignShape("nodes connections", "a workflow of n8n", NO_RUN),
    ForeignShape("conversation_id agent_thoughts", "messages of Dify", CUSTOM),
    ForeignShape("data.conversation_id data.agent_thoughts", "messages of Dify", CUSTOM),
    ForeignShape("chatMessageId chatId text", "an answer of Flowise", CUSTOM),
    ForeignShape("sender_id slots events", "a conversation of Rasa", CUSTOM),
    ForeignShape("qualified_name value", "workflow events of LlamaIndex", SPANS),
    ForeignShape("log.entries log.creator", "a HAR file of a browser", RESPONSES),
    ForeignShape("http_interactions recorded_with", "a cassette of VCR", RESPONSES),
    ForeignShape("interactions.request interactions.response", "a cassette of VCR", RESPONSES),
    ForeignShape("instance_id model_patch", "predictions for SWE-bench", NO_RUN),
    ForeignShape("doc_id resps", "samples of lm-evaluation-harness", NO_RUN),
    ForeignShape("run_id event_id sample_id created_by", "events of OpenAI's evals", CUSTOM),
)
TEXTS = (
    ((b"event:", b"data:", b"id:", b":"), "server-sent events", RESPONSES),
    ((b"# aider chat",), "a chat history of Aider", RESPONSES),
    ((b"<!", b"<html", b"<?xml"), "HTML or XML", NO_RUN),
)
"""How files begin that are not JSON, and what they are."""


def describe_foreign(values: Sequence[Any]) -> str | None:
    """What the first values of a file look like and what to do, if they have a known shape."""
    found = [entry for value in values[:FIRST] for entry in (value[:FIRST] if isinstance(value, list) else [value])]
    for shape in SHAPES:
        if any(all(_has_mark(value, mark) for mark in shape.marks.split()) for value in found):
            return _describe(shape.what, shape.advice)
    return None


def describe_text(data: bytes) -> str | None:
    """What a file is that is not JSON and what to do, if it begins in a known way."""
    head = data[:100].lstrip()
    return next((_describe(what, advice) for starts, what, advice in TEXTS if head.startswith(starts)), None)


def _describe(what: str, advice: str) -> str:
    return f"it looks like {what}; {advice}"


def _has_mark(value: Any, mark: str) -> bool:
    path, equals, text = mark.partition("=")
    path, begins, start = path.partition("^")
    for key in path.split("."):
        first = value[0] if isinstance(value, list) and value else value
        if not isinstance(first, dict) or key not in first:
            return False
        value = first[key]
    return (value == text if equals else True) and (
        isinstance(value, str) and value.startswith(start) if begins else True
    )
