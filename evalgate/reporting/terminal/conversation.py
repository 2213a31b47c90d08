"""A trace as a conversation in a terminal: messages in order, tool calls indented below them, long parts folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.prices import explain_unknown_cost
from evalgate.measures.values.json_values import show
from evalgate.models.trace.trace import format_place
from evalgate.reporting.terminal.terminal_page import TerminalPage
from evalgate.reporting.terminal.trace_table import build_trace_row, describe_evidence
from evalgate.reporting.text import wording
from evalgate.reporting.text.argument_lines import count_from_nowhere, list_argument_lines
from evalgate.reporting.text.conversation_order import (
    measure_depth,
    name_actor,
    name_outcome,
    number_calls,
    order_conversation,
)
from evalgate.reporting.text.escaping import LINE_BREAK_SIGN, escape_terminal
from evalgate.scoring.recorded_result import find_recorded_result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalgate.models.trace.trace import Message, ToolCall, Trace

FOLDED_LINES, FOLDED_CHARS = 12, 1_200
WHOLE = 100_000_000
"""Characters of arguments with `full`: more than any record may have."""
TEXT_INDENT, CALL_INDENT, RESULT_INDENT = 2, 4, 6
DEEPER = 4
"""By how much calls of an agent are indented below those of the one that started it."""
_COLOURS = {"user": "green", "assistant": "yellow", "error": "red"}


def render_conversation(
    trace: Trace, *, width: int = 100, colour: bool = False, full: bool = False, sources: bool = False
) -> str:
    """The whole conversation; without `full` long texts, arguments and results are folded.

    With `sources` each argument is followed by where it came from.
    """
    page = _ConversationPage(width, colour=colour, full=full, traced=trace if sources else None)
    _add_heading(page, trace)
    numbers = number_calls(trace)
    for part in order_conversation(trace):
        if isinstance(part, list):
            page.add_calls(part, numbers)
        else:
            page.add_message(part)
    if trace.error is not None:
        page.add_title("error")
        page.add_part(": ".join(filter(None, (trace.error["type"], trace.error["message"]))), indent=TEXT_INDENT)
    return str(page)


class _ConversationPage(TerminalPage):
    """Lines of a conversation."""

    def __init__(self, width: int, *, colour: bool, full: bool, traced: Trace | None) -> None:
        super().__init__(width, colour=colour)
        self._full, self._traced = full, traced

    def add_message(self, message: Message) -> None:
        """Adds who speaks, and the text."""
        name = f" {message['name']}" if message["name"] else ""
        agent = f" ({message['agent']})" if message["agent"] else ""
        self.add_blank()
        self.add_coloured(f"{message['role']}{name}{agent}", _COLOURS.get(message["role"], "dim"), indent=0)
        if message["reasoning"]:
            self.add_part(f"(reasoning) {message['reasoning']}", indent=TEXT_INDENT)
        if message["content"]:
            self.add_part(message["content"], indent=TEXT_INDENT)

    def add_calls(self, calls: Iterable[ToolCall], numbers: Mapping[int, int]) -> None:
        """Adds calls with their results, those of the agent with their numbers."""
        for call in calls:
            arguments = "" if call["arguments"] is None else f" {show(call['arguments'], self._limit)}"
            number = numbers.get(call["index"])
            who = "call of the user:" if call["requestor"] == "user" else f"call {number}" if number else "asked for:"
            actor = name_actor(call, numbers)
            by = "" if actor is None else f" ({actor})"
            deeper = DEEPER * measure_depth(call)
            self.add_part(f"{who} {call['name']}{arguments}{by}", indent=CALL_INDENT + deeper)
            if (requested := call.get("requested")) is not None:
                asked = show(requested["arguments"], self._limit)
                self.add_part(f"(asked for {requested['name']} {asked})", indent=RESULT_INDENT + deeper)
            for line in () if self._traced is None or not number else list_argument_lines(self._traced, number):
                self.add_part(str(line), indent=RESULT_INDENT + deeper)
            outcome = name_outcome(call)
            self.add_part(f"-> {_describe_result(call, outcome, self._limit)}", indent=RESULT_INDENT + deeper)

    @property
    def _limit(self) -> int:
        return WHOLE if self._full else FOLDED_CHARS

    def add_part(self, text: str, *, indent: int) -> None:
        """Adds a text line by line; folds a long one."""
        limit = None if self._full else FOLDED_CHARS
        lines = escape_terminal(text, limit).split(LINE_BREAK_SIGN)
        shown = lines if self._full else lines[:FOLDED_LINES]
        for line in shown:
            self.add_text(line, indent=indent, limit=limit)
        if len(shown) < len(lines):
            self.add_text(
                f"... {wording.pluralize(len(lines) - len(shown), 'more line')} (--full prints all)", indent=indent
            )


def _describe_result(call: ToolCall, outcome: str, limit: int) -> str:
    duration = "" if call["duration_ms"] is None else f" in {wording.seconds(call['duration_ms'] / 1000)}"
    if call["status"] == "missing":
        return "no result recorded"
    text = call["result_text"] if call["result_text"] is not None else show(call["result"], limit)
    if call["status"] == "error" and call["error"] is not None:
        text = call["error"]["message"] or text
    return f"{outcome}{duration}: {text}"


def _describe_cost(trace: Trace) -> str:
    """The cost; where it is unknown, why and how to get it."""
    text = wording.dollars(trace.cost["usd"])
    return text if trace.cost["usd"] is not None else f"{text} ({explain_unknown_cost([trace.pricing])})"


def _add_heading(page: TerminalPage, trace: Trace) -> None:
    row = build_trace_row(trace)
    place = format_place(row["path"], row["line"], row["record"])
    page.add_fact("trace", f"{trace.trace_id} ({place}, format {row['format']})")
    trial = "" if trace.trial is None else f", trial {trace.trial}"
    page.add_fact("scenario", f"{trace.scenario_id or 'none'}{trial}")
    page.add_fact("model", trace.model or wording.UNKNOWN)
    page.add_fact("status", trace.status)
    if (result := find_recorded_result(trace)) is not None:
        page.add_fact("result", f"{result.describe()} ({'passed' if result.passed else 'did not pass'}, as recorded)")
    calls = "calls unknown" if trace.call_count is None else wording.pluralize(trace.call_count, "call")
    page.add_fact(
        "figures",
        f"{wording.pluralize(trace.turn_count, 'turn')}, {calls},"
        f" tokens {wording.count(row['total_tokens'])}, cost {_describe_cost(trace)},"
        f" latency {wording.seconds(row['latency_seconds'])}",
    )
    nowhere = count_from_nowhere(trace)
    if nowhere:
        page.add_fact("sources", f"{wording.pluralize(nowhere, 'argument')} from nowhere (--sources names each)")
    page.add_fact("evidence", describe_evidence(row["evidence"]))
    for message in dict.fromkeys(warning["message"] for warning in trace.warnings):
        page.add_fact("warning", message)
