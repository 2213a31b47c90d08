"""Reads SWE-agent trajectories: messages in `history`, step results in `trajectory`, the end in `info`."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from evalgate.adapters.formats.core.builder.call_outcomes import note_unknown_outcomes
from evalgate.adapters.formats.core.builder.conversation import Conversation, get_instructions, read_arguments
from evalgate.adapters.formats.core.builder.evidence_gaps import ADVICE, add_gap
from evalgate.adapters.formats.core.builder.run import (
    add_command_call,
    answer_beside_last_call,
    build_trace,
    command_word,
    mark_final_call,
    open_record,
    set_final_response,
    warn_of_missing_results,
)
from evalgate.adapters.formats.core.builder.run_end import (
    COST,
    LENGTH,
    STEPS,
    TIME,
    mark_failed_run,
    mark_incomplete,
    mark_stopped,
    warn_of_unknown_status,
)
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    amount,
    do_each,
    filled_text,
    identifier,
    listing,
    mapping,
    objects,
    prefix_errors,
    read_at,
    required_text,
    text,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity
from evalgate.adapters.formats.core.patches import begins_patch, set_changed_files
from evalgate.adapters.formats.core.strict_json import decode
from evalgate.adapters.formats.core.usage import TokenTable, read_cost_usd, to_milliseconds
from evalgate.adapters.formats.messages.known_fields import PART_FIELDS
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Trace, unknown_cost, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Message, ToolCall

NEVER = 1 << 60
"""A distance larger than any other."""


class StepAlignment(NamedTuple):
    """For each answer the index of its step, or None; and the steps that come before an answer, by its index."""

    steps: list[int | None]
    before: dict[int, list[int]]


def align(answers: Sequence[str], steps: Sequence[str]) -> StepAlignment:
    """Pairs answers and steps with equal actions, in order; an answer without an action takes one that no other has.

    Where both go on differently, the side whose action the other side has sooner waits.
    """
    found: list[int | None] = []
    before: dict[int, list[int]] = {}
    in_answers, in_steps = _list_positions(answers), _list_positions(steps)
    position = 0
    while len(found) < len(answers):
        current = len(found)
        action = answers[current]
        step = steps[position] if position < len(steps) else None
        until_answer = NEVER if step is None else _find_distance(in_answers, step, current)
        if step is not None and (action == step or (not action and until_answer == NEVER)):
            found.append(position)
            position += 1
        elif step is not None and action and _find_distance(in_steps, action, position) <= until_answer:
            before.setdefault(current, []).append(position)
            position += 1
        else:
            found.append(None)
    if position < len(steps):
        before[len(answers)] = list(range(position, len(steps)))
    return StepAlignment(found, before)


def _list_positions(actions: Sequence[str]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for index, action in enumerate(actions):
        positions.setdefault(action, []).append(index)
    return positions


def _find_distance(positions: dict[str, list[int]], action: str, start: int) -> int:
    """How far away the next such action is."""
    listed = positions.get(action, [])
    at = bisect_left(listed, start)
    return listed[at] - start if at < len(listed) else NEVER


LIMITS = {
    "exit_cost": COST,
    "exit_context": LENGTH,
    "exit_total_execution_time": TIME,
    "exit_command_timeout": TIME,
    "early_exit": STEPS,
}
ORDERLY_STATUSES = frozenset({"submitted", "exit_forfeit"})
FAILED = re.compile(r"exit_\w+$|skipped$|(?:\w+\.)*[A-Z]\w*(?:Error|Exception)$")
"""Values of `exit_status`: a limit ended the run, the agent did, or an error whose kind or class is named."""
SUBMITTED_AFTER = re.compile(r"submitted \((.*)\)$")
"""What ended the run is in brackets if its state was submitted all the same."""
ACTION_FIELDS = frozenset({"action", "tool_calls"})
STAND_IN_MODELS = frozenset({"replay", "human", "human_thought", "instant_empty_submit"})
"""Model names that are not models: they replay a recorded run or ask a person."""


class _Step(Struct):
    """One answer of the model, and its call if it made exactly one."""

    message: Message
    call: ToolCall | None


def build(record: Any) -> Trace:
    """Builds one trajectory. An action in text becomes a call named after its first word."""
    document = open_record(record)
    run = _Run(listing(document.get("history"), "history"), listing(document.get("trajectory"), "trajectory"))
    conversation, steps = run.conversation, run.steps
    info = mapping(document.get("info"), "info")
    instructions = get_instructions(conversation.messages)
    trace = build_trace(conversation, agent={"framework": "swe-agent"}, system_instructions=instructions, warnings=[])
    _add_settings(trace, document)
    submission = text(info.get("submission"), "info.submission")
    if steps and info.get("exit_status") is not None and steps[-1].call is not None:
        mark_final_call(steps[-1].call)
    set_final_response(trace, submission, steps[-1].message if steps else None)
    trace.warnings += [*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)]
    note_unknown_outcomes(trace, [call for call in trace.tool_calls if call["status"] == "unknown"])
    if run.without_action is not None:
        add_gap(trace, "calls", f"`{run.without_action}` has no `action`: {ADVICE}")
    if "info" in document:
        _add_end(trace, text(info.get("exit_status"), "info.exit_status"))
    _add_usage(trace, mapping(info.get("model_stats"), "info.model_stats"))
    if submission is not None and begins_patch(submission):  # others are answers, of a contest say
        set_changed_files(trace, submission, "info.submission")
    return trace


def identify(record: Any) -> Identity:
    """The id of the problem statement, if the file keeps the run's settings."""
    if not isinstance(record, dict):
        return None, None
    try:
        problem = _replay_config(record).get("problem_statement")
    except TraceError:
        return None, None
    return build_identity(problem.get("id") if isinstance(problem, dict) else None, None)


class _Run:
    """The conversation of the history, with the steps that only the trajectory has where they were made."""

    def __init__(self, history: list[Any], trajectory: list[Any]) -> None:
        self.conversation = Conversation()
        self.steps: list[_Step] = []
        self.without_action = _find_without_action(history, "history") or _find_without_action(trajectory, "trajectory")
        self._trajectory = objects(trajectory, "trajectory")
        actions: list[str] = []
        do_each(self._trajectory, "trajectory", lambda step: actions.append(_read_action(step)))
        answers = [value.get("action") for value in history if _is_answer(value)]
        self._alignment = align([one.strip() if isinstance(one, str) else "" for one in answers], actions)
        self._paired: list[tuple[_Step, int]] = []
        self._unpaired = 0
        do_each(history, "history", self._add_message)
        for answer, number in self._paired:
            _finish_step(self.conversation, answer.call, self._trajectory[number], f"trajectory[{number}]")
        self._add_steps_before(len(self._alignment.steps))

    def _add_message(self, recorded: dict[str, Any]) -> None:
        conversation, steps = self.conversation, self.steps
        role = required_text(recorded.get("role"), "role")
        content, parts = read_content(recorded.get("content"), "content")
        if role == "system" or recorded.get("is_demo"):
            # A demonstration is another run, shown to the model before this one starts.
            message = conversation.add_message("system", content)
        elif role == "assistant":
            message = self._add_answer(recorded, content)
        elif role == "tool":
            message = _add_results(conversation, recorded, content)
        elif role != "user":
            raise FieldError("role", "is not one of system, user, assistant, tool")
        elif steps and steps[-1].call is not None and steps[-1].call["status"] == "missing":
            message, _ = conversation.add_result(steps[-1].call["id"], None, content)
        else:
            message = conversation.add_message("user", content, is_input=not steps)
        message["parts"] = parts

    def _add_answer(self, recorded: dict[str, Any], content: str | None) -> Message:
        answer = len(self._paired) + self._unpaired
        self._add_steps_before(answer)
        number = self._alignment.steps[answer]
        message = self.conversation.add_message("assistant", content)
        call = _add_calls(self.conversation, message, recorded)
        if number is not None and not message["tool_calls"]:
            call = _add_calls(self.conversation, message, self._trajectory[number])
        step = _Step(message, call)
        self.steps.append(step)
        if number is None:
            self._unpaired += 1
        else:
            self._paired.append((step, number))
        return message

    def _add_steps_before(self, answer: int) -> None:
        """Adds the steps of the trajectory that come before an answer and that the history does not have."""
        for number in self._alignment.before.get(answer, ()):
            recorded, path = self._trajectory[number], f"trajectory[{number}]"
            with prefix_errors(path):
                message = self.conversation.add_message("assistant", text(recorded.get("response"), "response"))
                step = _Step(message, _add_calls(self.conversation, message, recorded))
            self.steps.append(step)
            _finish_step(self.conversation, step.call, recorded, path)


def _find_without_action(values: list[Any], path: str) -> str | None:
    """The path of the first answer or step that has no field for what the model did."""
    for number, value in enumerate(values):
        is_step = path == "trajectory" and isinstance(value, dict)
        if (is_step or _is_answer(value)) and all(value.get(key) is None for key in ACTION_FIELDS):
            return f"{path}[{number}]"
    return None


def _is_answer(value: Any) -> bool:
    """True for a message of the model in this run."""
    return isinstance(value, dict) and value.get("role") == "assistant" and not value.get("is_demo")


def _read_action(recorded: dict[str, Any]) -> str:
    return (text(recorded.get("action"), "action") or "").strip()


CALL = FieldTable(
    id=filled_text,
    name=(required_text, "function.name"),
    arguments=(lambda value, _: read_arguments(value), "function.arguments"),
)


def _add_calls(conversation: Conversation, message: Message, recorded: dict[str, Any]) -> ToolCall | None:
    """Adds a message's `tool_calls`, else its action; returns the call if there is exactly one."""
    calls = [
        conversation.add_call(message, call["id"], call["name"], call["arguments"])
        for call in CALL.read_each(recorded.get("tool_calls"), "tool_calls")
    ]
    if calls:
        return calls[0] if len(calls) == 1 else None
    action = _read_action(recorded)
    return add_command_call(conversation, message, action, command_word(action)) if action else None


def _add_results(conversation: Conversation, recorded: dict[str, Any], content: str | None) -> Message:
    """Adds one message as the result of every call it names."""
    ids = listing(recorded.get("tool_call_ids"), "tool_call_ids") or [recorded.get("tool_call_id")]
    call_ids = [text(value, f"tool_call_ids[{number}]") for number, value in enumerate(ids)]
    return [conversation.add_result(call_id, None, content)[0] for call_id in (*call_ids[1:], call_ids[0])][-1]


def _finish_step(conversation: Conversation, call: ToolCall | None, recorded: dict[str, Any], path: str) -> None:
    if call is None:
        return
    observation = text(recorded.get("observation"), f"{path}.observation")
    if call["status"] == "missing" and observation is not None:
        conversation.add_result(call["id"], None, observation)
    seconds = amount(recorded.get("execution_time"), f"{path}.execution_time")
    call["duration_ms"] = None if seconds is None else to_milliseconds(seconds)


def _replay_config(document: dict[str, Any]) -> dict[str, Any]:
    """The run's settings, as an object or as JSON text."""
    value = document.get("replay_config")
    return mapping(decode(value.encode()) if isinstance(value, str) else value, "replay_config")


def _add_settings(trace: Trace, document: dict[str, Any]) -> None:
    """Adds names only: settings hold API keys of providers."""
    settings = _replay_config(document)
    with prefix_errors("replay_config"):
        trace.scenario_id = read_at(settings, "problem_statement.id", identifier)
        name = read_at(settings, "agent.model.name", text)
    trace.model = None if name in STAND_IN_MODELS else name
    environment = document.get("environment")
    if isinstance(environment, str):
        trace.metadata["environment"] = environment


def _add_end(trace: Trace, status: str | None) -> None:
    if not status:
        mark_incomplete(trace, "the run has no exit status: it did not finish")
        return
    trace.metadata["exit_status"] = status
    trace.finish_reason = "stop" if status in ORDERLY_STATUSES else status
    if status in ORDERLY_STATUSES:
        answer_beside_last_call(trace)
    submitted = SUBMITTED_AFTER.match(status)
    cause = submitted[1] if submitted else status
    if cause in LIMITS:
        mark_stopped(trace, LIMITS[cause])
    elif cause in ORDERLY_STATUSES:
        return
    elif FAILED.match(cause):
        mark_failed_run(trace, status)
    else:
        warn_of_unknown_status(trace, status, "info.exit_status")


def _add_usage(trace: Trace, stats: dict[str, Any]) -> None:
    """Zeros mean unknown: a replay is not metered."""
    path = "info.model_stats"
    trace.usage = USAGE.read_if_counted(stats, path) or unknown_usage()
    trace.cost, warnings = read_cost_usd(stats.get("instance_cost"), trace.usage, f"{path}.instance_cost")
    if trace.cost["usd"] == 0:
        trace.cost = unknown_cost()
        message = "cost and tokens of 0 are treated as unknown: replays record no usage"
        warnings = [{"code": "zero_cost", "message": message, "where": path}]
    trace.warnings += warnings


USAGE = TokenTable("plain", input_tokens="tokens_sent", output_tokens="tokens_received")


HISTORY_FIELDS = frozenset({"content", "tool_calls", "tool_call_ids", "thinking_blocks", "cache_control", "tags"})
STEP_FIELDS = frozenset({"messages", "query", "extra_info", "tool_calls", "tool_call_ids", "thinking_blocks", "state"})
TEXTS = frozenset({"action", "thought", "observation", "response", "reasoning", "reasoning_content"})
SHAPES = (
    Shape(("history", EACH), HISTORY_FIELDS | TEXTS),
    Shape(("history", EACH, "content", EACH), PART_FIELDS),
    Shape(("trajectory", EACH), STEP_FIELDS | TEXTS),
)
READER = Reader(build=build, identify=identify, shapes=SHAPES, reads_texts=True)
