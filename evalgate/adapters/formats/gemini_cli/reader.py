"""Reads Gemini CLI: its session files, JSON or JSON lines, and the events of `--output-format stream-json`.

A session file is a log: a later line with the id of an earlier message replaces it, and a rewound message stays, since
its calls were made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.agent_session import AgentSession
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.run import build_model_error
from evalgate.adapters.formats.core.builder.run_end import TURN_OPEN
from evalgate.adapters.formats.core.fields import (
    FieldTable,
    count,
    dict_or_empty,
    do_each,
    flag,
    mapping,
    objects,
    read_at,
    required_text,
    text,
    time_if_valid,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity, words
from evalgate.adapters.formats.core.provider_response import GEMINI, READERS
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import none_if_uncounted
from evalgate.adapters.formats.gemini_cli import is_session
from evalgate.adapters.formats.messages import gemini
from evalgate.adapters.formats.messages.known_fields import GEMINI_PART_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.trace.trace import Trace, Usage

NAME = "gemini-cli"
PROVIDER = "gcp.gemini"
API_ERROR = "[API Error"
CANCELLED = "Request cancelled."
ABORTED = "the run was cancelled"
NO_RESULT_LINE = "there is no result line: the run was stopped"
NO_RESULT = frozenset({"validating", "scheduled", "executing", "awaiting_approval"})
"""Statuses of a call that has not ended."""
FAILED = frozenset({"error", "cancelled"})
OF_STREAM = words("init message tool_use tool_result result")
STARTS_AGENT = words("invoke_agent delegate_to_agent codebase_investigator cli_help generalist browser_agent")
"""Tools that run a sub-agent, by the version: its calls are in a session of its own, and in no stream."""
AGENT_ENDED = re.compile(r"\s*Subagent '?[^'\n]{1,200}?'? (?:[Ff]inished\.?\s+Termination Reason:|failed\. Error:)")
"""How the result of a sub-agent begins, which a version runs as a tool of its own name."""
TOKENS = FieldTable(
    promptTokenCount=(count, "input_tokens", "input"),
    candidatesTokenCount=(count, "output_tokens", "output"),
    cachedContentTokenCount=(count, "cached"),
    thoughtsTokenCount=(count, "thoughts"),
    toolUsePromptTokenCount=(count, "tool"),
    totalTokenCount=(count, "total_tokens", "total"),
)
"""The API's names of the numbers that a message and the statistics of a stream record."""


class GeminiSession(AgentSession):
    """The run, and the ids of the calls whose results stand with them: a message of the user repeats these.

    `agents` are the calls that ran sub-agents.
    """

    def __init__(self) -> None:
        super().__init__()
        self.answered: set[Any] = set()
        self.agents: set[Any] = set()

    def note_agent(self, call_id: Any, name: Any, result: Any = None) -> None:
        """Notes a call that ran a sub-agent, by the name of its tool or by its result."""
        if name in STARTS_AGENT or (isinstance(result, str) and AGENT_ENDED.match(result)):
            self.agents.add(call_id)


def split(documents: Any) -> Sequence[Any]:
    """The lines of each run; one begins with its session line or its `init` event."""
    runs: list[list[Any]] = [[]]
    ids: list[Any] = [None]
    for document in documents:
        for line in _list_lines(document):
            begins = is_session(line) or (isinstance(line, dict) and line.get("type") == "init")
            found = line.get("sessionId", line.get("session_id")) if begins else None
            if begins and runs[-1] and found != ids[-1]:
                runs.append([])
                ids.append(found)
            ids[-1] = found if begins else ids[-1]
            runs[-1].append(line)
    return [run for run in runs if run]


def _list_lines(document: Any) -> list[Any]:
    """The lines that a document stands for: a session with messages is written as one too."""
    if isinstance(document, list):
        return [line for each in document for line in _list_lines(each)]
    if is_session(document) and isinstance(document.get("messages"), list):
        return [{key: value for key, value in document.items() if key != "messages"}, *document["messages"]]
    return [document]


def build(record: Any) -> Trace:
    """Builds one run."""
    require_shallow(record)
    session = GeminiSession()
    session.provider = PROVIDER
    lines = _keep_last_versions(record)
    session.answered = set(_list_answered(lines))
    do_each(lines, "lines", lambda line: _add_line(session, line))
    session.end = _find_open_end(record) or session.end
    session.elsewhere = len(session.agents)
    return session.build_session(NAME)


def _list_answered(lines: list[Any]) -> Iterator[str]:
    calls = (call for line in lines if isinstance(line, dict) for call in objects(line.get("toolCalls"), "toolCalls"))
    for call in calls:
        call_id = call.get("id")
        if isinstance(call_id, str) and call.get("result") is not None:
            yield call_id


def _find_open_end(lines: list[Any]) -> str | None:
    """Why a stream, which begins with `init`, lacks its end, a result line; a session file never has one."""
    kinds = [kind for line in lines if isinstance(line, dict) and str(kind := line.get("type")) in OF_STREAM]
    if "init" not in kinds or kinds[-1] == "result":
        return None
    return TURN_OPEN if "result" in kinds else NO_RESULT_LINE


def _keep_last_versions(lines: list[Any]) -> list[Any]:
    """Each message once, in its last version, where it first stands; a checkpoint adds only unknown messages."""
    places: dict[str, int] = {}
    kept: list[Any] = []
    for line in lines:
        changes = line.get("$set") if isinstance(line, dict) else None
        checkpoint = objects(mapping(changes, "$set").get("messages"), "$set.messages")
        for message, is_later in [(line, True), *((each, False) for each in checkpoint)]:
            key = message.get("id") if isinstance(message, dict) else None
            if not isinstance(key, str) or key not in places:
                places.update({key: len(kept)} if isinstance(key, str) else {})
                kept.append(message)
            elif is_later:
                kept[places[key]] = message
    return kept


def _add_line(session: GeminiSession, line: dict[str, Any]) -> None:
    kind = text(line.get("type"), "type")
    session.id = text(line.get("sessionId", line.get("session_id")), "sessionId") or session.id
    session.model = text(line.get("model"), "model") or session.model
    handle = HANDLERS.get(kind or "")
    if handle is not None:
        handle(session, line, time_if_valid(line.get("timestamp")))


def _add_user(session: GeminiSession, line: dict[str, Any], when: str | None) -> None:
    for message in _read_content(line, "user"):
        repeated = [each for each in message.answers if each.id in session.answered]
        message.answers = [each for each in message.answers if each not in repeated]
        message.timestamp = when
        if not repeated or message.answers or message.content is not None or message.parts:
            session.add_message(message)


def _add_answer(session: GeminiSession, line: dict[str, Any], when: str | None) -> None:
    """Adds an answer of the model with its calls and their results."""
    session.end_answer()
    model = text(line.get("model"), "model")
    for message in _read_content(line, "model"):
        for result in message.answers:
            session.add_result(result, when)
        session.add_text(message.content, when, model=model)
        session.open_answer().parts = message.parts
        session.open_answer().calls += message.calls
    answer = session.open_answer(when, model)
    thoughts = [
        text(one.get("description"), "thoughts.description") for one in objects(line.get("thoughts"), "thoughts")
    ]
    answer.reasoning = "\n".join(filter(None, thoughts)) or None
    calls = objects(line.get("toolCalls"), "toolCalls")
    known = {call.id for call in answer.calls}
    answer.calls += [request for request in map(_read_call, calls) if request.id is None or request.id not in known]
    usage = _read_tokens(line["tokens"], "tokens") if line.get("tokens") is not None else None
    session.add_model_call(usage, provider=PROVIDER, model=model)
    for call in calls:
        is_agent = dict_or_empty(call.get("resultDisplay")).get("isSubagentProgress") is True
        session.agents.update({call.get("id")} if is_agent or call.get("agentId") is not None else ())
        session.note_agent(call.get("id"), call.get("name"), _read_result(call.get("result")))
        _add_result(session, call)
    if any(call.get("status") == "cancelled" for call in calls):
        session.end = ABORTED


def _read_content(line: dict[str, Any], role: str) -> list[RawMessage]:
    value = line.get("content")
    if value is None or isinstance(value, str):
        return [RawMessage("user" if role == "user" else "assistant", value)]
    parts = [
        {"text": part} if isinstance(part, str) else part for part in (value if isinstance(value, list) else [value])
    ]
    return gemini.read_message({"role": role, "parts": parts})


def _read_call(call: dict[str, Any]) -> ToolRequest:
    name = required_text(call.get("name"), "toolCalls.name")
    return ToolRequest(text(call.get("id"), "toolCalls.id"), name, mapping(call.get("args"), "toolCalls.args"))


def _add_result(session: GeminiSession, call: dict[str, Any]) -> None:
    status = text(call.get("status"), "toolCalls.status")
    if call.get("result") is None and (status is None or status in NO_RESULT):
        return
    name, when = text(call.get("name"), "toolCalls.name"), time_if_valid(call.get("timestamp"))
    failed = None if status is None else status in FAILED
    session.add_result(
        ToolResult(text(call.get("id"), "toolCalls.id"), name, _read_result(call.get("result")), failed), when
    )


def _read_result(value: Any) -> Any:
    """The output or error of a function's response; several parts, or other ones, as recorded."""
    part = value[0] if isinstance(value, list) and len(value) == 1 else value
    response = mapping(part.get("functionResponse"), "result").get("response") if isinstance(part, dict) else None
    if isinstance(response, dict) and len(response) == 1:
        ((key, inner),) = response.items()
        return inner if key in ("output", "error") else response
    return part if response is None else response


def _read_tokens(value: Any, path: str) -> Usage:
    return READERS[GEMINI](
        {key: number for key, number in TOKENS.read(value, path).items() if number is not None}, path
    )


def _add_notice(session: GeminiSession, line: dict[str, Any], when: str | None) -> None:
    """An error that was shown; the run failed with it if nothing of the model or a user follows."""
    del when
    message = text(line.get("message"), "message") or next((one.content for one in _read_content(line, "user")), None)
    if line.get("type") == "error" and line.get("severity") != "warning":
        session.error = message or "the turn failed"
        is_outage = session.error.startswith(API_ERROR)
        session.outage = build_model_error(None, session.error) if is_outage else None


def _add_info(session: GeminiSession, line: dict[str, Any], when: str | None) -> None:
    """A word to the person; one says that the request was cancelled."""
    del when
    if line.get("content") == CANCELLED:
        session.end_answer()
        session.end = ABORTED


def _add_spoken(session: GeminiSession, event: dict[str, Any], when: str | None) -> None:
    content = text(event.get("content"), "content")
    if event.get("role") == "user":
        session.add_message(RawMessage("user", content, timestamp=when))
        return
    answer = session.open_answer(when, session.model)
    is_piece = flag(event.get("delta"), "delta")
    answer.content = f"{answer.content or ''}{content or ''}" if is_piece or not answer.content else content


def _add_tool_use(session: GeminiSession, event: dict[str, Any], when: str | None) -> None:
    name = required_text(event.get("tool_name"), "tool_name")
    call_id = text(event.get("tool_id"), "tool_id")
    session.note_agent(call_id, name)
    session.add_call(
        ToolRequest(call_id, name, mapping(event.get("parameters"), "parameters")), when, model=session.model
    )


def _add_tool_result(session: GeminiSession, event: dict[str, Any], when: str | None) -> None:
    failed = text(event.get("status"), "status") != "success"
    content = event.get("output")
    if content is None and failed:
        content = read_at(event, "error.message", text)
    call_id = text(event.get("tool_id"), "tool_id")
    session.note_agent(call_id, None, content)
    session.add_result(ToolResult(call_id, None, content, failed), when)


def _add_stream_end(session: GeminiSession, event: dict[str, Any], when: str | None) -> None:
    """The result of a stream, with the tokens of the whole run and the number of its calls."""
    del when
    session.end_answer()
    if event.get("stats") is not None:
        session.total = none_if_uncounted(_read_tokens(event["stats"], "stats"))
        session.stated_calls = count(mapping(event["stats"], "stats").get("tool_calls"), "stats.tool_calls") or 0
    if text(event.get("status"), "status") != "success":
        session.error = read_at(event, "error.message", text) or "the run failed"


HANDLERS: dict[str, Callable[[GeminiSession, dict[str, Any], str | None], None]] = {
    "user": _add_user,
    "gemini": _add_answer,
    "error": _add_notice,
    "info": _add_info,
    "message": _add_spoken,
    "tool_use": _add_tool_use,
    "tool_result": _add_tool_result,
    "result": _add_stream_end,
}
KINDS = frozenset({*HANDLERS, "warning", "init"})
LINE_FIELDS = words("""
    content displayContent toolCalls thoughts tokens directories memoryScratchpad $set parameters error stats
""")
CALL_FIELDS = words("args result resultDisplay")
SHAPES = (
    Shape((EACH,), LINE_FIELDS, KINDS),
    Shape((EACH, "content", EACH), GEMINI_PART_FIELDS),
    Shape((EACH, "toolCalls", EACH), CALL_FIELDS),
    Shape((EACH, "$set"), words("messages directories memoryScratchpad")),
)
READER = Reader(build=build, identify=no_identity, split=split, shapes=SHAPES)
