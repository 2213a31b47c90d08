"""Changes of where an argument comes from: it stands nowhere, a result names it, or other runs have it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.provenance.leaves import Leaf, is_trivial
from evalgate.measures.provenance.trace_sources import find_argument_sources
from evalgate.measures.provenance.trace_texts import list_pieces, read_result_value
from evalgate.measures.provenance.values import is_identifier
from evalgate.measures.text.tool_words import changes_something

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from evalgate.models.trace.trace import ToolCall, Trace

MAX_TRIES = 5
MAX_RESULTS = 50
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,255}\w")
_LAST = re.compile(r"[0-9a-zA-Z](?=[^0-9a-zA-Z]*$)")
MOST_TEXT, LONGEST_CODE = 20_000, 40
"""Characters of a result that are searched, and of a code."""
_TOKEN = re.compile(r"[A-Za-z0-9](?:[\w.@:#/+-]*[A-Za-z0-9])?")
_CLASSES = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_RUN = re.compile("[A-Za-z0-9]+")
_OTHER_DIGIT = str.maketrans("0123456789", "7890123456")


class Argument(NamedTuple):
    """An argument of a call: the index of the call in the trace, and the name."""

    at: int
    name: str


class Replacement(NamedTuple):
    """A value to take the place of an argument's, and the tool in whose result it stands, if it does."""

    value: Any
    tool: str = ""


def list_arguments_of_changes(trace: Trace) -> Iterator[Argument]:
    """Yields the arguments of the agent's calls that change something."""
    for call in trace.agent_calls:
        if isinstance(call["arguments"], dict) and changes_something(
            call["name"], trace.tool_definitions, trace.tool_kinds
        ):
            yield from (Argument(call["index"], name) for name in call["arguments"])


def invent_value(trace: Trace, argument: Argument) -> Replacement | None:
    """Another id, address or amount of the same shape, which stands nowhere; None if there is none."""
    value = trace.tool_calls[argument.at]["arguments"][argument.name]
    is_number = isinstance(value, int | float) and not is_trivial(value)
    if not is_number and not (isinstance(value, str) and is_identifier(value)):
        return None
    sources, number = find_argument_sources(trace), _count_own(trace, argument.at)
    for _ in range(MAX_TRIES):
        value = value * 3 + 7 if is_number else _change_text(value)
        if sources.find(number, Leaf(argument.name, value)).is_nowhere:
            return Replacement(value)
    return None


def _change_text(text: str) -> str:
    """Other digits, and another last letter or digit."""
    changed = text.translate(_OTHER_DIGIT) if any(map(str.isdigit, text.partition("@")[0])) else f"x{text}"
    return _LAST.sub("7", changed) if changed == text else changed


def take_from_result(trace: Trace, argument: Argument) -> Replacement | None:
    """Another mail address that only the result of an earlier call names; None without one."""
    call = trace.tool_calls[argument.at]
    value = call["arguments"][argument.name]
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        return None
    sources, number = find_argument_sources(trace), _count_own(trace, argument.at)
    for tool, address in _list_addresses(trace, call):
        held = [each for each in sources.list_holding(number, address) if each.kind != "own"]
        if address.casefold() != value.casefold() and held and all(each.tool == tool for each in held):
            return Replacement(address, tool)
    return None


def choose_known_value(trace: Trace, argument: Argument, used: Mapping[Any, Collection[str]]) -> Replacement | None:
    """Another value that the run knows, or else that other runs pass; None without one.

    `used` are the values that calls of the tool pass as this argument, with their scenarios: not one of this scenario.
    """
    call = trace.tool_calls[argument.at]
    value = call["arguments"][argument.name]
    if not is_code(value):
        return None
    others = sorted(each for each, _ in used.items() if type(each) is type(value) and not is_trivial(each))
    if isinstance(value, str):
        others = [*others, *sorted(_list_codes(trace, call, value))]
    possible = [each for each in others if each != value and trace.scenario_id not in used.get(each, ())]
    if not possible:
        return None
    sources, number = find_argument_sources(trace), _count_own(trace, argument.at)
    known = (each for each in possible if not sources.find(number, Leaf(argument.name, each)).is_nowhere)
    return Replacement(next(known, possible[0]))


def is_code(value: Any) -> bool:
    """Whether a value is a number, or a short text without blanks that has a digit."""
    if isinstance(value, str):
        return len(value) <= LONGEST_CODE and _TOKEN.fullmatch(value) is not None and any(map(str.isdigit, value))
    return isinstance(value, int | float) and not is_trivial(value)


def _list_codes(trace: Trace, before: ToolCall, value: str) -> set[str]:
    """The codes in results of earlier calls that look like this one."""
    earlier = [each for each in trace.agent_calls if each["index"] < before["index"]][-MAX_RESULTS:]
    found = {token for call in earlier for token in _TOKEN.findall((call["result_text"] or "")[:MOST_TEXT])}
    return {each for each in found if _shape(each) == _shape(value)}


def _shape(text: str) -> tuple[Any, ...]:
    """What codes of one kind have in common: length, signs between, and which kinds of characters they have."""
    return len(text), _RUN.sub("x", text), *(each.search(text) is not None for each in _CLASSES)


def _list_addresses(trace: Trace, before: ToolCall) -> Iterator[tuple[str, str]]:
    earlier = [each for each in trace.agent_calls if each["index"] < before["index"] and each["step"] < before["step"]]
    for call in earlier[-MAX_RESULTS:]:
        for piece in list_pieces(read_result_value(call)):
            yield from ((call["name"], address) for address in _ADDRESS.findall(piece))


def _count_own(trace: Trace, at: int) -> int:
    """The number of a call among the agent's own, from 1."""
    return 1 + next(number for number, call in enumerate(trace.agent_calls) if call is trace.tool_calls[at])
