"""Reads Vally: the results of trials, one a line, and the trajectories that `--output-dir` saves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.agent_session import AgentSession
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.run import open_record, set_final_response
from evalgate.adapters.formats.core.builder.run_end import TIME, warn_of_unknown_status
from evalgate.adapters.formats.core.fields import (
    dict_or_empty,
    do_each,
    flag,
    identifier,
    mapping,
    number,
    objects,
    prefix_errors,
    required_text,
    text,
    time_if_valid,
    whole_number,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity, split_list, words
from evalgate.adapters.formats.core.usage import TokenTable, build_score, none_if_uncounted
from evalgate.adapters.formats.vally import is_trajectory

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.trace.trace import Trace

NAME = "vally"
ENDED_WELL = frozenset({"success", "completed"})
FAILED = "error"
LIMITS = {"agent_timeout": TIME}
"""Values of `status` and `endReason`: the run ended by itself, in an error, or by a limit."""
USAGE = TokenTable(
    "vally",
    input_tokens="inputTokens",
    output_tokens="outputTokens",
    total_tokens="totalTokens",
    cache_read_input_tokens="cacheReadTokens",
    cache_write_input_tokens="cacheWriteTokens",
)


def build(record: Any) -> Trace:
    """Builds one trial; the grades of Vally are its scores, without their tokens."""
    document = open_record(record)
    path = "" if is_trajectory(document) else "trajectory"
    run = document if is_trajectory(document) else mapping(document.get("trajectory"), "trajectory")
    session = AgentSession()
    session.id = text(run.get("id"), "id")
    _add_prompt(session, run)
    with prefix_errors(path):
        do_each(objects(run.get("events"), "events"), "events", lambda event: _add_event(session, event))
        session.end_answer()
        if not session.llm_calls:
            tokens = mapping(run.get("metrics"), "metrics").get("tokenUsage")
            session.total = none_if_uncounted(USAGE.read(tokens, "metrics.tokenUsage"))
    status, reason = text(document.get("status"), "status"), text(run.get("endReason"), "endReason")
    session.stopped_by = LIMITS.get(reason or "")
    session.error = status if status == FAILED else session.error
    trace = session.build_session(NAME)
    for word, where in ((status, "status"), (reason, "endReason")):
        if word is not None and word not in ENDED_WELL | {FAILED, *LIMITS}:
            warn_of_unknown_status(trace, word, where)
    set_final_response(trace, text(run.get("output"), "output") or None)
    _add_trial(trace, document, run)
    return trace


def identify(record: Any) -> Identity:
    """Scenario and trial of a damaged record."""
    document = dict_or_empty(record)
    return build_identity(
        _find_stimulus(document, dict_or_empty(document.get("trajectory"))), document.get("trialIndex")
    )


def _find_stimulus(document: dict[str, Any], run: dict[str, Any]) -> Any:
    """The name of the stimulus, which a trial records as text and a trajectory as an object."""
    for value in (document.get("stimulus"), run.get("stimulus")):
        name = value.get("name") if isinstance(value, dict) else value
        if isinstance(name, str) and name:
            return name
    return None


def _add_prompt(session: AgentSession, run: dict[str, Any]) -> None:
    """Adds the prompt of the stimulus, unless the events record it."""
    kinds = [event.get("type") for event in objects(run.get("events"), "events")]
    prompt = dict_or_empty(run.get("stimulus")).get("prompt")
    if "user_message" not in kinds and isinstance(prompt, str):
        session.add_message(RawMessage("user", prompt))


def _add_event(session: AgentSession, event: dict[str, Any]) -> None:
    handle = HANDLERS.get(text(event.get("type"), "type") or "")
    if handle is not None:
        handle(session, mapping(event.get("data"), "data"), time_if_valid(event.get("timestamp")))


def _add_user(session: AgentSession, data: dict[str, Any], when: str | None) -> None:
    session.add_message(RawMessage("user", text(data.get("content"), "data.content"), timestamp=when))


def _add_answer(session: AgentSession, data: dict[str, Any], when: str | None) -> None:
    session.add_text(text(data.get("content"), "data.content"), when)


def _add_call(session: AgentSession, data: dict[str, Any], when: str | None) -> None:
    name = required_text(data.get("toolName"), "data.toolName")
    session.add_call(ToolRequest(text(data.get("toolCallId"), "data.toolCallId"), name, data.get("arguments")), when)


def _add_result(session: AgentSession, data: dict[str, Any], when: str | None) -> None:
    done = flag(data.get("success"), "data.success")
    content = data.get("result") if data.get("result") is not None else data.get("error")
    call_id, name = text(data.get("toolCallId"), "data.toolCallId"), text(data.get("toolName"), "data.toolName")
    session.add_result(ToolResult(call_id, name, content, None if done is None else not done), when)


def _add_usage(session: AgentSession, data: dict[str, Any], when: str | None) -> None:
    del when
    session.add_model_call(USAGE.read(data, "data"), model=text(data.get("model"), "data.model"))


def _start_turn(session: AgentSession, data: dict[str, Any], when: str | None) -> None:
    del data, when
    session.end_answer()


def _add_trial(trace: Trace, document: dict[str, Any], run: dict[str, Any]) -> None:
    trace.scenario_id = identifier(_find_stimulus(document, run), "stimulus")
    trace.trial = whole_number(document.get("trialIndex"), "trialIndex")
    trace.name = text(document.get("evalName"), "evalName")
    variant = text(document.get("variant"), "variant")
    trace.tags = [f"variant:{variant}"] if variant else []
    trace.model = trace.model or text(dict_or_empty(run.get("metadata")).get("model"), "metadata.model")
    grade = mapping(document.get("gradeResult"), "gradeResult")
    passed = flag(grade.get("passed"), "gradeResult.passed")
    if passed is not None:
        trace.evaluations.append(build_score("pass", float(passed), "gradeResult.passed"))
    if number(grade.get("score"), "gradeResult.score") is not None:
        trace.evaluations.append(build_score("score", grade["score"], "gradeResult.score"))


HANDLERS: dict[str, Callable[[AgentSession, dict[str, Any], str | None], None]] = {
    "user_message": _add_user,
    "assistant_message": _add_answer,
    "tool_call": _add_call,
    "tool_result": _add_result,
    "token_usage": _add_usage,
    "turn_start": _start_turn,
}
KINDS = frozenset(HANDLERS) | {"turn_end", "skill_activation", "error"}
RUN_FIELDS = words("events stimulus metrics metadata")
SHAPES = (
    Shape(("trajectory",), RUN_FIELDS),
    Shape(("trajectory", "events", EACH), frozenset({"data"}), KINDS),
    Shape(("trajectory", "events", EACH, "data"), frozenset({"arguments", "result", "error"})),
    Shape(("events", EACH), frozenset({"data"}), KINDS),
    Shape(("events", EACH, "data"), frozenset({"arguments", "result", "error"})),
)
READER = Reader(
    build=build,
    identify=identify,
    split=split_list,
    shapes=SHAPES,
    without_calls=frozenset({"stimulus", "gradeResult", "experiment"}),
)
