"""Reads OpenHands: a list of events, or a line of `output.jsonl` with history, metrics and result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.agent_session import note_elsewhere
from evalgate.adapters.formats.core.builder.call_outcomes import note_unknown_outcomes
from evalgate.adapters.formats.core.builder.conversation import (
    NOT_CAPTURED,
    Arguments,
    get_instructions,
    mark_failed,
    note_execution,
    read_arguments,
)
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    add_failed_call,
    add_warning,
    build_trace,
    find_litellm_error,
    mark_final_call,
    measure_between,
    set_cost,
    set_final_response,
)
from evalgate.adapters.formats.core.builder.run_end import COST, STEPS, mark_failed_run, mark_stopped
from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    amount,
    any_value,
    dict_or_empty,
    filled_text,
    first_entry,
    identifier,
    listing,
    mapping,
    prefix_errors,
    read_at,
    text,
    time,
    whole_number,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity, words
from evalgate.adapters.formats.core.patches import set_changed_files
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import (
    build_score,
    distrust_cost,
    is_known,
    read_provider_usage,
    split_provider_and_model,
    sum_call_usages,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.trace.trace import Message, ToolCall, Trace

FINISH, DELEGATE = "finish", "delegate"
IGNORED = frozenset({"null", "recall", "change_agent_state", "agent_state_changed", "condensation", "pause"})
"""Kinds of events that concern the machinery around the agent."""
SOURCES = frozenset({"agent", "user", "environment"})
EDITOR_ERROR = "ERROR:"
"""Prefix of the file tool's output when it failed."""
STATES_FAILURE = frozenset(
    {
        *("error", "user_rejected", "read", "edit", "write", "think", "task_tracking", "agent_delegate", "delegate"),
        *("chat", "message", "success"),
    }
)
"""Kinds of observations that a call has only if it succeeded, or that show its failure."""
NON_ARGUMENTS = words("""
    action thought message source id timestamp timeout cause hidden blocking tool_call_metadata llm_metrics
    keep_prompt is_confirmed confirmation_state action_risk security_risk kernel_init_code wait_for_response args
""")


class OpenHandsEvents(MeteredConversation):
    """Builds a conversation; `unmetered` counts answers without the model's response."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: tuple[str | None, Message] | None = None
        self.error: str | None = None
        self.unknown_outcomes: list[ToolCall] = []
        self.unseen_delegates = 0
        """Agents that got a task and of which no event is recorded before its end."""
        self._is_delegate_unseen = False
        self._messages_by_response: dict[str, Message] = {}
        self._calls_by_event: dict[str, ToolCall] = {}

    def add_all(self, history: Iterable[Any], path: str) -> None:
        """Adds every event in order; old histories pair each action with its observation."""
        for number, value in enumerate(history):
            with prefix_errors(path, number):
                for event in value if isinstance(value, list) else [value]:
                    self._add(mapping(event, ""))
        self._end_delegate()

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
        self._is_delegate_unseen = kind == DELEGATE
        metadata = METADATA.read(event.get("tool_call_metadata"), "tool_call_metadata")
        response = metadata["response"]
        message = self._messages_by_response.get(response["id"] or "")
        if message is None:
            content = response["choice"]["content"] or text(args.get("thought"), "args.thought")
            if kind == "message":
                content = text(args.get("content"), "args.content")
            message = self.conversation.add_message("assistant", content)
            if response["id"]:
                self._messages_by_response[response["id"]] = message
            if dict_or_empty(event.get("tool_call_metadata")).get("model_response"):
                self._add_response(response, message)
            else:
                self.unmetered += 1
        if kind != "message":
            self._add_call(event, args, metadata, message)
        return message

    def _add_response(self, response: dict[str, Any], message: Message) -> None:
        message["model"] = response["model"]
        reason = response["choice"]["finish_reason"]
        call = self.add_llm_call(response["usage"], reason, model=response["model"], response_id=response["id"])
        message["finish_reason"] = call["finish_reason"]

    def _add_call(self, event: dict[str, Any], args: dict[str, Any], made: dict[str, Any], message: Message) -> None:
        """Adds a call with the arguments as the model wrote them, else with the event's own fields."""
        requests = made["response"]["choice"]["requests"]
        asked = next((one for one in requests if made["id"] and one["id"] == made["id"]), None)
        recorded = None if asked is None else asked["arguments"]
        if recorded is None:
            recorded = {key: value for key, value in args.items() if key not in NON_ARGUMENTS}
        name = made["name"] or event["action"]
        requested = asked["name"] if asked is not None and asked["name"] else name
        call = self.conversation.add_call(message, made["id"], requested, read_arguments(recorded))
        note_execution(call, name, _read_executed(call["arguments"], args))
        call["started_at"] = time(event.get("timestamp"), "timestamp")
        event_id = identifier(event.get("id"), "id")
        if event_id is not None:
            self._calls_by_event[event_id] = call
        if event["action"] == FINISH:
            mark_final_call(call)
            answer = _find_final_answer(event, args)
            self.answer = (answer or message["content"], message)

    def _add_observation(self, event: dict[str, Any], kind: str) -> None:
        if kind == DELEGATE:
            self._end_delegate()
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
        has_failed = dict_or_empty(event.get("extras")).get("error")
        if kind in ("error", "user_rejected"):
            mark_failed(call, kind)
        elif has_failed is True or (kind in ("edit", "read") and (content or "").startswith(EDITOR_ERROR)):
            mark_failed(call)
        elif call["exit_code"] is None and has_failed is not False and kind not in STATES_FAILURE:
            self.unknown_outcomes.append(call)
        else:
            call["status"] = "ok"

    def _end_delegate(self) -> None:
        self.unseen_delegates += self._is_delegate_unseen
        self._is_delegate_unseen = False


def _read_executed(requested: Any, args: dict[str, Any]) -> Arguments:
    """The arguments with the other texts that the event has under their names: it has fields of its own, too."""
    if not isinstance(requested, dict):
        return NOT_CAPTURED
    texts = {
        key: value for key, value in args.items() if isinstance(value, str) and isinstance(requested.get(key), str)
    }
    changed = {key: value for key, value in texts.items() if value and value.strip() != requested[key].strip()}
    return Arguments({**requested, **changed}) if changed else NOT_CAPTURED


REQUEST = FieldTable(id=any_value, name=(text, "function.name"), arguments=(any_value, "function.arguments"))
CHOICE = FieldTable(
    finish_reason=text, content=(filled_text, "message.content"), requests=(REQUEST.read_each, "message.tool_calls")
)
RESPONSE = FieldTable(
    id=text,
    model=text,
    usage=read_provider_usage,
    choice=(lambda value, path: CHOICE.read(first_entry(value, path), f"{path}[0]"), "choices"),
)
METADATA = FieldTable(
    name=(filled_text, "function_name"), id=(filled_text, "tool_call_id"), response=(RESPONSE.read, "model_response")
)


def _find_final_answer(event: dict[str, Any], args: dict[str, Any]) -> str | None:
    output = dict_or_empty(args.get("outputs")).get("content")
    named = {"final_thought": args.get("final_thought"), "outputs.content": output, "thought": args.get("thought")}
    found = [text(value, f"args.{name}") for name, value in named.items()]
    return next(filter(None, [*found, text(event.get("message"), "message")]), None)


def _read_exit_code(event: dict[str, Any]) -> int | None:
    """The exit code of a command; OpenHands writes -1 for unknown."""
    code = EXIT_CODE.read(event)["code"]
    return None if code == -1 else code


EXIT_CODE = FieldTable(code=(whole_number, "extras.metadata.exit_code", "extras.exit_code", "exit_code"))
MAX_DEVIATION = 0.01
"""The allowed relative difference between a total and the sum of its parts."""


def build(record: Any) -> Trace:
    """Builds one run. If several events repeat a model response, its text and usage count once."""
    require_shallow(record)
    is_bare = isinstance(record, list)
    document = {"history": record} if is_bare else mapping(record, "")
    events, history = OpenHandsEvents(), listing(document.get("history"), "history")
    if not is_bare:
        _add_task(events, document, history)
    events.add_all(history, "" if is_bare else "history")
    conversation = events.conversation
    failure = find_litellm_error(text(document.get("error"), "error") or events.error)
    if not conversation.messages and failure is None:
        raise FieldError("history", "contains no message and no action")
    trace = build_trace(
        conversation,
        scenario_id=identifier(_find_scenario_id(document), "instance_id"),
        agent={"framework": "openhands"},
        system_instructions=get_instructions(conversation.messages),
        llm_calls=events.llm_calls,
    )
    if events.answer is not None:
        set_final_response(trace, *events.answer)
    _add_model(trace, document)
    _add_times(trace, history)
    _add_usage(trace, document, history, events.unmetered)
    _add_end(trace, events, document)
    note_unknown_outcomes(trace, events.unknown_outcomes)
    note_elsewhere(trace, events.unseen_delegates)
    if failure is not None:
        add_failed_call(trace, failure)
    _add_patch(trace, document)
    return trace


def identify(record: Any) -> Identity:
    """The benchmark instance or the issue that the agent worked on."""
    return build_identity(_find_scenario_id(record) if isinstance(record, dict) else None, None)


def _find_scenario_id(document: dict[str, Any]) -> Any:
    issue = document.get("issue")
    if document.get("instance_id") is not None or not isinstance(issue, dict):
        return document.get("instance_id")
    owner, repo, number = (issue.get(name) for name in ("owner", "repo", "number"))
    known = isinstance(owner, str) and isinstance(repo, str) and type(number) is int
    return f"{owner}/{repo}#{number}" if known else None


def _add_task(events: OpenHandsEvents, document: dict[str, Any], history: list[Any]) -> None:
    """Adds the task if the history does not begin with it."""
    first = history[0] if history else None
    if isinstance(first, list):
        first = first[0] if first else None
    instruction = text(document.get("instruction"), "instruction")
    has_task = isinstance(first, dict) and first.get("action") in ("message", "system")
    if instruction and not has_task:
        events.conversation.add_message("user", instruction)


def _add_model(trace: Trace, document: dict[str, Any]) -> None:
    trace.provider, trace.model = split_provider_and_model(read_at(document, "metadata.llm_config.model", text))
    if trace.model is None and trace.llm_calls:
        trace.provider, trace.model = split_provider_and_model(trace.llm_calls[-1]["model"])


def _add_times(trace: Trace, history: list[Any]) -> None:
    """Adds the times of the first and last event; some versions record no times."""
    times = list(filter(None, (time(dict_or_empty(event).get("timestamp"), "timestamp") for event in history)))
    if times:
        trace.started_at, trace.ended_at = times[0], times[-1]
        latency = measure_between(times[0], times[-1])
        trace.latency = latency if latency["total_ms"] else trace.latency


def _add_usage(trace: Trace, document: dict[str, Any], history: list[Any], unmetered: int) -> None:
    trace.usage, about_usage = sum_call_usages(trace.llm_calls, unmetered)
    path = "metrics"
    metrics = mapping(document.get(path), path)
    for event in reversed(history):
        if not metrics and isinstance(event, dict) and event.get("llm_metrics") is not None:
            path = "llm_metrics"
            metrics = mapping(event[path], path)
    counted = read_provider_usage(metrics.get("accumulated_token_usage"), f"{path}.accumulated_token_usage")
    if counted["input_tokens"] or counted["output_tokens"]:
        trace.usage = counted
    trace.warnings += [] if is_known(trace.usage) else about_usage
    set_cost(trace, metrics.get("accumulated_cost"), f"{path}.accumulated_cost")
    _check_cost_sum(trace, metrics, path)


def _check_cost_sum(trace: Trace, metrics: dict[str, Any], path: str) -> None:
    costs = [
        amount(each.get("cost") if isinstance(each, dict) else each, f"{path}.costs[{number}]") or 0.0
        for number, each in enumerate(listing(metrics.get("costs"), f"{path}.costs"))
    ]
    distrust_cost(trace, costs, f"{path}.costs")
    total, parts = trace.cost["usd"], sum(costs)
    if costs and total is not None and total - parts > MAX_DEVIATION * total:
        message = f"the recorded cost {total:g} is not the sum {parts:g} of its parts"
        add_warning(trace, "total_mismatch", message, f"{path}.costs")


def _add_end(trace: Trace, events: OpenHandsEvents, document: dict[str, Any]) -> None:
    success = document.get("success")
    if isinstance(success, bool):
        trace.evaluations.append(build_score("success", float(success), "success"))
    error = text(document.get("error"), "error") or events.error
    limit = next((by for text_, by in LIMITS.items() if text_ in (error or "")), None)
    if limit is not None:
        mark_stopped(trace, limit)
    elif error:
        mark_failed_run(trace, None, error)
    elif any(call["name"] == FINISH for call in trace.tool_calls[-1:]):
        trace.finish_reason = "stop"


def _add_patch(trace: Trace, document: dict[str, Any]) -> None:
    """Adds the files of the patch that was taken of the folder after the run, by the resolver or by a benchmark."""
    taken = {"git_patch": document, "test_result.git_patch": dict_or_empty(document.get("test_result"))}
    for path, holder in taken.items():
        patch = text(holder.get("git_patch"), path)
        if patch is not None:
            set_changed_files(trace, patch, path)
            return


LIMITS = {"reached maximum iteration": STEPS, "reached maximum budget": COST}
"""What an `error` says, in OpenHands' own words, if a limit ended the run; any other one is a failure."""
NOT_TOOLS = frozenset({"message", "system", "think", "finish", "recall", "change_agent_state", "condensation", "null"})
EVENT_FIELDS = words("""
    args extras tool_call_metadata llm_metrics metadata outputs inputs content message thought action observation
    final_thought
""")
SHAPES = (Shape(("history", EACH), EVENT_FIELDS), Shape(("history", EACH, EACH), EVENT_FIELDS))
READER = Reader(build=build, identify=identify, not_tools=NOT_TOOLS, shapes=SHAPES)
