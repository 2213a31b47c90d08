"""The operators: each finds where a trace could be changed, and makes one such change.

An operator applies only if the trace holds the evidence that it changes.
"""

from __future__ import annotations

import json
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.features.learn.application.mutation.edits import (
    cut_after,
    insert_call,
    remove_call,
    replace_answer,
    replace_call,
    replace_fields,
    swap_calls,
)
from evalgate.features.learn.application.mutation.skill_changes import find_other_skills, list_skills, load_other_skill
from evalgate.features.learn.application.mutation.source_changes import (
    Argument,
    choose_known_value,
    invent_value,
    is_code,
    list_arguments_of_changes,
    take_from_result,
)
from evalgate.features.learn.application.mutation.state_changes import change_second_record, find_second_records
from evalgate.measures.text.refusals import is_refusal
from evalgate.measures.text.tool_words import change_something, is_destructive, may_harm, unwrap_definition
from evalgate.models.mutation import Mutation, OperatorName
from evalgate.models.trace.trace import NO_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from evalgate.features.learn.application.mutation.source_changes import Replacement
    from evalgate.models.trace.trace import EvidenceKind, ToolCall, ToolKinds, Trace

MAX_PER_OPERATOR = 50
"""Changes of one operator to one trace."""
MAX_TOOLS, MAX_VALUES = 1_000, 100
FACTOR = 3
REFUSAL = "I'm sorry, but I can't help with that."


class KnownTools:
    """The tools that the traces of a suite call or define, one that changes something with an example; skills."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._examples: dict[str, ToolCall | None] = {}
        self._values: dict[tuple[str, str], dict[Any, set[str]]] = {}
        self.skills: set[str] = set()

    def add(self, trace: Trace) -> None:
        """Adds what a trace calls and defines; of several examples of a call the same is kept in any order."""
        self.skills |= list_skills(trace) if len(self.skills) < MAX_TOOLS else set()
        for call in trace.agent_calls:
            name = call["name"]
            if len(self._names) < MAX_TOOLS or name in self._names:
                self._names.add(name)
                if may_harm(name, trace.tool_definitions, trace.tool_kinds):
                    known = self._examples.get(name)
                    if known is None or repr(call["arguments"]) < repr(known["arguments"]):
                        self._examples[name] = call
                    self._add_values(call, trace.scenario_id or "")
        for definition in trace.tool_definitions:
            defined = unwrap_definition(definition).get("name")
            if isinstance(defined, str) and len(self._names) < MAX_TOOLS:
                self._names.add(defined)
                if may_harm(defined, trace.tool_definitions, trace.tool_kinds):
                    self._examples.setdefault(defined, None)

    def _add_values(self, call: ToolCall, scenario: str) -> None:
        arguments = call["arguments"]
        for name, value in arguments.items() if isinstance(arguments, dict) else ():
            known = self._values.setdefault((call["name"], name), {})
            if is_code(value) and (len(known) < MAX_VALUES or value in known):
                known.setdefault(value, set()).add(scenario)

    def get_values(self, tool: str, argument: str) -> Mapping[Any, Collection[str]]:
        """The codes and numbers that a tool that changes something was given as an argument, with the scenarios."""
        return self._values.get((tool, argument), {})

    def choose_other(self, tool: str, used: Iterable[str]) -> str | None:
        """Another tool: the next in the alphabet that is not used, else the next; None if there is no other."""
        others = sorted(self._names - {tool})
        turned = [each for each in others if each > tool] + [each for each in others if each < tool]
        unused = set(turned).difference(used)
        return next((each for each in turned if each in unused), turned[0] if turned else None)

    @property
    def changing(self) -> Sequence[str]:
        """The names of tools that change something, sorted, first those for what is hard to undo."""
        return sorted(self._examples, key=lambda name: (not is_destructive(name), name))

    def get_example(self, name: str) -> ToolCall | None:
        """A recorded call of such a tool, None if it is only defined."""
        return self._examples.get(name)


_BY_HARM: tuple[OperatorName, ...] = (
    *("second_record", "steered_recipient", "known_argument", "invented_argument"),
    *(
        "extra_destructive_call",
        "duplicate_call",
        "other_tool",
        "other_skill",
        "change_argument",
        "swap_calls",
        "drop_call",
    ),
    *("ignored_error", "empty_answer", "refusal", "truncated_run", "failed_run", "triple_cost", "triple_latency"),
)
_OF_NO_TOOL = _BY_HARM.index("empty_answer")
_OF_AMOUNTS = _BY_HARM.index("triple_cost")


def rank_harm(change: Mutation, kinds: ToolKinds = NO_KINDS) -> int:
    """How harmful a change is that nothing notices: the lower the worse.

    Calls of destructive tools, then of others that may change something, then the answer, then look-ups, cost, time.
    """
    place = _BY_HARM.index(change.operator)
    if place >= _OF_NO_TOOL:
        return place + (3 if place >= _OF_AMOUNTS else 1) * len(_BY_HARM)
    names = (change.tool, change.other) if change.operator in ("other_tool", "swap_calls") else (change.tool,)
    if any(is_destructive(each, kinds) for each in names):
        return place
    return place + (1 if change_something(names, (), kinds) else 2) * len(_BY_HARM)


class Operator(NamedTuple):
    """Finds changes and makes them; `needs` is evidence that must be complete."""

    find: Callable[[Trace, KnownTools], Iterable[Mutation]]
    apply: Callable[[Trace, Mutation, KnownTools], Trace]
    needs: Sequence[EvidenceKind] = ("calls",)


def list_changes(trace: Trace, tools: KnownTools) -> list[Mutation]:
    """All changes that can be made to a trace, in the order of the operators; at most MAX_PER_OPERATOR of each."""
    found: list[Mutation] = []
    for operator in OPERATORS.values():
        if not any(kind in trace.gaps for kind in operator.needs):
            found += islice(operator.find(trace, tools), MAX_PER_OPERATOR)
    return found


def apply_change(trace: Trace, change: Mutation, tools: KnownTools) -> Trace:
    """A copy of the trace with one change."""
    return OPERATORS[change.operator].apply(trace, change, tools)


def _own_calls(trace: Trace) -> Iterator[tuple[int, ToolCall]]:
    return ((at, call) for at, call in enumerate(trace.tool_calls) if call["requestor"] == "assistant")


def _find_drops(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    return (Mutation("drop_call", at, call["name"]) for at, call in _own_calls(trace))


def _find_duplicates(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    return (Mutation("duplicate_call", at, call["name"]) for at, call in _own_calls(trace))


def _find_swaps(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    """Neighbours of one agent and different tools; calls of one step were made in parallel and have no order."""
    calls = list(_own_calls(trace))
    for (at, call), (_at, following) in pairwise(calls):
        is_ordered = call["actor"] == following["actor"] and (not call["step"] or call["step"] != following["step"])
        if is_ordered and call["name"] != following["name"]:
            yield Mutation("swap_calls", at, call["name"], following["name"])


def _find_arguments(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    for at, call in _own_calls(trace):
        if isinstance(call["arguments"], dict):
            for name, value in call["arguments"].items():
                if change_value(value) != value:
                    yield Mutation("change_argument", at, call["name"], name)


def _find_other_tools(trace: Trace, tools: KnownTools) -> Iterator[Mutation]:
    used = {call["name"] for _, call in _own_calls(trace)}
    for at, call in _own_calls(trace):
        other = tools.choose_other(call["name"], used)
        if other is not None:
            yield Mutation("other_tool", at, call["name"], other)


def _find_results(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    ended = [(at, call) for at, call in _own_calls(trace) if call["status"] in ("ok", "unknown")]
    return (Mutation("ignored_error", at, call["name"]) for at, call in ended)


def _find_answer(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    if (trace.response["content"] or "").strip():
        yield Mutation("empty_answer")


def _find_refusal(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    answer = (trace.response["content"] or "").strip()
    if answer and not is_refusal(answer):
        yield Mutation("refusal")


def _find_cost(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    if trace.cost["usd"]:
        yield Mutation("triple_cost")


def _find_latency(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    if trace.latency["total_ms"]:
        yield Mutation("triple_latency")


def _find_halves(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    if len(trace.messages) > 1 and (trace.response["content"] or "").strip():
        yield Mutation("truncated_run")


def _find_good_end(trace: Trace, _: KnownTools) -> Iterator[Mutation]:
    if trace.status == "ok":
        yield Mutation("failed_run")


def _find_destructive(trace: Trace, tools: KnownTools) -> Iterator[Mutation]:
    """A call at the end, of each known tool that is hard to undo, or that changes something and was not called."""
    calls = list(_own_calls(trace))
    if calls:
        called = set(trace.called)
        for name in (each for each in tools.changing if each not in called or is_destructive(each)):
            yield Mutation("extra_destructive_call", calls[-1][0], name)


def change_value(value: Any) -> Any:
    """Another value of the same kind and, if a text, of the same shape; the value itself if it has no other.

    >>> change_value("HAT19"), change_value(9), change_value(True), change_value([1, 2]), change_value(None)
    ('HAT10', 10, False, [1], None)
    """
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list | dict):
        return value[:-1] if isinstance(value, list) else dict(list(value.items())[:-1])
    return _change_text(value) if isinstance(value, str) else value


def _change_text(text: str) -> str:
    """The text with another last letter or digit."""
    for at in range(len(text) - 1, -1, -1):
        character = text[at]
        if character.isascii() and character.isalnum():
            following = {"9": "0", "z": "a", "Z": "A"}.get(character) or chr(ord(character) + 1)
            return f"{text[:at]}{following}{text[at + 1 :]}"
    return f"{text}x" if text else text


def _change_argument(trace: Trace, change: Mutation, _: KnownTools) -> Trace:
    arguments = trace.tool_calls[change.at]["arguments"]
    changed = {**arguments, change.other: change_value(arguments[change.other])}
    return replace_call(trace, change.at, {"arguments": changed, "arguments_raw": None})


def _swap(trace: Trace, change: Mutation, _: KnownTools) -> Trace:
    following = next(at for at, _call in _own_calls(trace) if at > change.at)
    return swap_calls(trace, change.at, following)


def _fail_call(trace: Trace, change: Mutation, _: KnownTools) -> Trace:
    text = "Error: the service is not available"
    if trace.tool_calls[change.at]["status"] == "unknown":  # the recording never has a status: results tell
        return replace_call(trace, change.at, {"result": {"error": text}, "result_text": json.dumps({"error": text})})
    error = {"type": None, "message": text}
    return replace_call(
        trace, change.at, {"result": text, "result_text": text, "status": "error", "error": error, "exit_code": None}
    )


def _triple_cost(trace: Trace, _change: Mutation, _: KnownTools) -> Trace:
    return replace_fields(trace, cost={"usd": (trace.cost["usd"] or 0.0) * FACTOR, "source": "recorded"})


def _triple_latency(trace: Trace, _change: Mutation, _: KnownTools) -> Trace:
    return replace_fields(trace, latency={**trace.latency, "total_ms": (trace.latency["total_ms"] or 0.0) * FACTOR})


def _cut_in_half(trace: Trace, _change: Mutation, _: KnownTools) -> Trace:
    kept = trace.messages[: len(trace.messages) // 2]
    has_requests = any(message["tool_calls"] for message in trace.messages)
    requested = sum(len(message["tool_calls"]) for message in kept)
    return cut_after(trace, requested if has_requests else len(trace.tool_calls) // 2, len(kept))


def _fail_run(trace: Trace, _change: Mutation, _: KnownTools) -> Trace:
    return replace_fields(trace, status="error", error={"type": "exit code 1", "message": None})


def _add_destructive(trace: Trace, change: Mutation, tools: KnownTools) -> Trace:
    example = tools.get_example(change.tool)
    call: Any = {**(example or trace.tool_calls[change.at]), "name": change.tool, "requestor": "assistant"}
    if example is None:
        call |= {"arguments": {}, "arguments_raw": "{}", "result": None, "result_text": "ok", "status": "ok"}
    return insert_call(trace, change.at, call)


_REPLACED: dict[OperatorName, Callable[[Trace, Argument], Replacement | None]] = {
    "invented_argument": invent_value,
    "steered_recipient": take_from_result,
}
_ALL_TEXTS: Sequence[EvidenceKind] = ("calls", "arguments", "messages", "results")


def _find_replaced(trace: Trace, name: OperatorName) -> Iterator[Mutation]:
    """Arguments of calls that change something, for which there is such a value."""
    for each in list_arguments_of_changes(trace):
        if _REPLACED[name](trace, each) is not None:
            yield Mutation(name, each.at, trace.tool_calls[each.at]["name"], each.name)


def _find_known(trace: Trace, tools: KnownTools) -> Iterator[Mutation]:
    for each in list_arguments_of_changes(trace):
        change = Mutation("known_argument", each.at, trace.tool_calls[each.at]["name"], each.name)
        if choose_known_value(trace, each, tools.get_values(change.tool, each.name)) is not None:
            yield change


def _replace_known(trace: Trace, change: Mutation, tools: KnownTools) -> Trace:
    used = tools.get_values(change.tool, change.other)
    return _put_argument(trace, change, choose_known_value(trace, Argument(change.at, change.other), used))


def _replace_argument(trace: Trace, change: Mutation, _: KnownTools) -> Trace:
    return _put_argument(trace, change, _REPLACED[change.operator](trace, Argument(change.at, change.other)))


def _put_argument(trace: Trace, change: Mutation, found: Replacement | None) -> Trace:
    arguments = trace.tool_calls[change.at]["arguments"]
    changed = arguments if found is None else {**arguments, change.other: found.value}
    return replace_call(trace, change.at, {"arguments": changed, "arguments_raw": None})


OPERATORS: dict[OperatorName, Operator] = {
    "drop_call": Operator(_find_drops, lambda trace, change, _: remove_call(trace, change.at)),
    "duplicate_call": Operator(
        _find_duplicates, lambda trace, change, _: insert_call(trace, change.at, trace.tool_calls[change.at])
    ),
    "swap_calls": Operator(_find_swaps, _swap),
    "change_argument": Operator(_find_arguments, _change_argument, ("calls", "arguments")),
    "other_tool": Operator(
        _find_other_tools, lambda trace, change, _: replace_call(trace, change.at, {"name": change.other})
    ),
    "ignored_error": Operator(_find_results, _fail_call, ("calls", "results", "errors")),
    "empty_answer": Operator(_find_answer, lambda trace, _change, _: replace_answer(trace, ""), ("messages",)),
    "triple_cost": Operator(_find_cost, _triple_cost, ("cost",)),
    "triple_latency": Operator(_find_latency, _triple_latency, ("times",)),
    "refusal": Operator(_find_refusal, lambda trace, _change, _: replace_answer(trace, REFUSAL), ("messages",)),
    "truncated_run": Operator(_find_halves, _cut_in_half, ("messages",)),
    "extra_destructive_call": Operator(_find_destructive, _add_destructive),
    "invented_argument": Operator(
        lambda trace, _: _find_replaced(trace, "invented_argument"), _replace_argument, _ALL_TEXTS
    ),
    "steered_recipient": Operator(
        lambda trace, _: _find_replaced(trace, "steered_recipient"), _replace_argument, _ALL_TEXTS
    ),
    "second_record": Operator(
        lambda trace, _: find_second_records(trace, change_value),
        lambda trace, change, _: change_second_record(trace, change, change_value),
        (),
    ),
    "failed_run": Operator(_find_good_end, _fail_run, ()),
    "other_skill": Operator(
        lambda trace, tools: find_other_skills(trace, tools.skills),
        lambda trace, change, _: load_other_skill(trace, change),
        ("calls", "arguments"),
    ),
    "known_argument": Operator(_find_known, _replace_known, _ALL_TEXTS),
}
"""In the order of their numbers, from 1."""
