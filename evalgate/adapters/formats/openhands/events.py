"""Builds a conversation from the events of an OpenHands history, of any version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import Conversation, mark_failed
from evalgate.adapters.formats.core.builder.run_end import mark_final_call
from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.adapters.formats.core.fields import (
    FieldError,
    identifier,
    listing,
    mapping,
    prefix_errors,
    text,
    time,
    whole_number,
)
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, read_provider_usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.trace.trace import LlmCall, Message, ToolCall

FINISH = "finish"
IGNORED = frozenset({"null", "recall", "change_agent_state", "agent_state_changed", "condensation", "pause"})
"""Kinds of events that concern the machinery around the agent."""
SOURCES = frozenset({"agent", "user", "environment"})
EDITOR_ERROR = "ERROR:"
"""Prefix of the file tool's output when it failed."""
NON_ARGUMENTS = frozenset(
    {
        *(
            "action",
            "thought",
            "message",
            "source",
            "id",
            "timestamp",
            "timeout",
            "cause",
            "hidden",
            "blocking",
        ),
        *("tool_call_metadata", "llm_metrics", "keep_prompt", "is_confirmed", "confirmation_state"),
        *("action_risk", "security_risk", "kernel_init_code", "wait_for_response", "args"),
    }
)


class OpenHandsEvents:
    """Builds a conversation; `unmetered` counts answers without the model's response."""

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.llm_calls: list[LlmCall] = []
        self.answer: tuple[str, Message] | None = None
        self.error: str | None = None
        self.unmetered = 0
        self._messages_by_response: dict[str, Message] = {}  # the message of each model response
        self._calls_by_event: dict[str, ToolCall] = {}  # the call of each event

    def add_all(self, history: Iterable[Any], path: str) -> None:
        """Adds every event in order; old histories pair each action with its observation."""
        for number, value in enumerate(history):
            with prefix_errors(f"{path}[{number}]"):
                for event in value if isinstance(value, list) else [value]:
                    self._add(mapping(event, ""))

    def _add(self, event: dict[str, Any]) -> None:
        kind = text(event.get("action"), "action")
        if kind is not None:
            self._add_action(event, kind)
            return
        kind = text(event.get("observation"), "observation")
        if kind is None:
            raise FieldError("action", "is missing, and `observation` too")
        if kind not in IGNORED:
            self._add_observation(event, kind)

    def _add_action(self, event: dict[str, Any], kind: str) -> None:
        args = mapping(event["args"], "args") if "args" in event else event
        source = text(event.get("source"), "source")
        if source is not None and source not in SOURCES:
            raise FieldError("source", "is not one of agent, user, environment")
        when = time(event.get("timestamp"), "timestamp")
        if kind in IGNORED:
            return
        if kind == "system":
            message = self.conversation.add_message("system", text(args.get("content"), "args.content"))
        elif kind == "message" and source != "agent" and not (source is None and self.conversation.step):
            message = self.conversation.add_message("user", text(args.get("content"), "args.content"))
        elif source in (None, "agent"):
            message = self._add_agent_event(event, args, kind)
        else:
            return  # a user's own command is not an action of the agent
        message["timestamp"] = message["timestamp"] or when

    def _add_agent_event(self, event: dict[str, Any], args: dict[str, Any], kind: str) -> Message:
        """Adds an agent's message or action: one message per model response."""
        self.error = None  # the agent continued after it
        metadata = mapping(event.get("tool_call_metadata"), "tool_call_metadata")
        response = mapping(metadata.get("model_response"), "tool_call_metadata.model_response")
        response_id = text(response.get("id"), "tool_call_metadata.model_response.id")
        message = self._messages_by_response.get(response_id or "")
        choice = _read_choice(response)
        if message is None:
            content = _read_content(choice) or text(args.get("thought"), "args.thought")
            if kind == "message":
                content = text(args.get("content"), "args.content")
            message = self.conversation.add_message("assistant", content)
            if response_id:
                self._messages_by_response[response_id] = message
            if response:
                self._add_llm_call(response, choice, message)
            else:
                self.unmetered += 1
        if kind != "message":
            self._add_call(event, args, kind, message)
        return message

    def _add_call(self, event: dict[str, Any], args: dict[str, Any], kind: str, message: Message) -> None:
        metadata = mapping(event.get("tool_call_metadata"), "tool_call_metadata")
        name = text(metadata.get("function_name"), "tool_call_metadata.function_name") or kind
        call_id = text(metadata.get("tool_call_id"), "tool_call_metadata.tool_call_id") or None
        recorded = _find_arguments(_read_choice(mapping(metadata.get("model_response"), "")), call_id)
        if recorded is None:
            recorded = {key: value for key, value in args.items() if key not in NON_ARGUMENTS}
        call = self.conversation.add_call(message, call_id, name, read_arguments(recorded))
        call["started_at"] = time(event.get("timestamp"), "timestamp")
        event_id = identifier(event.get("id"), "id")
        if event_id is not None:
            self._calls_by_event[event_id] = call
        if kind == FINISH:
            mark_final_call(call)
            answer = _find_final_answer(event, args)
            self.answer = (answer, message) if answer else None

    def _add_observation(self, event: dict[str, Any], kind: str) -> None:
        content = text(event.get("content"), "content")
        cause = identifier(event.get("cause"), "cause")
        request = self._calls_by_event.get(cause or "")
        if request is None and "id" in event:  # something that happened around the agent
            if kind == "error":
                self.error = content
            return
        message, call = self.conversation.add_result(request["id"] if request else None, None, content)
        message["timestamp"] = time(event.get("timestamp"), "timestamp")
        if call is None:
            return
        call["exit_code"] = _read_exit_code(event)
        if kind in ("error", "user_rejected"):
            mark_failed(call, kind)
        elif kind in ("edit", "read") and (content or "").startswith(EDITOR_ERROR):
            mark_failed(call)

    def _add_llm_call(self, response: dict[str, Any], choice: dict[str, Any], message: Message) -> None:
        path = "tool_call_metadata.model_response"
        model = text(response.get("model"), f"{path}.model")
        message["model"] = model
        finished = text(choice.get("finish_reason"), f"{path}.choices[0].finish_reason")
        message["finish_reason"] = finish_reason(finished)
        usage = read_provider_usage(response.get("usage"), f"{path}.usage")
        self.llm_calls.append(
            {
                "index": len(self.llm_calls),
                "turn": message["turn"],
                "step": self.conversation.step,
                "provider": None,
                "model": model,
                "response_id": text(response.get("id"), f"{path}.id"),
                "usage": usage,
                "cost_usd": None,
                "duration_ms": None,
                "finish_reason": message["finish_reason"],
            }
        )


def _read_choice(response: dict[str, Any]) -> dict[str, Any]:
    path = "tool_call_metadata.model_response.choices"
    choices = listing(response.get("choices"), path)
    return mapping(choices[0], f"{path}[0]") if choices else {}


def _read_content(choice: dict[str, Any]) -> str | None:
    path = "tool_call_metadata.model_response.choices[0].message"
    return text(mapping(choice.get("message"), path).get("content"), f"{path}.content") or None


def _find_arguments(choice: dict[str, Any], call_id: str | None) -> Any:
    """The arguments as the model wrote them; the event's own fields are OpenHands' version of them."""
    path = "tool_call_metadata.model_response.choices[0].message"
    message = mapping(choice.get("message"), path)
    for number, value in enumerate(listing(message.get("tool_calls"), f"{path}.tool_calls")):
        call = mapping(value, f"{path}.tool_calls[{number}]")
        if call_id is not None and call.get("id") == call_id:
            return mapping(call.get("function"), f"{path}.tool_calls[{number}].function").get("arguments")
    return None


def _find_final_answer(event: dict[str, Any], args: dict[str, Any]) -> str | None:
    outputs = args.get("outputs")
    content = outputs.get("content") if isinstance(outputs, dict) else None
    for path, value in (
        ("args.final_thought", args.get("final_thought")),
        ("args.outputs.content", content),
        ("args.thought", args.get("thought")),
        ("message", event.get("message")),
    ):
        if answer := text(value, path):
            return answer
    return None


def _read_exit_code(event: dict[str, Any]) -> int | None:
    """The exit code of a command; OpenHands writes -1 for unknown."""
    extras = mapping(event.get("extras"), "extras")
    metadata = mapping(extras.get("metadata"), "extras.metadata")
    for path, holder in (("extras.metadata.", metadata), ("extras.", extras), ("", event)):
        code = whole_number(holder.get("exit_code"), f"{path}exit_code")
        if code is not None:
            return None if code == -1 else code
    return None
