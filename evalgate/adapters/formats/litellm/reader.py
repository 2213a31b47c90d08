"""Reads LiteLLM's log: one object for each model call, with the whole request and the answer."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.builder.evidence_gaps import OF_MESSAGES, add_gap
from evalgate.adapters.formats.core.builder.run import build_model_error, measure_between, read_tags, set_cost
from evalgate.adapters.formats.core.builder.side_fields import (
    add_listed_calls,
    identify_by_metadata,
    read_tool_definitions,
    set_scenario_and_trial,
)
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    dict_or_empty,
    listing,
    mapping,
    milliseconds_between,
    prefix_errors,
    read_timestamp,
    required_text,
    text,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, first_object, words
from evalgate.adapters.formats.core.provider_response import read_provider_response
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.token_rules import RULES
from evalgate.adapters.formats.core.usage import TokenTable, build_usage, read_cost_usd, sum_call_costs
from evalgate.adapters.formats.litellm import is_payload, list_payloads
from evalgate.adapters.formats.messages.kept_elsewhere import note_earlier
from evalgate.adapters.formats.messages.known_fields import ITEM_FIELDS, PART_FIELDS
from evalgate.adapters.formats.messages.logged_calls import LoggedCall, build_conversation
from evalgate.adapters.formats.messages.sniff_messages import sniff_messages
from evalgate.models.trace.trace import unknown_usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import ModelError, Trace, Usage

REDACTED = "redacted-by-litellm"
STATUS_CODE = re.compile(r"[1-5][0-9][0-9]")
WITHOUT_CONTENT = "LiteLLM logged no content: set `turn_off_message_logging` to false and log messages and responses"
MCP_CALL = "call_mcp_tool"
WITHOUT_ANSWER = ("embedding", "moderation", "rerank", "image", "speech", "transcription", "list_mcp_tools", "file")
METADATA_KEYS = ("requester_metadata", "spend_logs_metadata")
PLACES = ("messages", "response")
WRAPPED_ID = "response_id:"


def split(documents: Any) -> Sequence[Any]:
    """Groups model calls into runs: by scenario, else by session or trace id, or where one continues another."""
    runs: dict[Any, list[Any]] = {}
    for document in documents:
        for payload in list_payloads(document):
            key = _find_key(payload)
            if key not in runs:
                key = next((one for one, run in reversed(runs.items()) if _continues(run[-1], payload)), key)
            runs.setdefault(key, []).append(payload)
    return list(runs.values())


def identify(record: Any) -> Identity:
    """Scenario id and trial in the metadata of the first payload that has them."""
    for payload in record if isinstance(record, list) else ():
        identity = identify_by_metadata(_read_metadata(payload))
        if identity[0] is not None:
            return identity
    return None, None


def build(record: Any) -> Trace:
    """Builds one run from its model calls."""
    require_shallow(record)
    payloads = sorted(_check_payloads(record), key=_get_start)
    calls, tools = [], []
    for number, payload in enumerate(payloads):
        with prefix_errors("", number):
            calls.append(_read_call(payload))
            tools += _read_mcp_call(payload)
    chat = build_conversation(calls, is_one_thread=False)
    add_listed_calls(chat.conversation, tools, "metadata.mcp_tool_call_metadata")
    if not chat.conversation.messages and chat.conversation.calls:
        chat.add_messages([RawMessage("assistant")])
    chat.failure = _read_failure(payloads[-1])
    trace = chat.build_trace({}, "litellm")
    _add_facts(trace, payloads)
    if chat.failure is not None:
        trace.status, trace.error = "error", {"type": chat.failure["type"], "message": chat.failure["message"]}
    asked = [
        (call.response_id if call.is_metered else "", [payload.get("model_parameters"), payload.get("response")])
        for call, payload in zip(calls, payloads, strict=True)
    ]
    note_earlier(trace, asked, filter(None, (_find_provider_id(call.response_id) for call in calls)))
    if any(map(_lacks_content, payloads)):
        for kind in OF_MESSAGES:
            add_gap(trace, kind, WITHOUT_CONTENT)
    return trace


def _find_provider_id(answer: str | None) -> str | None:
    """The provider's own id of an answer of the Responses API, which LiteLLM wraps in one of its own."""
    wrapped = (answer or "").removeprefix("resp_")
    try:
        found = b64decode(wrapped, validate=True).decode()
    except ValueError:
        return None
    return found.partition(WRAPPED_ID)[2] or None


def _check_payloads(record: list[Any]) -> Iterator[dict[str, Any]]:
    for number, payload in enumerate(record):
        if not is_payload(payload):
            raise FieldError(f"[{number}]", "is not the log of a model call")
        yield payload


def _find_key(payload: Any) -> Any:
    if not isinstance(payload, dict):
        return None
    scenario, trial = identify_by_metadata(_read_metadata(payload))
    if scenario is not None:
        return scenario, trial
    return str(payload.get("session_id") or payload.get("trace_id") or payload.get("id"))


def _continues(earlier: Any, later: Any) -> bool:
    """True if the later request starts with the earlier one's messages, as each request of a loop does."""
    if not isinstance(earlier, dict) or not isinstance(later, dict):
        return False
    one, other = earlier.get("messages"), later.get("messages")
    if not isinstance(one, list) or not isinstance(other, list) or not one:
        return False
    return len(other) > len(one) and other[: len(one)] == one


def _read_metadata(payload: Any) -> dict[str, Any]:
    """What the caller wrote into the metadata, wherever LiteLLM keeps it."""
    metadata = dict_or_empty(dict_or_empty(payload).get("metadata"))
    found = {key: value for key, value in metadata.items() if key.startswith("evalgate.")}
    for key in METADATA_KEYS:
        found = {**dict_or_empty(metadata.get(key)), **found}
    return found


def _get_start(payload: dict[str, Any]) -> float:
    return amount(payload["startTime"], "startTime") or 0.0


def _read_call(payload: dict[str, Any]) -> LoggedCall:
    has_failed = payload.get("status") == "failure"
    response = read_provider_response(payload.get("response"))
    usage = _read_usage(payload)
    cost = None
    if payload.get("response_cost_failure_debug_info") is None:
        cost, _ = read_cost_usd(
            payload["response_cost"], unknown_usage() if payload.get("cache_hit") else usage, "cost"
        )
    request, answer = _read_request(payload), _read_answer(payload)
    if answer and response.finish_reason:
        answer[-1].finish_reason = response.finish_reason
    return LoggedCall(
        request,
        answer,
        usage,
        None if cost is None else cost["usd"],
        text(payload.get("custom_llm_provider"), "custom_llm_provider") or None,
        text(payload.get("model"), "model") or None,
        response.id,
        response.finish_reason,
        milliseconds_between(*_read_times(payload)),
        is_metered=not has_failed and payload["call_type"] != MCP_CALL,
    )


def _read_request(payload: dict[str, Any]) -> list[RawMessage]:
    """The request's messages; text is the prompt of a completion or of a response."""
    if not _has_answer(payload):
        return []
    recorded = payload.get("messages")
    if not recorded or recorded == REDACTED:
        return []
    found = [RawMessage("user", recorded)] if isinstance(recorded, str) else sniff_messages(recorded)
    if found is None:
        raise FieldError("messages", "are not of a known form")
    parameters = dict_or_empty(payload.get("model_parameters"))
    system = parameters.get("instructions", parameters.get("system"))
    known = [RawMessage("system", system)] if isinstance(system, str) and system else []
    return [*known, *(message for message in found if message.content != REDACTED)]


def _read_answer(payload: dict[str, Any]) -> list[RawMessage]:
    recorded = payload.get("response")
    if not _has_answer(payload) or not recorded:
        return []
    if isinstance(recorded, str):
        return [RawMessage("assistant", recorded)] if recorded != REDACTED else []
    found = sniff_messages(recorded)
    if found is None and isinstance(recorded, dict):
        answer = first_object(recorded.get("choices")).get("text")  # a completion without messages
        found = [RawMessage("assistant", answer)] if isinstance(answer, str) else None
    if found is None:
        if payload.get("status") == "failure":
            return []
        raise FieldError("response", "is not of a known form")
    return [message for message in found if message.content != REDACTED]


def _has_answer(payload: dict[str, Any]) -> bool:
    kind = required_text(payload["call_type"], "call_type")
    return kind != MCP_CALL and not any(word in kind for word in WITHOUT_ANSWER)


def _lacks_content(payload: dict[str, Any]) -> bool:
    """True if the messages or the answer of a call that succeeded were not logged."""
    if not _has_answer(payload) or payload.get("status") == "failure":
        return False
    return any(not payload.get(place) or _is_redacted(payload[place]) for place in PLACES)


def _is_redacted(value: Any) -> bool:
    """True if LiteLLM put its mark where the texts of messages were."""
    if isinstance(value, list):
        return any(map(_is_redacted, value))
    if isinstance(value, dict):
        keys = ("content", "message", "choices", "output", "text")
        return any(_is_redacted(value[key]) for key in keys if value.get(key))
    return value == REDACTED  # type: ignore[no-any-return]


def _read_mcp_call(payload: dict[str, Any]) -> list[dict[str, Any]]:
    """The call of a tool that LiteLLM's proxy ran, in the form of a listed call."""
    metadata = mapping(payload.get("metadata"), "metadata")
    recorded = mapping(metadata.get("mcp_tool_call_metadata"), "metadata.mcp_tool_call_metadata")
    if not recorded:
        if payload["call_type"] == MCP_CALL:
            raise FieldError("metadata.mcp_tool_call_metadata", "is missing")
        return []
    call = {"name": recorded.get("name"), "arguments": recorded.get("arguments"), "result": recorded.get("result")}
    if payload.get("status") == "failure":
        call["error"] = text(payload.get("error_str"), "error_str") or "the tool failed"
    return [call]


def _read_usage(payload: dict[str, Any]) -> Usage:
    """The tokens of one call. LiteLLM writes 0 where the provider counted none."""
    usage = USAGE.read_if_counted(payload, "")
    reported = read_provider_response(payload.get("response")).usage
    if usage is not None and reported is not None:
        details = {key: number for key, number in reported.items() if key in DETAILS}
        usage = build_usage({**usage, **details}, RULES["litellm"], "response")
    return usage or unknown_usage()


DETAILS = ("cache_read_input_tokens", "cache_write_input_tokens", "reasoning_output_tokens")
USAGE = TokenTable(
    "plain", input_tokens="prompt_tokens", output_tokens="completion_tokens", total_tokens="total_tokens"
)


def _read_times(payload: dict[str, Any]) -> tuple[str | None, str | None]:
    return read_timestamp(payload["startTime"], "startTime"), read_timestamp(payload["endTime"], "endTime")


def _add_facts(trace: Trace, payloads: list[dict[str, Any]]) -> None:
    """Adds ids, times, cost, tools and tags. The run lasts from the first request to the last answer."""
    first = payloads[0]
    trace.conversation_id = text(first.get("session_id") or first.get("trace_id"), "trace_id") or None
    trace.trace_id = text(first.get("id"), "id") or ""
    trace.model = trace.model or text(payloads[-1].get("model"), "model") or None
    trace.metadata = {key: value for payload in payloads for key, value in _read_metadata(payload).items()}
    set_scenario_and_trial(trace, trace.metadata)
    times = [_read_times(payload) for payload in payloads]
    trace.started_at = min((start for start, _ in times if start is not None), default=None)
    trace.ended_at = max((end for _, end in times if end is not None), default=None)
    trace.latency = measure_between(trace.started_at, trace.ended_at)
    set_cost(trace, sum_call_costs(trace.llm_calls), "response_cost")
    tools = [mapping(payload.get("model_parameters"), "model_parameters").get("tools") for payload in payloads]
    longest = max((listing(each, "model_parameters.tools") for each in tools), key=len)
    trace.tool_definitions = read_tool_definitions(longest)
    tags = [tag for payload in payloads for tag in read_tags(payload.get("request_tags"), "request_tags")]
    trace.tags = sorted(set(tags))


def _read_failure(last: dict[str, Any]) -> ModelError | None:
    """Why the last model call failed; None if it did not."""
    if last.get("status") != "failure" or last["call_type"] == MCP_CALL:
        return None
    information = mapping(last.get("error_information"), "error_information")
    kind = text(information.get("error_class"), "error_information.error_class") or None
    message = text(last.get("error_str"), "error_str") or text(information.get("error_message"), "error_message")
    code = str(information.get("error_code") or "")
    return build_model_error(kind, message, int(code) if STATUS_CODE.fullmatch(code) else None)


PAYLOAD_FIELDS = words("""
    messages response metadata model_parameters hidden_params model_map_information cost_breakdown
    autorouter_savings_estimate response_cost_failure_debug_info zero_cost_diagnostic status_fields request_tags
    request_model_access_groups error_information error_str guardrail_information standard_built_in_tools_params
    classifier_audit cache_key
""")
"""Fields of a payload that hold objects, lists or JSON as text, and no calls but those read here."""
CHOICE_FIELDS = frozenset({"message", "logprobs", "content_filter_results", "provider_specific_fields", "token_ids"})
RESPONSE_FIELDS = words("""
    choices output content usage data metadata tools text reasoning tool_choice provider_specific_fields service_tier
    incomplete_details error instructions billing user prompt truncation vertex_ai_grounding_metadata
    vertex_ai_url_context_metadata context_management vertex_ai_safety_results vertex_ai_citation_metadata
    prompt_filter_results container moderation
""")
ITEMS = (("messages", EACH), ("response", "output", EACH), ("response", "choices", EACH, "message"))
SHAPES = (
    Shape((EACH,), PAYLOAD_FIELDS),
    Shape((EACH, "response"), RESPONSE_FIELDS),
    Shape((EACH, "response", "choices", EACH), CHOICE_FIELDS),
    Shape((EACH, "response", "content", EACH), PART_FIELDS),
    *(Shape((EACH, *path), ITEM_FIELDS) for path in ITEMS),
    *(Shape((EACH, *path, "content", EACH), PART_FIELDS) for path in ITEMS),
)
READER = Reader(
    build=build,
    identify=identify,
    split=split,
    shapes=SHAPES,
    without_calls=frozenset({"guardrail_information", "model_map_information", "hidden_params", "model_parameters"}),
)
