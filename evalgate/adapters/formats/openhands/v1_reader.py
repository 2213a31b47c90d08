"""Reads OpenHands V1: the events of a conversation of its agent SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.agent_session import AgentSession
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.run import build_model_error, mark_final_call, set_cost, set_final_response
from evalgate.adapters.formats.core.builder.run_end import STEPS
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    amount,
    dict_or_empty,
    do_each,
    flag,
    mapping,
    required_text,
    text,
    time_if_valid,
    whole_number,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity, words
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import TokenTable, none_if_uncounted, split_provider_and_model, sum_usages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.trace.trace import Trace

NAME = "openhands"
FINISH = "finish"
PAUSED = "the run was paused or interrupted"
LIMITS = {"MaxIterationsReached": STEPS}
"""The code of a ConversationErrorEvent that is a limit; any other one is a failure."""
LLM = "LLM"
"""How the names of errors of requests to the model begin."""
USAGE = TokenTable(
    "openhands",
    input_tokens="prompt_tokens",
    output_tokens="completion_tokens",
    cache_read_input_tokens="cache_read_tokens",
    cache_write_input_tokens="cache_write_tokens",
    reasoning_output_tokens="reasoning_tokens",
)


class OpenHandsConversation(AgentSession):
    """The run, the response that its last action came from, and the running totals."""

    def __init__(self) -> None:
        super().__init__()
        self.response: str | None = None
        self.metrics: dict[str, Any] = {}
        self.status: str | None = None


def split(documents: Any) -> Sequence[Any]:
    """All events as one run."""
    return [[each for one in documents for each in (one if isinstance(one, list) else [one])]]


def build(record: Any) -> Trace:
    """Builds one conversation."""
    require_shallow(record)
    run = OpenHandsConversation()
    do_each(record, "events", lambda event: _add_event(run, event))
    totals = [mapping(one, "stats") for one in run.metrics.values()]
    usages = [
        USAGE.read(one["accumulated_token_usage"], "stats") for one in totals if one.get("accumulated_token_usage")
    ]
    run.total = none_if_uncounted({**sum_usages(usages), "source": "recorded_total"}) if usages else None
    trace = run.build_session(NAME)
    costs = [amount(one.get("accumulated_cost"), "stats.accumulated_cost") for one in totals]
    set_cost(trace, sum(filter(None, costs)) if costs and None not in costs else None, "stats.accumulated_cost")
    last = trace.tool_calls[-1] if trace.tool_calls else None
    if last is not None and last["name"] == FINISH:
        mark_final_call(last)
        answer = dict_or_empty(last["arguments"]).get("message")
        set_final_response(trace, answer if isinstance(answer, str) else None)
    return trace


def _add_event(run: OpenHandsConversation, event: dict[str, Any]) -> None:
    handle = HANDLERS.get(text(event.get("kind"), "kind") or "")
    if handle is not None:
        handle(run, event, time_if_valid(event.get("timestamp")))


def _add_instructions(run: OpenHandsConversation, event: dict[str, Any], when: str | None) -> None:
    for key in ("system_prompt", "dynamic_context"):
        content = text(mapping(event.get(key), key).get("text"), key)
        if content is not None:
            run.add_message(RawMessage("system", content, timestamp=when))


def _add_message(run: OpenHandsConversation, event: dict[str, Any], when: str | None) -> None:
    message = mapping(event.get("llm_message"), "llm_message")
    content, parts = read_content(message.get("content"), "llm_message.content")
    if event.get("source") == "agent":
        run.end_answer()
        run.add_text(content, when)
        run.add_reasoning(text(message.get("reasoning_content"), "llm_message.reasoning_content"))
        run.end_answer()
    else:
        run.add_message(RawMessage("user", content, parts=parts, timestamp=when))


def _add_action(run: OpenHandsConversation, event: dict[str, Any], when: str | None) -> None:
    """Adds a call; the calls of one response of the model are one answer."""
    response = text(event.get("llm_response_id"), "llm_response_id")
    if response is None or response != run.response:
        run.end_answer()
    run.response = response
    thought, _ = read_content(event.get("thought"), "thought")
    if thought:
        run.add_text(thought, when)
    run.add_reasoning(text(event.get("reasoning_content"), "reasoning_content"), when)
    call = mapping(event.get("tool_call"), "tool_call")
    name = required_text(call.get("name", event.get("tool_name")), "tool_name")
    call_id = text(event.get("tool_call_id", call.get("id")), "tool_call_id")
    run.add_call(ToolRequest(call_id, name, call.get("arguments", event.get("action"))), when)


def _add_observation(run: OpenHandsConversation, event: dict[str, Any], when: str | None) -> None:
    found = mapping(event.get("observation"), "observation")
    content, _ = read_content(found.get("content"), "observation.content")
    code = whole_number(found.get("exit_code"), "observation.exit_code")
    failed = flag(found.get("is_error"), "observation.is_error")
    _add_result(run, event, content, failed=failed, code=None if code == -1 else code, when=when)


def _add_rejection(run: OpenHandsConversation, event: dict[str, Any], when: str | None) -> None:
    reason = event.get("error", event.get("rejection_reason"))
    _add_result(run, event, text(reason, "error"), failed=True, code=None, when=when)


def _add_result(
    run: OpenHandsConversation,
    event: dict[str, Any],
    content: str | None,
    *,
    failed: bool | None,
    code: int | None,
    when: str | None,
) -> None:
    call_id, name = text(event.get("tool_call_id"), "tool_call_id"), text(event.get("tool_name"), "tool_name")
    run.add_result(ToolResult(call_id, name, content, failed, code), when)


def _add_state(run: OpenHandsConversation, event: dict[str, Any], when: str | None) -> None:
    """Keeps the running totals, which are in the state as a whole too."""
    del when
    key, value = event.get("key"), event.get("value")
    state = dict_or_empty(value) if key == "full_state" else {"stats": value if key == "stats" else None}
    metrics = dict_or_empty(state.get("stats")).get("usage_to_metrics")
    if isinstance(metrics, dict):
        run.metrics = metrics
        first = next(iter(metrics.values()), None)
        run.provider, run.model = split_provider_and_model(dict_or_empty(first).get("model_name"))


def _add_error(run: OpenHandsConversation, event: dict[str, Any], when: str | None) -> None:
    del when
    run.end_answer()
    code, detail = text(event.get("code"), "code"), text(event.get("detail"), "detail")
    if code in LIMITS:
        run.stopped_by = LIMITS[code]
        return
    run.error = detail or code or "the run failed"
    is_of_model = (code or "").startswith(LLM)
    run.outage = build_model_error((code or "").removeprefix(LLM), detail) if is_of_model else None


def _add_pause(run: OpenHandsConversation, event: dict[str, Any], when: str | None) -> None:
    del event, when
    run.end_answer()
    run.end = PAUSED


HANDLERS: dict[str, Callable[[OpenHandsConversation, dict[str, Any], str | None], None]] = {
    "SystemPromptEvent": _add_instructions,
    "MessageEvent": _add_message,
    "ActionEvent": _add_action,
    "ObservationEvent": _add_observation,
    "AgentErrorEvent": _add_rejection,
    "UserRejectObservation": _add_rejection,
    "ConversationStateUpdateEvent": _add_state,
    "ConversationErrorEvent": _add_error,
    "PauseEvent": _add_pause,
    "InterruptEvent": _add_pause,
}
HARMLESS = words("""
    Condensation CondensationRequest CondensationSummaryEvent TokenEvent LLMCompletionLogEvent StreamingDeltaEvent
    HookExecutionEvent ResumeTranscriptEvent
""")
FIELDS = words("""
    system_prompt dynamic_context tools llm_message activated_skills extended_content critic_result thought
    thinking_blocks responses_reasoning_item action tool_call observation value classification forgotten_event_ids
    log_data
""")
MESSAGE_FIELDS = words("content tool_calls thinking_blocks responses_reasoning_item")
SHAPES = (
    Shape((EACH,), FIELDS, HARMLESS | HANDLERS.keys(), "kind"),
    Shape((EACH, "llm_message"), MESSAGE_FIELDS),
)
READER = Reader(
    build=build,
    identify=no_identity,
    split=split,
    shapes=SHAPES,
    without_calls=frozenset({"value", "action", "log_data"}),
)
