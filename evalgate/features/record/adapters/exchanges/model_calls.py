"""Reads an exchange as a model call: the messages of its request, those of its answer, and its figures.

OpenAI's chat and Responses and Anthropic's messages; other paths (embeddings, images) are calls without messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct, field

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, read_arguments
from evalgate.adapters.formats.core.builder.evidence_gaps import shorten
from evalgate.adapters.formats.core.builder.run import build_model_error
from evalgate.adapters.formats.core.provider_response import ProviderResponse, read_provider_response
from evalgate.adapters.formats.core.strict_json import encode_json, encode_text
from evalgate.adapters.formats.core.usage import finish_reason
from evalgate.adapters.formats.messages import responses, roles
from evalgate.adapters.formats.messages.blocks import join_text
from evalgate.adapters.formats.messages.kept_elsewhere import (
    REFERENCE,
    Elsewhere,
    find_conversation,
    find_earlier,
    find_items,
    find_replaced,
)
from evalgate.errors import TraceError
from evalgate.features.record.adapters.exchanges.beside import build_records, select_results
from evalgate.features.record.adapters.exchanges.model_settings import read_settings
from evalgate.features.record.measures.other_paths import (
    ANTHROPIC,
    CHAT,
    RESPONSES,
    asks_nothing,
    find_api,
    may_hold_calls,
)
from evalgate.features.record.measures.provider_error import find_error_message
from evalgate.features.record.measures.provider_json import Decoded, decode_repaired
from evalgate.features.record.measures.streams import read_answer
from evalgate.features.record.models.exchange import FIRST_ERROR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.features.record.models.exchange import Exchange
    from evalgate.models.trace.trace import ModelError

FAILED = ("failed", "cancelled")
CUT = "length"
REQUEST_NOT_JSON = "its request is not a JSON object"
NO_LIST = "its request has no list of messages, or more in it than objects"
NO_MESSAGE = "its answer has no message"
OTHER_CHOICE = "it has several answers, and one of them asks for another call than the first"

MessageKey = tuple[Any, ...]
"""What two spellings of one message have in common."""


class ExchangeCall(Struct):
    """One exchange, read; `system` is what it instructs, `messages` what follows, `api` None if it has no messages."""

    exchange: Exchange
    api: str | None
    system: str | None = None
    messages: list[RawMessage] = field(default_factory=list)
    answer: list[RawMessage] = field(default_factory=list)
    keys: list[MessageKey] = field(default_factory=list)
    answer_keys: list[MessageKey] = field(default_factory=list)
    response: ProviderResponse = ProviderResponse()
    finish_reason: str | None = None
    error: ModelError | None = None
    previous_id: str | None = None
    """The response, or the conversation that the provider keeps, with which it goes on."""
    conversation_id: str | None = None
    elsewhere: list[Elsewhere | None] = field(default_factory=list)
    """What of its conversation is not recorded."""
    tools: list[dict[str, Any]] = field(default_factory=list)
    forced_tool: str | None = None
    """The tool that the request makes the model call."""
    settings: dict[str, str] = field(default_factory=dict)
    problem: str | None = None
    """Why not all of its messages could be read."""
    new: list[dict[str, Any]] = field(default_factory=list)
    """The messages or items of its request that no earlier one had, as they are."""
    shown: list[Any] = field(default_factory=list)
    """What it shows, as files hold it: what was not read of it is no call that may vanish."""
    own_events: Sequence[dict[str, Any]] = ()
    has_halves: bool = False
    """Whether a half character was replaced by U+FFFD."""

    @property
    def ended_at(self) -> float:
        """When the answer was complete, in seconds."""
        return self.exchange.started_at + self.exchange.duration_ms / 1000


class Seen(Struct):
    """What earlier exchanges held: messages, as each request repeats them, and by their ids what the provider keeps.

    That are items of answers; a response or a conversation has an empty one.
    """

    messages: dict[bytes, list[RawMessage]] = field(default_factory=dict)
    items: set[bytes] = field(default_factory=set)
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_model_call(exchange: Exchange, seen: Seen) -> ExchangeCall:
    """Reads an exchange, and adds what it holds to what was seen."""
    request = exchange.request
    path = request.path.partition("?")[0].strip("/").removeprefix("v1/")  # in a cassette it has its query
    call = ExchangeCall(exchange, find_api(path) if request.method == "POST" else None)
    (body, has_halves), found = _decode(request.body), read_answer(exchange.answer)
    answer, is_whole = found.value, found.is_complete and not exchange.answer.is_broken
    call.error = _read_error(exchange, answer, is_whole=is_whole)
    call.response = read_provider_response(answer)
    has_failed = exchange.answer.status >= FIRST_ERROR
    call.own_events = () if has_failed else found.own_events
    if call.api is None:
        if request.method == "POST" and not has_failed and not asks_nothing(path):
            call.shown = [each for each in (body, answer) if each]
        if exchange.answer.status < FIRST_ERROR and may_hold_calls(
            request.method, path, exchange.answer.body, seen.kept
        ):
            call.problem = f"EvalGate does not read answers of `{shorten(f'{request.method} {path}')}`"
        _keep(call, answer, seen)
        return call
    call.has_halves = has_halves or found.has_halves
    call.problem = None if has_failed else found.problem
    if type(body) is not dict:
        call.problem = REQUEST_NOT_JSON
        return call
    call.tools = [tool for tool in body.get("tools") or () if type(tool) is dict]
    call.settings = read_settings(body)
    call.forced_tool = roles.read_forced_tool(body.get("tool_choice"))
    try:
        {CHAT: _read_chat, RESPONSES: _read_responses, ANTHROPIC: _read_anthropic}[call.api](call, body, answer, seen)
    except TraceError as error:
        call.problem = str(error)
    if not has_failed:
        key = "input" if call.api == RESPONSES else "messages"
        call.shown = build_records(call.api, {**select_results(body), key: call.new}, [answer, found.beside])
    requests = [request for message in call.answer for request in message.calls]
    if not is_whole:
        _forget_cut_arguments(requests, ("",))
    if finish_reason(call.finish_reason) == CUT:
        _forget_cut_arguments(requests[-1:], ("", {}))
    _keep(call, answer, seen)
    call.keys = [key for message in call.messages for key in build_message_keys(message)]
    call.answer_keys = [key for message in call.answer for key in build_message_keys(message)]
    return call


def _keep(call: ExchangeCall, answer: dict[str, Any], seen: Seen) -> None:
    """Adds what the provider keeps of an answer."""
    seen.kept.update(find_items(answer.get("output")))
    for name in (answer.get("id"), call.conversation_id):
        if type(name) is str:
            seen.kept[name] = {}


def _forget_cut_arguments(requests: list[ToolRequest], blank: tuple[Any, ...]) -> None:
    """Makes arguments of which nothing came before the answer was cut unknown: they are not `{}`."""
    for request in requests:
        if request.arguments in blank:
            request.arguments = None


def _read_chat(call: ExchangeCall, body: dict[str, Any], answer: dict[str, Any], seen: Seen) -> None:
    call.messages = _read_list(call, body.get("messages"), seen)
    found = answer.get("choices")
    choices = [each if type(each) is dict else {} for each in (found if type(found) is list else ())]
    first = choices[0] if choices else {}
    if type(first.get("message")) is dict:
        call.answer = roles.read_message({"role": "assistant", **first["message"]})
        if _has_other_calls(choices[1:], call.answer):
            _note_problem(call, OTHER_CHOICE)
    else:
        _note_problem(call, NO_MESSAGE)
    call.finish_reason = call.response.finish_reason
    _take_system(call)


def _has_other_calls(choices: list[dict[str, Any]], first: list[RawMessage]) -> bool:
    """Whether another choice asks for a call that the first one does not: the agent may have taken either."""
    others = [each["message"] for each in choices if type(each.get("message")) is dict]
    asked = [
        call
        for each in others
        for message in roles.read_message({"role": "assistant", **each})
        for call in message.calls
    ]
    return not {_call_key(call) for call in asked} <= {_call_key(call) for message in first for call in message.calls}


def _call_key(call: ToolRequest) -> tuple[str, str]:
    return call.name, encode_json(read_arguments(call.arguments).value)


def _read_anthropic(call: ExchangeCall, body: dict[str, Any], answer: dict[str, Any], seen: Seen) -> None:
    system = body.get("system")
    call.messages = _read_list(call, body.get("messages"), seen)
    _take_system(call)
    text = join_text(system) if type(system) is list else system
    call.system = text if type(text) is str and text else call.system
    if type(answer.get("content")) is list:
        call.answer = roles.read_message({**answer, "role": "assistant", "model": None})
    else:
        _note_problem(call, NO_MESSAGE)
    call.finish_reason = call.response.finish_reason


def _read_responses(call: ExchangeCall, body: dict[str, Any], answer: dict[str, Any], seen: Seen) -> None:
    given, instructions = body.get("input"), body.get("instructions")
    if type(given) is str:
        call.messages = [RawMessage("user", given)]
    else:
        call.messages = _read_items(call, given, seen)
    _take_system(call)
    if type(instructions) is str and instructions:
        call.system = instructions
    output = answer.get("output")
    if type(output) is list and all(type(item) is dict for item in output):
        call.answer = responses.read_messages(output)
    else:
        _note_problem(call, NO_MESSAGE)
    status, details = answer.get("status"), answer.get("incomplete_details")
    if status == "incomplete" and type(details) is dict:
        call.finish_reason = details.get("reason")
    elif status == "completed":
        call.finish_reason = "tool_calls" if any(message.calls for message in call.answer) else "stop"
    previous = body.get("previous_response_id")
    call.conversation_id = find_conversation(body)
    call.previous_id = previous if type(previous) is str else call.conversation_id
    call.elsewhere.append(find_earlier(body, seen.kept.keys()))


def _note_problem(call: ExchangeCall, problem: str) -> None:
    """Notes why not all could be read: the first reason, and none of an answer that failed."""
    if call.error is None:
        call.problem = call.problem or problem


def _read_list(call: ExchangeCall, value: Any, seen: Seen) -> list[RawMessage]:
    found: list[RawMessage] = []
    for message in _list_objects(call, value):
        key = orjson.dumps(message)
        if key not in seen.messages:
            seen.messages[key] = roles.read_message(message)
            call.new.append(message)
        found += seen.messages[key]
    return found


def _read_items(call: ExchangeCall, value: Any, seen: Seen) -> list[RawMessage]:
    items = [] if value is None else _list_objects(call, value)
    call.elsewhere.append(find_replaced(items, seen.kept.keys()))
    items = [seen.kept.get(str(item.get("id"))) or item if item.get("type") == REFERENCE else item for item in items]
    for item in items:
        key = orjson.dumps(item)
        if key not in seen.items:
            seen.items.add(key)
            call.new.append(item)
    key = orjson.dumps(items)
    if key not in seen.messages:
        seen.messages[key] = responses.read_messages(items)
    return list(seen.messages[key])


def _list_objects(call: ExchangeCall, value: Any) -> list[dict[str, Any]]:
    """The objects of a list in a request."""
    items = value if type(value) is list else []
    found = [item for item in items if type(item) is dict]
    if type(value) is not list or len(found) < len(items):
        _note_problem(call, NO_LIST)
    return found


def _take_system(call: ExchangeCall) -> None:
    """Moves the first messages of role system from the messages to the instructions."""
    texts: list[str] = []
    while call.messages and call.messages[0].role == "system":
        texts.append(call.messages[0].content or "")
        call.messages = call.messages[1:]
    call.system = "\n\n".join(texts) if texts else None


def build_message_keys(message: RawMessage) -> list[MessageKey]:
    """What is compared: role, text, names and arguments of calls, results; no ids, which may be other ones."""
    keys: list[MessageKey] = [("result", encode_text(result.content) or "") for result in message.answers]
    text = (message.content or "").strip()
    calls = tuple(map(_call_key, message.calls))
    if text or calls:
        keys.append((message.role, text, calls))
    return keys


def _read_error(exchange: Exchange, answer: dict[str, Any], *, is_whole: bool) -> ModelError | None:
    status, error = exchange.answer.status, answer.get("error")
    if status < FIRST_ERROR and error is None and answer.get("status") not in FAILED and is_whole:
        return None
    found = error if type(error) is dict else {}
    kind, message = found.get("type") or found.get("code"), find_error_message(answer)
    if not is_whole and message is None:
        kind, message = kind or "connection_error", "the connection ended before the answer was complete"
    return build_model_error(
        kind if type(kind) is str else None,
        message,
        status if status >= FIRST_ERROR else None,
    )


def _decode(body: bytes) -> Decoded:
    try:
        return decode_repaired(body)
    except ValueError:
        return Decoded(None)
