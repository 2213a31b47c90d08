"""A check that what a call passes stood in an earlier text: ids, amounts and addresses are not invented."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from evalgate.evaluators.core.evaluator import (
    ARGUMENTS,
    FAILED,
    Check,
    Evaluator,
    Finding,
    NotMeant,
    Order,
    ToolNames,
    require_evidence,
)
from evalgate.evaluators.kinds.calls.call_selection import Denial, format_names, name_makers
from evalgate.measures.provenance.leaves import Leaf, is_free_text, list_leaves
from evalgate.measures.provenance.nearest import find_nearest
from evalgate.measures.provenance.normal_form import normalize
from evalgate.measures.provenance.trace_sources import find_argument_sources
from evalgate.measures.values.json_values import json_equal, mark_name, mark_value, show
from evalgate.models.trace.trace import list_arguments
from evalgate.models.trace.trace_view import is_captured
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.evaluators.kinds.calls.call_selection import NumberedCall
    from evalgate.measures.provenance.sources import ArgumentSource, FoundSources
    from evalgate.measures.provenance.trace_sources import ArgumentSources
    from evalgate.models.trace.trace import Trace

SourceName = Literal["user", "system", "results", "schema", "calendar", "sum"]
Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(min_length=1, max_length=200)]
Scalar = str | int | float | bool
MAX_SHOWN = 3
"""Values that a reason names; the others are counted."""
_PLACE, _BETWEEN_WORDS = re.compile(r"\[\d+\]"), re.compile(r"[-_\s]")


def select_leaves(call: NumberedCall, arguments: Sequence[str] | None, excepted: Sequence[str] = ()) -> Iterator[Leaf]:
    """Yields the values of a call: those of the named arguments, or of all; not those of excepted ones.

    A name is that of an argument, or a path inside it, as in `payment.id`, without places in lists; `orderId` is
    `order_id`. One that no argument has is looked for inside of them; arguments without names are all judged.
    """
    wanted, unwanted = _fold_names(arguments or ()), _fold_names(excepted)
    leaves = dict.fromkeys(each for asked in list_arguments(call[1]) for each in list_leaves(asked))
    named = {leaf: _list_names(leaf) for leaf in leaves}
    inner = wanted.difference(*named.values())
    for leaf, names in named.items():
        is_wanted = arguments is None or names & wanted or "" in names
        if (is_wanted or (inner and _list_inner_names(leaf) & inner)) and not names & unwanted:
            yield leaf


def _list_names(leaf: Leaf) -> set[str]:
    parts = _split_path(leaf)
    return _fold_names(".".join(parts[:size]) for size in range(1, len(parts) + 1))


def _list_inner_names(leaf: Leaf) -> set[str]:
    parts = _split_path(leaf)
    return _fold_names(
        ".".join(parts[first:last]) for first in range(1, len(parts)) for last in range(first + 1, len(parts) + 1)
    )


def _split_path(leaf: Leaf) -> list[str]:
    return _PLACE.sub("", leaf.path).strip(".").split(".")


def _fold_names(names: Iterable[str]) -> set[str]:
    """The names as they are compared, without case and signs between words."""
    return {_BETWEEN_WORDS.sub("", name.casefold()) for name in names}


def select_calls(tools: Denial, trace: Trace) -> list[NumberedCall]:
    """The agent's calls of these tools, however their names are written, numbered from 1 among all its calls."""
    calls = trace.agent_calls
    return [(each.number, calls[each.number - 1]) for each in tools.list_calls(trace)]


class JudgedValue(NamedTuple):
    """A value of a call (from 1), who made it, and its sources."""

    number: int
    tool: str
    actor: str | None
    leaf: Leaf
    found: FoundSources

    def describe(self) -> str:
        """The call and the argument."""
        call = f"call {self.number:,} {mark_name(self.tool)}{name_makers([self.actor])}"
        return f"{call}: {mark_name(self.leaf.path)} {mark_value(self.leaf.value)}"


class GroundedArguments(Evaluator):
    """What calls of `tools` pass stands in an earlier text: each value of the arguments has a source.

    By default all arguments are judged but free text (more than 8 words or 80 characters). A value that lacks a source
    where a text may be missing is not_evaluable. See docs/provenance.md.
    """

    type: Literal["grounded_arguments"]
    forbids = ("tools",)
    forbids_only_some = True
    orders: ClassVar[dict[str, Order]] = {
        "tools": "forbidden",
        "arguments": "forbidden",
        "except_": "excepted",
        "from_": "allowed",
        "allow": "excepted",
        "not_meant": "excepted",
    }
    tools: Annotated[ToolNames, described("Names of tools; `*` matches any characters.", ["issue_refund", "send_*"])]
    not_meant: NotMeant = None
    arguments: Annotated[
        Names | None, described("The arguments that are judged; by default all but free text.", ["order_id", "to"])
    ] = None
    except_: Annotated[Names | None, Field(alias="except"), described("Arguments that are not judged.", ["note"])] = (
        None
    )
    from_: Annotated[
        Annotated[list[SourceName], Field(min_length=1)] | None,
        Field(alias="from"),
        described("The sources that count; by default all.", ["user", "results"]),
    ] = None
    allow: Annotated[
        dict[str, list[Scalar]] | None,
        described("Values that need no source, by argument.", {"reason": ["no longer needed"]}),
    ] = None

    def label(self) -> str:
        """The check in words."""
        named = f"{format_names(self.arguments)} of " if self.arguments else "arguments of "
        sources = "somewhere" if self.from_ is None else format_names(self.from_)
        return f"{named}{format_names(self.tools)} come from {sources}"

    def merge_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        """All arguments but free text are not one of the named ones; each allowed value is a demand less."""
        allowed = [f"{name}: {show(each)}" for name, values in (self.allow or {}).items() for each in values]
        return fields | {
            "arguments": ["all but free text"] if self.arguments is None else self.arguments,
            "allow": [each.replace("*", "(star)") for each in allowed],
        }

    def compile(self) -> Check:
        """Returns a check of each value."""
        denial = Denial(tuple(self.tools), tuple(self.not_meant or ()))

        def check(trace: Trace) -> Finding:
            calls = select_calls(denial, trace)
            if not calls:
                return Finding("passed", f"no call of {format_names([*map(mark_name, self.tools)])}")
            sources = find_argument_sources(trace)
            values = [each for call in calls for each in self._judge(call, sources)]
            uncaptured = [number for number, call in calls if not is_captured(call) or call["arguments_error"]]
            return self._combine(values, uncaptured, sources)

        return require_evidence(check, ARGUMENTS, FAILED)

    def _judge(self, call: NumberedCall, sources: ArgumentSources) -> Iterator[JudgedValue]:
        number, made = call
        for leaf in select_leaves(call, self.arguments, self.except_ or ()):
            is_judged = self.arguments is not None or not is_free_text(leaf.value)
            if is_judged and not self._is_allowed(leaf):
                yield JudgedValue(number, made["name"], made["actor"], leaf, sources.find(number, leaf))

    def _is_allowed(self, leaf: Leaf) -> bool:
        names = _list_names(leaf)
        listed = [each for name, values in (self.allow or {}).items() if _fold_names([name]) & names for each in values]
        return any(
            json_equal(each, leaf.value) or _in_normal_form(each) == _in_normal_form(leaf.value) for each in listed
        )

    def _combine(self, values: Sequence[JudgedValue], uncaptured: Sequence[int], sources: ArgumentSources) -> Finding:
        without = [each for each in values if not self._counting(each.found.sources)]
        reasons = {id(each): sources.find_unknown(each.number, each.leaf.value) for each in without}
        wrong = [each for each in without if reasons[id(each)] is None]
        if wrong:
            shown = "; ".join(self._describe_wrong(each, sources) for each in wrong[:MAX_SHOWN])
            rest = f"; and {len(wrong) - MAX_SHOWN:,} more" if len(wrong) > MAX_SHOWN else ""
            return Finding("failed", f"{shown}{rest}")
        if uncaptured:
            return Finding("not_evaluable", f"the arguments of call {uncaptured[0]:,} were not captured")
        if without:
            first = without[0]
            return Finding("not_evaluable", f"{first.describe()} may come from elsewhere: {reasons[id(first)]}")
        return Finding(
            "passed", f"{len(values):,} {'value has a source' if len(values) == 1 else 'values have a source'}"
        )

    def _counting(self, found: Sequence[ArgumentSource]) -> list[ArgumentSource]:
        """The sources that count for this check; an earlier argument inherits those of its own."""
        wanted = {"result" if each == "results" else each for each in self.from_ or ()}
        return [each for each in found if each.kind != "own" and (self.from_ is None or each.kind in wanted)]

    def _describe_wrong(self, value: JudgedValue, sources: ArgumentSources) -> str:
        others = [each for each in value.found.sources if each.kind != "own"]
        if others:
            only = ", ".join(each.describe(mark_name) for each in others)
            return f"{value.describe()} comes only from {only}"
        nearest = find_nearest(sources, value.number, value.leaf.value)
        hint = (
            "" if nearest is None else f" (nearest: {mark_value(nearest.token)}, {nearest.source.describe(mark_name)})"
        )
        return f"{value.describe()} stands neither in the request nor in a result{hint}"


def _in_normal_form(value: Any) -> str:
    return normalize(value).strip() if isinstance(value, str) else show(value)
