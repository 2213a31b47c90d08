"""Builds the trace of a run from its conversation, its model calls and how it ended."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from evalgate.adapters.formats.core.builder.conversation import (
    Arguments,
    Conversation,
    add_raw_message,
    get_instructions,
)
from evalgate.adapters.formats.core.builder.evidence_gaps import judge_unknown, note_places, shorten
from evalgate.adapters.formats.core.builder.side_fields import add_side_fields, find_failed_response
from evalgate.adapters.formats.core.content import may_hold
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, milliseconds_between
from evalgate.adapters.formats.core.format import Identity, build_identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import finish_reason, read_cost_usd, sum_call_usages, warn_of_mismatch
from evalgate.models.trace.final_answer import find_final_answer
from evalgate.models.trace.trace import MAX_ID_LENGTH, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.models.trace.trace import Latency, LlmCall, Message, ModelError, ToolCall, Usage, Warning_

LITELLM = re.compile(r"\blitellm(?:\.exceptions)?\.([A-Z]\w{0,60})")
MOST_READ = 4_000
"""Characters of an error that are searched for its name."""


BLANK_LLM_CALL: LlmCall = {
    "index": 0,
    "turn": 0,
    "step": 0,
    "provider": None,
    "model": None,
    "response_id": None,
    "usage": None,
    "cost_usd": None,
    "duration_ms": None,
    "finish_reason": None,
}


class LlmCallFields(TypedDict, total=False):
    """What a recorder may know of a model call."""

    provider: str | None
    model: str | None
    response_id: str | None
    cost_usd: float | None
    duration_ms: float | None


class MeteredConversation:
    """A conversation and its model calls.

    `total` is the recorded usage of all calls; `unmetered` counts responses without recorded usage; `failure` is why
    the last model call, which ended the run, has none.
    """

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.llm_calls: list[LlmCall] = []
        self.total: Usage | None = None
        self.unmetered = 0
        self.failure: ModelError | None = None

    def add_messages(self, messages: Iterable[RawMessage]) -> None:
        """Adds messages in order."""
        for message in messages:
            add_raw_message(self.conversation, message)

    def add_llm_call(self, usage: Usage | None, reason: str | None = None, **fields: Unpack[LlmCallFields]) -> LlmCall:
        """Adds the model call whose response was added last; `reason` is the provider's word for its end."""
        messages = self.conversation.messages
        call: LlmCall = {
            **BLANK_LLM_CALL,
            "index": len(self.llm_calls),
            "turn": messages[-1]["turn"] if messages else 0,
            "step": self.conversation.step,
            "usage": usage,
            "finish_reason": finish_reason(reason),
            **fields,
        }
        self.llm_calls.append(call)
        return call

    def build_trace(self, side_fields: dict[str, Any] | None = None, framework: str | None = None) -> Trace:
        """Builds the trace; `side_fields` (recorded next to the messages) override sums. Raises FieldError."""
        conversation = self.conversation
        if not conversation.messages and self.failure is None:
            raise FieldError("messages", "is missing or empty")
        trace = Trace(
            "",
            conversation.messages,
            conversation.calls,
            conversation.get_response(),
            system_instructions=get_instructions(conversation.messages),
            agent=None if framework is None else {"name": None, "framework": framework},
            llm_calls=self.llm_calls,
            warnings=[*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)],
        )
        if self.llm_calls:
            last = self.llm_calls[-1]
            trace.provider, trace.model = last["provider"], last["model"]
            trace.finish_reason = last["finish_reason"]
        trace.usage, warnings = sum_call_usages(self.llm_calls, self.unmetered)
        if self.total is not None:
            warnings = warn_of_mismatch(self.total, trace.usage, "usage")
            trace.usage = self.total
        trace.warnings += warnings
        add_side_fields(trace, side_fields or {})
        failure = self.failure or find_failed_response(side_fields or {})
        if failure is not None:
            add_failed_call(trace, failure)
        return trace


class CheckedConversation(MeteredConversation):
    """A conversation, the place in the record that is read, and the paths of unknown fields and parts.

    `advice` says how to record calls so that they are read.
    """

    def __init__(self, advice: str) -> None:
        super().__init__()
        self.unknown: list[str] = []
        self._advice = advice
        self._places: list[str] = []

    @contextmanager
    def at(self, path: str) -> Iterator[None]:
        """The place of what the block reads, relative to the place around it: also that of its FieldError."""
        self._places.append(path)
        try:
            yield
        except FieldError as error:
            raise error.with_prefix(path) from None
        finally:
            self._places.pop()

    def do_each(self, values: Iterable[Any], path: str, do_one: Callable[[dict[str, Any]], object]) -> None:
        """Calls `do_one` with every object of a list, at its place."""
        for number, value in enumerate(values):
            with self.at(f"{path}[{number}]"):
                do_one(mapping(value, ""))

    def add_unknown(self, name: Any) -> None:
        """Adds a part of unknown type."""
        self.unknown.append(".".join(filter(None, [*self._places, shorten(str(name))])))

    def check_fields(self, value: dict[str, Any], known: AbstractSet[str]) -> None:
        """Adds every unknown field in which something can be a call."""
        for key in value.keys() - known if not value.keys() <= known else ():
            if value[key] and may_hold(value[key]) and judge_unknown(key, value[key], key).can_be_call:
                self.add_unknown(key)

    def note_unknown(self, trace: Trace) -> None:
        """Makes the evidence of calls incomplete if anything is unknown."""
        note_places(trace, sorted(self.unknown), f": {self._advice}")


def measure_user_wait(messages: Sequence[Message]) -> Latency:
    """The time a user waited for answers, summed over all turns; time between turns is not counted.

    Unknown if the start of a turn has no timestamp.
    """
    total = 0.0
    begins: dict[int, str | None] = {}
    ends: dict[int, str] = {}
    for message in messages:
        if message["turn"] and message["role"] == "user":
            begins.setdefault(message["turn"], message["timestamp"])
        elif message["turn"] and message["timestamp"] is not None:
            ends[message["turn"]] = message["timestamp"]
    for turn, begun in begins.items():
        if turn not in ends:
            continue
        duration = milliseconds_between(begun, ends[turn])
        if duration is None:
            return {"total_ms": None, "source": "none"}
        total += duration
    return {"total_ms": round(total, 6), "source": "timestamps"} if ends else {"total_ms": None, "source": "none"}


def build_model_error(kind: str | None, message: str | None, status_code: int | None = None) -> ModelError:
    """The failure of a request to a model."""
    return {"type": kind or None, "message": message or None, "status_code": status_code}


def add_failed_call(trace: Trace, error: ModelError) -> None:
    """Adds a failed model call after everything that the trace records; call it once all totals are known."""
    answers = sum(message["role"] == "assistant" for message in trace.messages)
    trace.llm_calls.append(
        {
            **BLANK_LLM_CALL,
            "index": len(trace.llm_calls),
            "turn": trace.turn_count,
            "step": 1 + max((call["step"] for call in trace.tool_calls), default=answers),
            "provider": trace.provider,
            "model": trace.model,
            "error": error,
        }
    )


def find_litellm_error(text: str | None) -> ModelError | None:
    """The error of LiteLLM that a text names: the failure of a request to a model, and of nothing else."""
    found = LITELLM.search((text or "")[:MOST_READ])
    return None if found is None else build_model_error(found[1], text)


def set_final_response(trace: Trace, answer: str | None, message: Message | None = None) -> None:
    """Makes the answer that an agent submitted its final response; an empty one only if there is no other."""
    if answer or (answer is not None and trace.response["content"] is None):
        trace.response = {
            "content": answer,
            "finish_reason": None if message is None else message["finish_reason"],
            "message_index": None if message is None else message["index"],
        }


def answer_beside_last_call(trace: Trace) -> None:
    """Takes the text beside the last call as the final answer, if nothing follows it: the call ended the run."""
    if trace.response["content"] is None:
        trace.response = find_final_answer(trace.messages, ends_with_call=True)


def mark_final_call(call: ToolCall) -> None:
    """Marks the call that ends a run as ok: it has no result, and needs none."""
    if call["status"] in ("missing", "unknown"):
        call["status"] = "ok"


def warn_of_missing_results(calls: Iterable[ToolCall]) -> list[Warning_]:
    """A warning if calls have no recorded result."""
    missing = sum(call["status"] == "missing" for call in calls)
    if not missing:
        return []
    subject = "a tool call has" if missing == 1 else f"{missing} tool calls have"
    return [{"code": "results_missing", "message": f"{subject} no recorded result", "where": "tool_calls"}]


def add_command_call(conversation: Conversation, message: Message, command: str, name: str) -> ToolCall:
    """Adds a call that a message requests as the text of a command."""
    return conversation.add_call(message, None, name, Arguments({"command": command}))


def command_word(command: str) -> str:
    """The first word of a command line after its variable assignments.

    >>> command_word("PAGER=cat git diff")
    'git'
    """
    for word in command[: 4 * MAX_ID_LENGTH].split():
        name, equals, _ = word.partition("=")
        if not (equals and name.isidentifier()):
            return word[:MAX_ID_LENGTH]
    return "shell"


def open_record(record: Any, list_key: str = "") -> dict[str, Any]:
    """The record as an object; a list is the value of `list_key`, if there is one. Raises FieldError."""
    require_shallow(record)
    return {list_key: record} if list_key and isinstance(record, list) else mapping(record, "")


def build_trace(conversation: Conversation, trace_id: str | None = None, **fields: Any) -> Trace:
    """The trace of a conversation, with other fields of the trace; without `warnings` those of the conversation."""
    if "warnings" not in fields:
        fields["warnings"] = [*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)]
    return Trace(trace_id or "", conversation.messages, conversation.calls, conversation.get_response(), **fields)


def add_warning(trace: Trace, code: str, message: str, where: str | None = None) -> None:
    """Adds a warning; `where` is the field that it is about."""
    trace.warnings.append({"code": code, "message": message, "where": where})


def set_cost(trace: Trace, usd: Any, path: str) -> None:
    """Sets a recorded cost in US dollars; set the usage before, as 0 with tokens is unknown. Raises FieldError."""
    trace.cost, warnings = read_cost_usd(usd, trace.usage, path)
    trace.warnings += warnings


def set_times(trace: Trace) -> None:
    """Sets the times of the first and the last message that has one."""
    times = [message["timestamp"] for message in trace.messages if message["timestamp"] is not None]
    trace.started_at, trace.ended_at = (min(times), max(times)) if times else (None, None)


def measure_between(started: str | None, ended: str | None) -> Latency:
    """The latency from one time to the other; unknown if one is unknown."""
    total = milliseconds_between(started, ended)
    return {"total_ms": total, "source": "none" if total is None else "timestamps"}


def read_tags(value: Any, path: str) -> list[str]:
    """The texts in a list of tags."""
    return [tag for tag in listing(value, path) if isinstance(tag, str)]


def identify_by(scenario_key: str, trial_key: str = "", other_key: str = "") -> Callable[[Any], Identity]:
    """A function that reads scenario id (with its other spelling) and trial of a damaged record from these fields."""

    def identify(record: Any) -> Identity:
        if not isinstance(record, dict):
            return None, None
        return build_identity(record.get(scenario_key, record.get(other_key)), record.get(trial_key))

    return identify


def group_lines(lines: Iterable[Any], find_key: Callable[[Any], str | None]) -> list[list[Any]]:
    """Lines by key, in order; a line without one belongs to the line before it, those at the start to the first key."""
    groups: dict[str, list[Any]] = {}
    keyless: list[Any] = []
    group = keyless
    for line in lines:
        key = find_key(line)
        group = group if key is None else groups.setdefault(key, [])
        group.append(line)
    first = next(iter(groups.values()), None)
    if first is None:
        return [keyless] if keyless else []
    first[:0] = keyless
    return list(groups.values())


def join_loose(items: Iterable[Any], is_loose: Callable[[Any], bool], join: Callable[[list[Any]], Any]) -> list[Any]:
    """The records among items; loose items, which are parts of one run, are joined where the first of them was."""
    records: list[Any] = []
    loose: list[Any] = []
    for item in items:
        if not is_loose(item):
            records.append(item)
            continue
        if not loose:
            records.append(join(loose))
        loose.append(item)
    return records
