"""Reads Gemini's contents, and requests and responses of `generateContent`, in both spellings of their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import CheckedConversation, MeteredConversation
from evalgate.adapters.formats.core.builder.side_fields import identify_by_side_fields
from evalgate.adapters.formats.core.fields import (
    END_FIELDS,
    dict_or_empty,
    do_each,
    first_entry,
    listing,
    mapping,
    plain_keys,
    required_text,
    text,
)
from evalgate.adapters.formats.core.format import Reader, split_each, words
from evalgate.adapters.formats.core.provider_response import read_provider_response
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import finish_reason
from evalgate.adapters.formats.gemini import is_gemini, is_stream
from evalgate.adapters.formats.messages import gemini
from evalgate.adapters.formats.messages.gemini_side_calls import list_side_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.trace.trace import Trace

CONTENT_FIELDS = frozenset({"role", "parts"})
DATA = ("text", "function_call", "function_response", "executable_code", "code_execution_result")
MEDIA = ("inline_data", "file_data")
TOOLS_OF_GOOGLE = {"tool_call": ("function_call", "args"), "tool_response": ("function_response", "response")}
"""Calls that Google runs have a type of tool in place of a name."""
ABOUT_A_PART = words("""
    thought thought_signature video_metadata media_resolution part_metadata audio_transcription media_processing
    speech_metadata document_metadata spreadsheet_metadata audio_metadata
""")
PART_FIELDS = ABOUT_A_PART.union(DATA, MEDIA, TOOLS_OF_GOOGLE)


def read_content(chat: CheckedConversation, recorded: dict[str, Any]) -> list[RawMessage]:
    """One content, as several messages if it holds results."""
    chat.check_fields(recorded, CONTENT_FIELDS)
    parts: list[dict[str, Any]] = []

    def add_part(value: dict[str, Any]) -> None:
        part = plain_keys(value)
        chat.check_fields(part, PART_FIELDS)
        if plain_keys(dict_or_empty(part.get("function_call"))).get("partial_args"):
            chat.add_unknown("function_call.partial_args")  # pieces that are not put together
        parts.extend(_split_part(part))

    chat.do_each(listing(recorded.get("parts"), "parts"), "parts", add_part)
    return gemini.read_message({"role": recorded.get("role"), "parts": parts})


def _split_part(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One part for each value in it: recorders put several into one."""
    about = {key: part[key] for key in ("thought",) if key in part}
    for kind in (*DATA, *MEDIA):
        if kind in part:
            yield {kind: part[kind], **about}
    for kind, (read_as, field) in TOOLS_OF_GOOGLE.items():
        if kind in part:
            found = plain_keys(mapping(part[kind], kind))
            name = required_text(found.get("tool_type"), f"{kind}.tool_type").lower()
            yield {read_as: {"id": found.get("id"), "name": name, field: found.get(field)}}


ADVICE = "record each call as a part with `function_call`"
PROVIDER = "gcp.gemini"
ENDS_WITH_ALL = frozenset({"", "STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED"})
"""Reasons of the end of an answer from which nothing was taken, unlike a blocked or malformed one."""
RETRY = "what it would have called is not recorded; run the agent again"
MAX_REASON = 40
SETTINGS = words("""
    config generation_config safety_settings tools tool_config labels cached_content generationConfig safetySettings
    toolConfig cachedContent
""")
"""Fields with settings of a request: no call is in them."""
SIDE_FIELDS = words("""
    id key model provider metadata scenario_id trial scores cost cost_usd latency_ms latency_seconds
""").union(END_FIELDS)
REQUEST_FIELDS = SETTINGS | SIDE_FIELDS | {"contents", "history", "system_instruction"}
RESPONSE_FIELDS = words("""
    candidates create_time model_version prompt_feedback response_id usage_metadata model_status
    automatic_function_calling_history sdk_http_response parsed
""")
CANDIDATE_FIELDS = words("""
    content citation_metadata finish_message token_count finish_reason grounding_metadata avg_logprobs index
    logprobs_result safety_ratings url_context_metadata continuation_token
""")
DOCUMENT_FIELDS = REQUEST_FIELDS | RESPONSE_FIELDS | {"request", "response"}


def build(record: Any) -> Trace:
    """Builds one trace from the contents, the response and the fields next to them."""
    require_shallow(record)
    if isinstance(record, list):  # chunks of a stream become one response
        document = _join_chunks(record) if is_stream(record) else {"contents": record}
    else:
        document = plain_keys(mapping(record, ""))
    chat = CheckedConversation(ADVICE)
    chat.check_fields(document, DOCUMENT_FIELDS)
    request = _read_part_of(chat, document, "request", REQUEST_FIELDS) or document
    response = _read_part_of(chat, document, "response", RESPONSE_FIELDS) or document
    _add_instructions(chat, request)
    contents = _list_contents(request)
    history = listing(response.get("automatic_function_calling_history"), "automatic_function_calling_history")
    path = "automatic_function_calling_history" if history else "contents"
    chat.do_each(history or contents, path, lambda content: chat.add_messages(read_content(chat, content)))
    chat.unmetered = _count_answers(history or contents)
    found = read_provider_response(response)
    response_id, answer_end = text(response.get("response_id"), "response_id"), None
    if response is not document or not RESPONSE_FIELDS.isdisjoint(document):
        chat.unmetered = _count_answers((history or contents)[len(contents) :])
        answer_end = _add_answer(chat, response)
        chat.add_llm_call(found.usage, answer_end, provider=PROVIDER, model=found.model, response_id=response_id)
    trace = chat.build_trace(_list_side_fields(document, request, found.model))
    trace.provider = trace.provider or PROVIDER
    trace.trace_id = trace.trace_id or response_id or ""
    chat.note_unknown(trace)
    if answer_end is not None and answer_end.rpartition(".")[2].upper() not in ENDS_WITH_ALL:
        add_gap(trace, "calls", f"the model's last answer was withheld or cut ({answer_end[:MAX_REASON]}): {RETRY}")
    return trace


def _read_part_of(
    chat: CheckedConversation, document: dict[str, Any], key: str, known: frozenset[str]
) -> dict[str, Any] | None:
    """The request or the response of a document that has it in a separate field."""
    if document.get(key) is None:
        return None
    value = document[key]
    found = _join_chunks(value) if type(value) is list else plain_keys(mapping(value, key))
    with chat.at(key):
        chat.check_fields(found, known)
    return found


def _join_chunks(chunks: list[Any]) -> dict[str, Any]:
    """One response from the chunks of a stream: all parts, and the figures of the last chunk that has them."""
    joined: dict[str, Any] = {}
    parts: list[Any] = []
    first: dict[str, Any] = {}
    whole: dict[str, Any] = {}
    for number, value in enumerate(chunks):
        chunk = plain_keys(mapping(value, f"[{number}]"))
        path = f"[{number}].candidates"
        candidate = plain_keys(first_entry(chunk.get("candidates"), path))
        content = mapping(candidate.get("content"), f"{path}[0].content")
        parts += listing(content.get("parts"), f"{path}[0].content.parts")
        whole.update(content)
        first.update(candidate)
        joined.update(chunk)
    if first:
        joined["candidates"] = [{**first, "content": {**whole, "parts": parts}}]
    return joined


def _list_contents(request: dict[str, Any]) -> list[Any]:
    """The contents; a plain text is one of the user."""
    key = "contents" if request.get("contents") is not None else "history"
    value = request.get(key)
    if type(value) is str:
        return [{"role": "user", "parts": [{"text": value}]}]
    found = [value] if type(value) is dict else listing(value, key)
    return [{"role": "user", "parts": [{"text": one}]} if type(one) is str else one for one in found]


def _add_instructions(chat: MeteredConversation, request: dict[str, Any]) -> None:
    config = plain_keys(dict_or_empty(request.get("config")))
    value = request.get("system_instruction", config.get("system_instruction"))
    if type(value) is dict:
        parts = [dict_or_empty(part).get("text") for part in listing(value.get("parts"), "system_instruction.parts")]
        value = "\n".join(part for part in parts if type(part) is str)
    system = text(value, "system_instruction")
    if system:
        chat.add_messages([RawMessage("system", system)])


def _count_answers(contents: list[Any]) -> int:
    return sum(dict_or_empty(content).get("role") == "model" for content in contents)


def _add_answer(chat: CheckedConversation, response: dict[str, Any]) -> str | None:
    """Adds the first candidate, and the calls of others as unknown; returns the finish reason."""
    if not listing(response.get("candidates"), "candidates"):
        feedback = plain_keys(mapping(response.get("prompt_feedback"), "prompt_feedback"))
        return text(feedback.get("block_reason"), "prompt_feedback.block_reason")
    candidate = plain_keys(first_entry(response["candidates"], "candidates"))
    with chat.at("candidates[0]"):
        chat.check_fields(candidate, CANDIDATE_FIELDS)
        reason = text(candidate.get("finish_reason"), "finish_reason")
        content = plain_keys(mapping(candidate.get("content"), "content"))
        parts = listing(content.get("parts"), "content.parts")
        beside = list_side_calls(candidate, parts)
        if parts or beside:
            with chat.at("content"):
                messages = read_content(chat, {"role": "model", **content, "parts": [*beside, *parts]})
            answers = [message for message in messages if message.role == "assistant"]
            if answers:
                answers[-1].finish_reason = finish_reason(reason)
            chat.add_messages(messages)
    return reason


def _list_side_fields(document: dict[str, Any], request: dict[str, Any], model: str | None) -> dict[str, Any]:
    """The fields next to the contents, with the model that answered, else the requested one, and the tools."""
    fields = {key: document[key] for key in SIDE_FIELDS if document.get(key) is not None}
    fields.setdefault("id", document.get("key"))
    fields["model"] = model or fields.get("model", request.get("model"))
    config = plain_keys(dict_or_empty(request.get("config")))
    tools: list[dict[str, Any]] = []
    do_each(listing(request.get("tools", config.get("tools")), "tools"), "tools", lambda tool: _add_tools(tools, tool))
    return {**fields, "tools": tools, "response": document.get("response")}


def _add_tools(tools: list[dict[str, Any]], tool: dict[str, Any]) -> None:
    """Adds the functions that a tool declares; Google's own tools have no definition."""
    declared = listing(plain_keys(tool).get("function_declarations"), "function_declarations")
    for number, value in enumerate(declared):
        found = plain_keys(mapping(value, f"function_declarations[{number}]"))
        found.setdefault("parameters", found.get("parameters_json_schema"))
        tools.append({key: found[key] for key in ("name", "description", "parameters") if found.get(key) is not None})


READER = Reader(
    build=build, identify=identify_by_side_fields, shapes=(), split=split_each(is_gemini), without_calls=SETTINGS
)
