"""The texts of a trace that an argument may have come from, in order, and what the trace lacks of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.measures.provenance.opened import list_texts, open_text, parse_json
from evalgate.measures.text.tool_words import changes_something, unwrap_definition
from evalgate.models.trace.actors import ROOT
from evalgate.models.trace.trace import list_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.trace.trace import Message, ToolCall, Trace

TextKind = Literal["user", "system", "result", "schema", "own"]
MAX_RESULT = 1_000_000
"""Characters of the result of one call; a longer one is not read."""
NEVER = 1_000_000_000
"""The group of what a started agent wrote: only the result of the call that started it gives that back."""
MAX_ALL_RESULTS = 16_000_000
"""Characters of all results of a trace that are read."""


_NO_TEXT = frozenset({"image", "image_url", "input_image", "audio", "input_audio", "video"})
_NAME_OF_ADDRESS = re.compile(r"(?<![\w.+-])([\w.+-]{1,64})@")


class SourceText(NamedTuple):
    """A text, without its words.

    `call` is the number of the call that it is the result (`own`: the arguments) of, from 1 among the agent's calls;
    `tool` that call's tool. Calls of one `group` were made in parallel: none of them had seen the others' results.
    `changes` is whether the call changes something, of its arguments.
    """

    kind: TextKind
    turn: int = 0
    call: int = 0
    tool: str = ""
    group: int = 0
    is_failure: bool = False
    changes: bool = False


class PiecesOfText(NamedTuple):
    """A text and its pieces."""

    text: SourceText
    pieces: list[str]


def number_groups(calls: list[ToolCall]) -> list[int]:
    """The group of each call: a new one begins with each response of a model."""
    groups: list[int] = []
    last = None
    for call in calls:
        step = call["step"], call["actor"]
        groups.append(groups[-1] + (step != last) if groups else 0)
        last = step
    return groups


def list_trace_texts(trace: Trace, groups: list[int]) -> Iterator[PiecesOfText]:
    """Yields the texts of a trace: messages, definitions of tools, arguments and results of calls."""
    if trace.system_instructions:
        yield PiecesOfText(SourceText("system"), list_pieces(trace.system_instructions))
    for message in trace.messages:
        content = message["content"]
        if content and (_is_of_user(message) or message["role"] == "system"):
            kind: TextKind = "user" if message["role"] == "user" else "system"
            yield PiecesOfText(SourceText(kind, turn=message["turn"]), list_pieces(content))
    for recorded in trace.tool_definitions:
        definition = unwrap_definition(recorded)
        pieces = list_pieces(list(_list_values(definition)))
        yield PiecesOfText(SourceText("schema", tool=str(definition.get("name"))), pieces)
    left, said = MAX_ALL_RESULTS, _list_said(trace)
    for number, (call, group) in enumerate(zip(trace.agent_calls, groups, strict=True), 1):
        changes = changes_something(call["name"], trace.tool_definitions, trace.tool_kinds)
        own = SourceText("own", call=number, tool=call["name"], group=group, changes=changes)
        yield PiecesOfText(own, list_pieces(list_arguments(call)))
        if call["index"] in said:
            yield PiecesOfText(own._replace(group=NEVER), list_pieces(said[call["index"]]))
        size = measure_result(call)
        left -= size
        if size <= MAX_RESULT and left >= 0:
            failed = call["status"] == "error"
            yield PiecesOfText(SourceText("result", 0, number, call["name"], group, failed), _read_result(call))


def _list_said(trace: Trace) -> dict[int, list[str]]:
    """What agents that a call started wrote, by that call's index: its result only gives that back.

    Where no message of such an agent is recorded, it is the whole result.
    """
    starters = {
        call["actor"]: call["started_by"]
        for call in trace.tool_calls
        if call["actor"] and call["started_by"] is not None
    }
    said: dict[int, list[str]] = {}
    silent = dict(starters)
    answers: dict[str, int] | None = None
    for message in trace.messages:
        actor, content = message["actor"], message["content"]
        if actor in (None, ROOT) or message["role"] != "assistant" or not content:
            continue
        silent.pop(actor, None)
        starter = starters.get(actor)
        if starter is None:  # an agent without calls: the call whose result it is
            answers = _list_answers(trace) if answers is None else answers
            starter = answers.get(content.strip())
        if starter is not None:
            said.setdefault(starter, []).append(content)
    for starter in silent.values():
        if measure_result(trace.tool_calls[starter]) <= MAX_RESULT:
            said.setdefault(starter, _read_result(trace.tool_calls[starter]))
    return said


def _list_answers(trace: Trace) -> dict[str, int]:
    """The first call with each text among its results, by its index."""
    found: dict[str, int] = {}
    for call in trace.tool_calls:
        if measure_result(call) <= MAX_RESULT:
            for text in list_texts(read_result_value(call)):
                found.setdefault(text.strip(), call["index"])
    return found


def measure_result(call: ToolCall) -> int:
    """Characters of a result, as far as they are known without writing it."""
    text, value = call["result_text"], call["result"]
    if text is not None:
        return len(text)
    return len(value) if isinstance(value, str) else sum(map(len, list_texts(value)))


def read_result_value(call: ToolCall) -> Any:
    """The result of a call as a value, read from its text if that is JSON."""
    value = call["result"] if call["result"] is not None else call["result_text"]
    parsed = parse_json(value) if isinstance(value, str) else None
    return value if parsed is None else parsed


def _read_result(call: ToolCall) -> list[str]:
    pieces = list_pieces(read_result_value(call))
    error = call["error"]
    return pieces if error is None or error["message"] is None else [*pieces, error["message"]]


def list_pieces(value: Any) -> list[str]:
    """The texts of a value, each opened once, and the names of addresses, which are often those of accounts."""
    opened = [each for text in list_texts(value) for each in open_text(text)]
    return opened + [name for text in opened if "@" in text for name in _NAME_OF_ADDRESS.findall(text)]


def _list_values(definition: dict[str, Any]) -> Iterator[str]:
    """The texts and numbers of a tool's definition, without its keys, which are names of arguments."""
    stack: list[Any] = [definition]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            stack.extend(reversed(list(found.values())))
        elif isinstance(found, list):
            stack.extend(reversed(found))
        elif found is not None and not isinstance(found, bool):
            yield str(found)


class MissingText(NamedTuple):
    """A text that the trace lacks, from this call on, and why."""

    group: int
    turn: int
    reason: str


def find_lacks(trace: Trace, groups: list[int]) -> Iterator[MissingText]:
    """Yields what may have been a source and was not recorded."""
    for kind in ("messages", "calls", "results"):
        if kind in trace.gaps:
            yield MissingText(0, 0, f"missing evidence ({kind}): {trace.gaps[kind]}")
    if not any(_is_of_user(message) and message["content"] for message in trace.messages):
        yield MissingText(0, 0, "the trace has no message of a user")
    for message in trace.messages:
        if _is_of_user(message) and _has_attachment(message):
            yield MissingText(0, message["turn"], "a user's message holds more than text")
    left = MAX_ALL_RESULTS
    for number, (call, group) in enumerate(zip(trace.agent_calls, groups, strict=True), 1):
        size = measure_result(call)
        left -= size
        if call["result"] is None and call["result_text"] is None and call["status"] in ("missing", "unknown"):
            yield MissingText(group + 1, 0, f"the result of call {number:,} is not recorded")
        elif size > MAX_RESULT or left < 0:
            yield MissingText(group + 1, 0, f"the result of call {number:,} is too long to be searched")
        elif _holds_pictures(call["result"]):
            yield MissingText(group + 1, 0, f"the result of call {number:,} holds more than text")


def _is_of_user(message: Message) -> bool:
    """Whether a user wrote a message; what a sub-agent is asked was written by the agent that started it."""
    return message["role"] == "user" and message["actor"] in (None, ROOT)


def _holds_pictures(result: Any) -> bool:
    """Whether a result has parts with pictures or sound, in the forms of the APIs and of MCP."""
    parts = result.get("content") if isinstance(result, dict) else result
    return isinstance(parts, list) and any(isinstance(part, dict) and part.get("type") in _NO_TEXT for part in parts)


def _has_attachment(message: Message) -> bool:
    """Whether a message has a part, such as a picture, that is no text."""
    parts = message["parts"] or ()
    return any(part.get("type") not in (None, "text", "input_text") for part in parts)
