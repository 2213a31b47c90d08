"""Reads Amazon Bedrock's Converse requests and responses, and the messages of Strands Agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.bedrock import (
    is_agent_result,
    is_bedrock,
    is_converse_response,
    is_session_message,
    is_snapshot,
    unwrap_session_message,
)
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import (
    CheckedConversation,
    MeteredConversation,
    measure_user_wait,
    open_record,
)
from evalgate.adapters.formats.core.builder.side_fields import SIDE_FIELDS, identify_by_side_fields, select_side_fields
from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    amount,
    dict_or_empty,
    filled_text,
    listing,
    mapping,
    objects,
    read_at,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.format import Identity, Reader, split_each, words
from evalgate.adapters.formats.core.usage import TokenTable
from evalgate.adapters.formats.messages.blocks import MessageBuilder, check_arguments

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role, Trace

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
MESSAGE_FIELDS = frozenset({"role", "content", "metadata", "tracking_id"})
MEDIA = frozenset({"image", "document", "video", "audio", "searchResult"})
WITHOUT_TEXT = frozenset({"cachePoint", "toolAddition", "toolRemoval"})
BLOCKS = frozenset({"text", "toolUse", "toolResult", "reasoningContent", "citationsContent", "guardContent"})
KNOWN_BLOCKS = BLOCKS | MEDIA | WITHOUT_TEXT


def read_message(chat: CheckedConversation, message: dict[str, Any]) -> list[RawMessage]:
    """One message, as several if it holds tool results."""
    role = required_text(message.get("role"), "role")
    if role not in ROLES:
        raise FieldError("role", "is not one of user, assistant, system")
    chat.check_fields(message, MESSAGE_FIELDS)
    builder = MessageBuilder(RawMessage(ROLES[role]))
    content = message.get("content")
    if type(content) is str:
        builder.add_text(content)
    else:
        chat.do_each(listing(content, "content"), "content", lambda block: _add_block(chat, builder, block))
    return builder.build_messages()


def read_system(value: Any) -> str | None:
    """The text of the system's blocks, or of a plain prompt."""
    if value is None or type(value) is str:
        return value
    return "\n".join(filter(None, map(_get_text, objects(value, "system")))) or None


def _add_block(chat: CheckedConversation, builder: MessageBuilder, block: dict[str, Any]) -> None:
    chat.check_fields(block, KNOWN_BLOCKS)
    if block.get("toolResult") is not None:
        builder.add_result(_read_result(mapping(block["toolResult"], "toolResult")))
    if block.keys() == {"toolResult"}:
        return
    builder.start_after_results()
    if block.get("reasoningContent") is not None:
        builder.add_reasoning(read_at(block, "reasoningContent.reasoningText.text", text))
    builder.add_text(_get_text(block))
    if block.get("toolUse") is not None:
        builder.add_call(ToolRequest(**CALL.read(block["toolUse"], "toolUse")))
    for kind in sorted(block.keys() - BLOCKS - WITHOUT_TEXT):
        builder.add_other("search_result" if kind == "searchResult" else kind)


CALL = FieldTable(id=(filled_text, "toolUseId"), name=required_text, arguments=(check_arguments, "input"))


def _read_result(result: dict[str, Any]) -> ToolResult:
    items = result.get("content")
    if type(items) is list:
        items = _read_items(items)
    call_id = text(result.get("toolUseId"), "toolResult.toolUseId") or None
    return ToolResult(call_id, None, items, text(result.get("status"), "toolResult.status") == "error")


def _read_items(items: list[Any]) -> Any:
    """The text of all items if they are text, the value of a single `json`, else the items without media."""
    if items and all(type(item) is dict and type(item.get("text")) is str for item in items):
        return "\n".join(item["text"] for item in items)
    if len(items) == 1 and type(items[0]) is dict and items[0].keys() == {"json"}:
        return items[0]["json"]
    kinds = [sorted(MEDIA.intersection(item)) if type(item) is dict else [] for item in items]
    return [{"type": kind[0]} if kind else item for item, kind in zip(items, kinds, strict=True)]


def _get_text(block: dict[str, Any]) -> str | None:
    """The text of a block, of its citations or of its guarded content."""
    if block.get("text") is not None:
        return text(block["text"], "text")
    if block.get("citationsContent") is not None:
        cited = mapping(block["citationsContent"], "citationsContent")
        parts = [dict_or_empty(part).get("text") for part in listing(cited.get("content"), "citationsContent.content")]
        return "".join(part for part in parts if type(part) is str) or None
    guarded = dict_or_empty(dict_or_empty(block.get("guardContent")).get("text"))
    return text(guarded.get("text"), "guardContent.text.text")


ADVICE = "record each call as a `toolUse` block of its message"
ONLY_LAST_MESSAGE = "a result of an agent holds only its last message: record `agent.messages` instead"
PROVIDER = "aws.bedrock"
SETTINGS = words("""
    inferenceConfig guardrailConfig additionalModelRequestFields promptVariables additionalModelResponseFieldPaths
    requestMetadata performanceConfig serviceTier outputConfig toolConfig state conversation_manager_state app_data
""")
"""Fields with settings of a request, or the state of an agent's own code: no call is in them."""
REQUEST_FIELDS = SETTINGS | SIDE_FIELDS | {"modelId", "messages", "system", "system_prompt", "usage"}
RESPONSE_FIELDS = SETTINGS | words("""
    output stopReason usage metrics trace ResponseMetadata additionalModelResponseFields message stop_reason
""")
DOCUMENT_FIELDS = REQUEST_FIELDS | {"request", "response", "type", "data", "scope", "schema_version", "created_at"}
STATE_FIELDS = REQUEST_FIELDS | {"model_state"}


def identify(record: Any) -> Identity:
    """Scenario id and trial, next to the messages or in the data that an application adds to a snapshot."""
    found = identify_by_side_fields(record)
    if found == (None, None) and isinstance(record, dict) and is_snapshot(record):
        return identify_by_side_fields({"metadata": record.get("app_data")})
    return found


def build(record: Any) -> Trace:
    """Builds one trace from the messages, the response and the fields next to them."""
    document = open_record(record, "messages")
    chat = CheckedConversation(ADVICE)
    request, path = _find_request(document)
    response, response_path = _find_response(document)
    with chat.at(path):
        _add_request(chat, request)
    if response:
        model = text(request.get("modelId"), "modelId")
        with chat.at(response_path):
            _add_response(chat, response, model)
    elif document.get("usage") is not None:
        chat.total = USAGE.read(document["usage"], "usage")
    _check_documents(chat, document, request, response)
    trace = chat.build_trace(_list_side_fields(document, request))
    _finish_trace(trace, chat)
    if is_agent_result(document):
        add_gap(trace, "calls", ONLY_LAST_MESSAGE)
    chat.note_unknown(trace)
    return trace


def _find_request(document: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The object with the messages, and its path."""
    if isinstance(document.get("request"), dict):
        return document["request"], "request"
    return (document["data"], "data") if is_snapshot(document) else (document, "")


def _find_response(document: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if document.get("response") is not None:
        return mapping(document["response"], "response"), "response"
    if is_converse_response(document) or is_agent_result(document):
        return document, ""
    return {}, ""


def _check_documents(
    chat: CheckedConversation, document: dict[str, Any], request: dict[str, Any], response: dict[str, Any]
) -> None:
    extra = RESPONSE_FIELDS if response is document else frozenset[str]()
    if isinstance(document.get("checkpoint"), dict) and is_agent_result(document):
        extra |= {"checkpoint"}  # where a run was paused; the run's messages are missing in any case
    chat.check_fields(document, DOCUMENT_FIELDS | extra)
    if request is not document:
        with chat.at("request" if request is document.get("request") else "data"):
            chat.check_fields(request, STATE_FIELDS | {"interrupt_state"})
    if response and response is not document:
        with chat.at("response"):
            chat.check_fields(response, RESPONSE_FIELDS)


def _add_request(chat: CheckedConversation, request: dict[str, Any]) -> None:
    system = read_system(request.get("system" if request.get("system") is not None else "system_prompt"))
    if system:
        chat.add_messages([RawMessage("system", system)])
    chat.do_each(listing(request.get("messages"), "messages"), "messages", lambda value: _add_message(chat, value))


def _add_message(chat: CheckedConversation, value: dict[str, Any]) -> None:
    message = unwrap_session_message(value)
    messages = read_message(chat, message)
    if is_session_message(value):
        when = time(value.get("created_at"), "created_at")
        for one in messages:
            one.timestamp = when
    chat.add_messages(messages)
    metadata = dict_or_empty(message.get("metadata"))
    if message.get("role") == "assistant" and metadata.get("usage") is not None:
        with chat.at("metadata"):
            _add_llm_call(chat, metadata, None, None)
    else:
        chat.unmetered += message.get("role") == "assistant"


def _add_response(chat: CheckedConversation, response: dict[str, Any], model: str | None) -> None:
    """Adds the answer; earlier answers are part of the prompt, so they need no tokens."""
    if not chat.llm_calls:
        chat.unmetered = 0
    is_result = is_agent_result(response)
    reason = text(response.get("stop_reason" if is_result else "stopReason"), "stopReason")
    place = "message" if is_result else "output.message"
    message = read_at(response, place, mapping)
    with chat.at(place):
        messages = read_message(chat, message)
    answers = [one for one in messages if one.role == "assistant"]
    if answers:
        answers[-1].finish_reason = reason
    chat.add_messages(messages)
    _add_llm_call(chat, response, model, reason)
    meta = dict_or_empty(response.get("ResponseMetadata"))
    chat.llm_calls[-1]["response_id"] = text(meta.get("RequestId"), "ResponseMetadata.RequestId")


def _add_llm_call(chat: CheckedConversation, metered: dict[str, Any], model: str | None, reason: str | None) -> None:
    """Adds a model call with its tokens and latency, as a response or the metadata of a message has them."""
    usage = metered.get("usage")
    chat.add_llm_call(
        None if usage is None else USAGE.read(usage, "usage"),
        reason,
        provider=None if model is None else PROVIDER,
        model=model,
        duration_ms=read_at(metered, "metrics.latencyMs", amount),
    )


USAGE = TokenTable(
    "bedrock",
    input_tokens="inputTokens",
    output_tokens="outputTokens",
    total_tokens="totalTokens",
    cache_read_input_tokens="cacheReadInputTokens",
    cache_write_input_tokens="cacheWriteInputTokens",
)


def _list_side_fields(document: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """The fields next to the messages, with model and tools as a request names them."""
    fields = {**select_side_fields(document), "response": document.get("response")}
    if "metadata" not in fields and is_snapshot(document):
        fields["metadata"] = document.get("app_data")
    fields.setdefault("model", request.get("modelId"))
    if "tools" not in fields:
        tools = read_at(request, "toolConfig.tools", TOOL.read_each)
        fields["tools"] = [tool["client"] or tool["system"] for tool in tools if tool["client"] or tool["system"]]
    return fields


def _read_tool(value: Any, path: str) -> dict[str, Any]:
    spec = mapping(value, path)
    schema = dict_or_empty(spec.get("inputSchema"))
    kept: dict[str, Any] = {key: spec[key] for key in ("name", "description") if key in spec}
    return {**kept, "parameters": schema.get("json", schema)} if schema else kept


TOOL = FieldTable(client=(_read_tool, "toolSpec"), system=(_read_tool, "systemTool"))


def _finish_trace(trace: Trace, chat: MeteredConversation) -> None:
    """Sets the latency: by the times of messages, else that of the only model call."""
    if trace.latency["total_ms"] is None:
        trace.latency = measure_user_wait(trace.messages)
    answers = sum(message["role"] == "assistant" for message in trace.messages)
    if trace.latency["total_ms"] is None and len(chat.llm_calls) == 1 and answers == 1:
        trace.latency = {"total_ms": chat.llm_calls[0]["duration_ms"], "source": "recorded"}
        if trace.latency["total_ms"] is None:
            trace.latency["source"] = "none"


READER = Reader(
    build=build,
    identify=identify,
    shapes=(),
    split=split_each(is_bedrock),
    without_calls=SETTINGS,
    is_of_one_agent=True,
)
