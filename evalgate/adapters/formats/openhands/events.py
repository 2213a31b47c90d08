"""Builds a conversation from the events of an OpenHands history, of any version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.conversation import Conversation, failed
from evalgate.adapters.formats.core.build.run_end import ends_the_run
from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.adapters.formats.core.fields import FieldError, identifier, listing, mapping, text, time, whole
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, provider_usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.trace.trace import LlmCall, Message, ToolCall

FINISH = "finish"
SILENT = frozenset({"null", "recall", "change_agent_state", "agent_state_changed", "condensation", "pause"})
"""Kinds of events that concern the machinery around the agent."""
EDITOR_ERROR = "ERROR:"
"""Prefix of the file tool's output when it failed."""
BESIDE_ARGUMENTS = frozenset(
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
        self.silent = 0
        self._answers: dict[str, Message] = {}  # the message of each model response
        self._asked: dict[str, ToolCall] = {}  # the call of each event

    def add_all(self, history: Iterable[Any], path: str) -> None:
        """Adds every event in order; old histories pair each action with its observation."""
        for number, value in enumerate(history):
            try:
                for event in value if isinstance(value, list) else [value]:
                    self._add(mapping(event, ""))
            except FieldError as error:
                raise error.under(f"{path}[{number}]") from None

    def _add(self, event: dict[str, Any]) -> None:
        kind = text(event.get("action"), "action")
        if kind is not None:
            self._act(event, kind)
            return
        kind = text(event.get("observation"), "observation")
        if kind is None:
            raise FieldError("action", "is missing, and `observation` too")
        if kind not in SILENT:
            self._observe(event, kind)

    def _act(self, event: dict[str, Any], kind: str) -> None:
        args = mapping(event["args"], "args") if "args" in event else event
        source = text(event.get("source"), "source")
        when = time(event.get("timestamp"), "timestamp")
        if kind in SILENT:
            return
        if kind == "system":
            message = self.conversation.say("system", text(args.get("content"), "args.content"))
        elif kind == "message" and source != "agent" and not (source is None and self.conversation.step):
            message = self.conversation.say("user", text(args.get("content"), "args.content"))
        elif source in (None, "agent"):
            message = self._speak(event, args, kind)
        else:
            return  # a user's own command is not an action of the agent
        message["timestamp"] = message["timestamp"] or when

    def _speak(self, event: dict[str, Any], args: dict[str, Any], kind: str) -> Message:
        """Adds an agent's message or action: one message per model response."""
        self.error = None  # the agent continued after it
        metadata = mapping(event.get("tool_call_metadata"), "tool_call_metadata")
        response = mapping(metadata.get("model_response"), "tool_call_metadata.model_response")
        response_id = text(response.get("id"), "tool_call_metadata.model_response.id")
        message = self._answers.get(response_id or "")
        choice = _choice(response)
        if message is None:
            words = _words(choice) or text(args.get("thought"), "args.thought")
            if kind == "message":
                words = text(args.get("content"), "args.content")
            message = self.conversation.say("assistant", words)
            if response_id:
                self._answers[response_id] = message
            if response:
                self._add_llm_call(response, choice, message)
            else:
                self.silent += 1
        if kind != "message":
            self._ask(event, args, kind, message)
        return message

    def _ask(self, event: dict[str, Any], args: dict[str, Any], kind: str, message: Message) -> None:
        metadata = mapping(event.get("tool_call_metadata"), "tool_call_metadata")
        name = text(metadata.get("function_name"), "tool_call_metadata.function_name") or kind
        call_id = text(metadata.get("tool_call_id"), "tool_call_metadata.tool_call_id") or None
        recorded = _recorded_arguments(_choice(mapping(metadata.get("model_response"), "")), call_id)
        if recorded is None:
            recorded = {key: value for key, value in args.items() if key not in BESIDE_ARGUMENTS}
        call = self.conversation.call(message, call_id, name, read_arguments(recorded))
        call["started_at"] = time(event.get("timestamp"), "timestamp")
        event_id = identifier(event.get("id"), "id")
        if event_id is not None:
            self._asked[event_id] = call
        if kind == FINISH:
            ends_the_run(call)
            answer = _final_answer(event, args)
            self.answer = (answer, message) if answer else None

    def _observe(self, event: dict[str, Any], kind: str) -> None:
        content = text(event.get("content"), "content")
        cause = identifier(event.get("cause"), "cause")
        asked = self._asked.get(cause or "")
        if asked is None and "id" in event:  # something that happened around the agent
            if kind == "error":
                self.error = content
            return
        message, call = self.conversation.answer(asked["id"] if asked else None, None, content)
        message["timestamp"] = time(event.get("timestamp"), "timestamp")
        if call is None:
            return
        call["exit_code"] = _exit_code(event)
        if kind in ("error", "user_rejected"):
            failed(call, kind)
        elif kind in ("edit", "read") and (content or "").startswith(EDITOR_ERROR):
            failed(call)

    def _add_llm_call(self, response: dict[str, Any], choice: dict[str, Any], message: Message) -> None:
        path = "tool_call_metadata.model_response"
        model = text(response.get("model"), f"{path}.model")
        message["model"] = model
        finished = text(choice.get("finish_reason"), f"{path}.choices[0].finish_reason")
        message["finish_reason"] = finish_reason(finished)
        usage = provider_usage(response.get("usage"), f"{path}.usage")
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


def _choice(response: dict[str, Any]) -> dict[str, Any]:
    path = "tool_call_metadata.model_response.choices"
    choices = listing(response.get("choices"), path)
    return mapping(choices[0], f"{path}[0]") if choices else {}


def _words(choice: dict[str, Any]) -> str | None:
    path = "tool_call_metadata.model_response.choices[0].message"
    return text(mapping(choice.get("message"), path).get("content"), f"{path}.content") or None


def _recorded_arguments(choice: dict[str, Any], call_id: str | None) -> Any:
    """The arguments as the model wrote them; the event's own fields are OpenHands' version of them."""
    path = "tool_call_metadata.model_response.choices[0].message"
    message = mapping(choice.get("message"), path)
    for number, value in enumerate(listing(message.get("tool_calls"), f"{path}.tool_calls")):
        call = mapping(value, f"{path}.tool_calls[{number}]")
        if call_id is not None and call.get("id") == call_id:
            return mapping(call.get("function"), f"{path}.tool_calls[{number}].function").get("arguments")
    return None


def _final_answer(event: dict[str, Any], args: dict[str, Any]) -> str | None:
    outputs = args.get("outputs")
    said = outputs.get("content") if isinstance(outputs, dict) else None
    for path, value in (
        ("args.final_thought", args.get("final_thought")),
        ("args.outputs.content", said),
        ("args.thought", args.get("thought")),
        ("message", event.get("message")),
    ):
        if answer := text(value, path):
            return answer
    return None


def _exit_code(event: dict[str, Any]) -> int | None:
    """The exit code of a command; OpenHands writes -1 for unknown."""
    extras = mapping(event.get("extras"), "extras")
    metadata = mapping(extras.get("metadata"), "extras.metadata")
    for path, holder in (("extras.metadata.", metadata), ("extras.", extras), ("", event)):
        code = whole(holder.get("exit_code"), f"{path}exit_code")
        if code is not None:
            return None if code == -1 else code
    return None
