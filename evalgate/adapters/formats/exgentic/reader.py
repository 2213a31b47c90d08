"""Reads Exgentic sessions: one step per line of `trajectory.jsonl`, the outcome in `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.adapters.formats.core.builder.conversation import Conversation, read_arguments
from evalgate.adapters.formats.core.builder.evidence_gaps import find_unknown, note_unknown
from evalgate.adapters.formats.core.builder.run import (
    add_warning,
    build_trace,
    mark_final_call,
    set_final_response,
)
from evalgate.adapters.formats.core.builder.run_end import STEPS, mark_failed_run, mark_incomplete, mark_stopped
from evalgate.adapters.formats.core.fields import (
    amount,
    dict_or_empty,
    flag,
    identifier,
    mapping,
    objects,
    prefix_errors,
    read_at,
    required_text,
    text,
    whole_number,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity
from evalgate.adapters.formats.core.strict_json import encode_json, encode_text, require_shallow
from evalgate.adapters.formats.core.usage import (
    TokenTable,
    build_score,
    distrust_cost,
    read_latency_seconds,
    split_provider_and_model,
)
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.trace.trace import ErrorInfo, Message, ToolCall, Trace

NO_SESSION = ""
SPEAK_ACTION = "message"
FINISH_ACTIONS = frozenset({"finish", "submit"})
ANSWER_KEYS = ("answer", "exact_answer", "summary", "message", "content", "result")
"""Names that benchmarks use for the argument of the finishing action that holds the answer."""
CUT_OFF_STATUSES = frozenset({"unfinished", "cancelled"})
MAX_DEVIATION = 0.01


class ExgenticSession(Struct):
    """The steps of one session and its outcome; either may be missing."""

    steps: list[Any] = field(default_factory=list)
    outcome: dict[str, Any] = field(default_factory=dict)


def split(documents: list[Any]) -> Sequence[ExgenticSession]:
    """The sessions of files that belong together, in the order of their first lines."""
    sessions: dict[str, ExgenticSession] = {}
    for document in documents:
        session = sessions.setdefault(_session_key(document), ExgenticSession())
        if isinstance(document, dict) and "event" not in document:
            session.outcome = document
        else:
            session.steps.append(document)
    return list(sessions.values())


def join_keys(documents: Sequence[Any]) -> Iterable[str]:
    """The ids of the sessions in a file; files that share one are read together."""
    return set(map(_session_key, documents)) - {NO_SESSION}


def _session_key(document: Any) -> str:
    """Documents without a session share one key; `build` then reports them as damaged."""
    session_id = document.get("session_id") if isinstance(document, dict) else None
    return session_id if isinstance(session_id, str) else NO_SESSION


def build(session: ExgenticSession) -> Trace:
    """Builds one session. Costs of steps are running totals."""
    if not session.steps:
        raise TraceError("this is only the outcome of a session: include its trajectory.jsonl in the glob")
    steps = _ConversationBuilder()
    for number, step in enumerate(session.steps):
        require_shallow(step)
        with prefix_errors(f"step {number}"):
            required_text(mapping(step, "").get("session_id"), "session_id")
            steps.add(step)
    steps.end()
    conversation = steps.conversation
    if not conversation.messages:
        raise TraceError("no step of the session has a message or an action")
    documents = [*session.steps, session.outcome]
    trace = build_trace(
        conversation,
        session.steps[0]["session_id"],
        scenario_id=identifier(_find_task_id(documents), "task_id"),
        agent={"framework": "exgentic"},
    )
    if steps.answer is not None:
        set_final_response(trace, *steps.answer)
    require_shallow(session.outcome)
    _add_outcome(trace, session.outcome, finished=steps.finished)
    _add_cost(trace, session)
    note_unknown(trace, find_unknown(session.steps, SHAPES))
    return trace


def identify(session: ExgenticSession) -> Identity:
    """The id of the benchmark's task."""
    return build_identity(_find_task_id([*session.steps, session.outcome]), None)


def _find_task_id(documents: list[Any]) -> Any:
    """Old files name it `task_key` and leave it empty in steps."""
    objects = [document for document in documents if isinstance(document, dict)]
    found = (document.get(key) for document in objects for key in ("task_id", "task_key"))
    return next((value for value in found if value is not None and value != ""), None)


class _ConversationBuilder:
    def __init__(self) -> None:
        self.conversation = Conversation()
        self.answer: tuple[str | None, Message] | None = None
        self.finished = False
        self._invalid: dict[int, tuple[ToolCall, ErrorInfo]] = {}

    def end(self) -> None:
        """Marks as failed the actions that were rejected as invalid and have no sign of execution."""
        for call, error in self._invalid.values():
            call["status"], call["error"] = "error", error

    def add(self, step: dict[str, Any]) -> None:
        """Adds one line: an action of the agent, or an observation."""
        if step.get("event") == "action" or (step.get("action") and not step.get("observation")):
            action = mapping(step.get("action"), "action")
            actions = objects(action.get("actions"), "action.actions") or ([action] if action else [])
            if actions:
                self._add_actions(actions)
        else:
            observation = mapping(step.get("observation"), "observation")
            for each in objects(observation.get("observations"), "observation.observations") or [observation]:
                self._add_observation(each)

    def _add_actions(self, actions: list[dict[str, Any]]) -> None:
        """Actions of one step are parallel calls. A message to the user is not a tool call."""
        names = [required_text(action.get("name"), "action.name") for action in actions]
        message = self.conversation.add_message("assistant", None)
        for name, action in zip(names, actions, strict=True):
            content = dict_or_empty(action.get("arguments")).get("content")
            if name == SPEAK_ACTION and isinstance(content, str):
                message["content"] = "\n".join(filter(None, (message["content"], content)))
            else:
                self._add_call(message, name, action)

    def _add_call(self, message: Message, name: str, action: dict[str, Any]) -> None:
        action_id = text(action.get("id"), "action.id")
        call = self.conversation.add_call(message, action_id, name, read_arguments(action.get("arguments")))
        if read_at(action, "validation.valid", flag) is False:
            error = read_at(action, "validation.error", text)
            self._invalid[call["index"]] = (call, {"type": "invalid_action", "message": error})
        if name in FINISH_ACTIONS:
            self.finished = True
            mark_final_call(call)
            answers = map(dict_or_empty(call["arguments"]).get, ANSWER_KEYS)
            final_answer = next((answer for answer in answers if isinstance(answer, str) and answer), None)
            self.answer = (final_answer or message["content"], message)

    def _add_observation(self, observation: dict[str, Any]) -> None:
        result = observation.get("result")
        causes = objects(observation.get("invoking_actions"), "observation.invoking_actions")
        tool_actions = [cause for cause in causes if cause.get("name") != SPEAK_ACTION]
        if tool_actions:
            for cause in tool_actions:
                self._add_result(text(cause.get("id"), "observation.invoking_actions.id"), result)
        elif result is not None:
            content = result.get("message") if isinstance(result, dict) else result
            self.conversation.add_message("user", content if isinstance(content, str) else encode_json(result))

    def _add_result(self, action_id: str | None, result: Any) -> None:
        _, call = self.conversation.add_result(action_id, None, encode_text(result))
        if call is not None:
            call["result"] = result
            if isinstance(result, dict):
                call["exit_code"] = whole_number(result.get("returncode"), "observation.result.returncode")
            if result and isinstance(result, list | dict) and "error" not in result:  # the tool ran after all
                self._invalid.pop(call["index"], None)


def _add_outcome(trace: Trace, outcome: dict[str, Any], *, finished: bool) -> None:
    trace.latency = read_latency_seconds(outcome.get("execution_time"), "execution_time")
    success = flag(outcome.get("success"), "success")
    scores = {"score": outcome.get("score"), "success": None if success is None else float(success)}
    trace.evaluations += [build_score(name, score, name) for name, score in scores.items() if score is not None]
    ended = text(outcome.get("status"), "status")
    is_finished = flag(outcome.get("is_finished"), "is_finished")
    if ended == "error":
        mark_failed_run(trace, "error")
    elif ended == "limit_reached":
        mark_stopped(trace, STEPS)
    elif ended in CUT_OFF_STATUSES or is_finished is False:
        mark_incomplete(trace, f"the session ended with the status {ended or 'unfinished'}")
    elif finished or is_finished:
        trace.finish_reason = "stop"


def _add_cost(trace: Trace, session: ExgenticSession) -> None:
    """Uses the outcome's cost, else the last step's running total; 0 means a model without a price."""
    path = "cost_reports.agent"
    report = read_at(session.outcome, path, mapping)
    trace.provider, trace.model = split_provider_and_model(text(report.get("model_name"), f"{path}.model_name"))
    trace.usage = USAGE.read(report, path)
    if trace.usage["total_tokens"] is None:
        trace.usage["source"] = "none"
    running = amount(session.steps[-1].get("agent_cost"), "agent_cost")
    total = amount(session.outcome.get("agent_cost"), "agent_cost")
    usd = running if total is None else total
    if usd == 0:
        message = "a cost of 0 is treated as unknown: a model without a known price is recorded as 0"
        add_warning(trace, "zero_cost", message, "agent_cost")
    elif usd is not None:
        trace.cost = {"usd": usd, "source": "recorded"}
        distrust_cost(trace, [running or 0], "agent_cost", "its last step says")
    if running and total and total - running > MAX_DEVIATION * total:
        message = f"the session's cost is {total:g}, but its last step records {running:g}"
        add_warning(trace, "total_mismatch", message, "agent_cost")


USAGE = TokenTable("plain", input_tokens="input_tokens", output_tokens="output_tokens")


STEP_FIELDS = frozenset({"action", "observation", "context", "metadata"})
SHAPES = (
    Shape((EACH,), STEP_FIELDS, frozenset({"action", "observation"}), "event"),
    Shape((EACH, "action"), frozenset({"arguments", "actions", "validation", "name"})),
)
READER = Reader(build=build, identify=identify, shapes=(), split=split, join_keys=join_keys)
