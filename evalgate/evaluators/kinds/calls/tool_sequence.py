"""`tool_sequence`: which calls an agent makes, with which arguments, and in which order."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable  # noqa: TC003  (in the fields of a tuple)
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Protocol

from pydantic import BeforeValidator, Field

from evalgate.evaluators.core.evaluator import (
    PASSED,
    Check,
    Evaluator,
    EvidenceCheck,
    Finding,
    Order,
    careful_form,
    describe_missing,
    find_missing,
    require_evidence,
)
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.calls.call_matcher import CallMatcher, NameMatcher
from evalgate.evaluators.kinds.calls.call_selection import (
    MAX_LISTED,
    TRAJECTORY_NAMES,
    describe_unwanted,
    mark_names,
    name_call,
    name_makers,
    suggest_name,
)
from evalgate.evaluators.kinds.calls.steps import (
    BROKEN,
    MATCHES,
    MAX_STEPS,
    UNKNOWN,
    CompiledSequence,
    Entry,
    compile_steps,
    describe_entry,
    loosen_steps,
)
from evalgate.measures.sequences.bipartite import WorkBudget
from evalgate.measures.sequences.step_matching import (
    Calls,
    align_bag,
    align_in_order,
    fits_as_bag,
    fits_exactly,
    fits_in_order,
)
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.plain_text import mark_part
from evalgate.measures.text.similar_names import find_denied
from evalgate.measures.values.json_values import mark_name, shorten
from evalgate.models.trace.trace import list_names
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.evaluators.kinds.calls.steps import CompiledSequence
    from evalgate.measures.sequences.step_matching import Alignment
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import EvidenceKind, ToolCall, Trace

OUTCOMES: tuple[EvidenceKind, ...] = ("errors",)
MAX_COMPARISONS = 150_000
"""Comparisons of a step with a call, about a second of work. Calls found by lookup need none."""
MAX_ALIGNMENT_COMPARISONS = 50_000
"""Comparisons for the alignment in the reason, made only if steps and calls don't fit."""

MAX_CACHED_CALLS, MAX_CACHED_CHARACTERS, MAX_CACHED_SEQUENCES = 50, 5_000, 1_000
"""Bounds of the cache: calls of a trace, characters of their names, and number of cached findings."""


def _lower(word: Any) -> Any:
    return word.lower() if isinstance(word, str) else word


class CallList(NamedTuple):
    """How the calls of a trace, and their names, are listed for a sequence."""

    calls: Callable[[Trace], list[ToolCall]]
    names: Callable[[Trace], list[str]]


def _list_calls(trace: Trace) -> list[ToolCall]:
    return trace.agent_calls


def _list_names(trace: Trace) -> list[str]:
    return trace.called


def _rename_calls(steps: CompiledSequence) -> CallList:
    """Lists calls under the tool of a step where one of their names is written like it."""
    tools = [step.tool for kind in steps.kinds for step in kind]

    def rename(call: ToolCall) -> ToolCall:
        names = list_names(call)
        name = next((each for each in names if any(matches_id(tool, each) for tool in tools)), None)
        name = name or next(filter(None, (find_denied(tools, each) for each in names)), None)
        return call if name is None or name == call["name"] else {**call, "name": name}

    def list_calls(trace: Trace) -> list[ToolCall]:
        return [rename(call) for call in trace.agent_calls]

    return CallList(list_calls, lambda trace: [call["name"] for call in list_calls(trace)])


class ToolSequence(Evaluator):
    """The agent makes the calls of `sequence`.

    exact: the same calls in the same order and number. in_order: the expected calls as a subsequence.
    any_order: each as often as listed. Other calls are allowed in the latter two unless `extra_calls` is
    `forbid`. A call is the name of a tool, {one_of: [A, B]}, or a tool with more to match, as in
    {tool: bash, args: {command: {$regex: test}}}, also `args_match`, `status` and `optional`. A list within
    the list is a group in any order. A subsequence does not forbid `B` before `A`:
    to forbid that, add `not: {type: tool_sequence, sequence: [B, A]}`.
    """

    type: Literal["tool_sequence"]
    other_names = TRAJECTORY_NAMES
    version = 3  # 2: negated, also names that are written alike; 3: errors in results
    demands = ("sequence",)
    orders: ClassVar[dict[str, Order]] = {"sequence": "steps", "is_ordered": "at_least", "is_closed": "at_least"}
    merged: ClassVar[dict[str, tuple[str, ...]]] = {"is_ordered": ("mode",), "is_closed": ("mode", "extra_calls")}
    sequence: Annotated[
        list[Entry],
        Field(max_length=MAX_STEPS),
        described("The expected calls, in order; a list in it is a group in any order.", ["lookup", "refund"]),
    ]
    mode: Annotated[
        Literal["exact", "in_order", "any_order"],
        BeforeValidator(_lower),
        described("The same calls, these in order, or these in any order.", "in_order"),
    ] = "in_order"
    extra_calls: Annotated[
        Literal["allow", "forbid"], described("Whether other calls are allowed, unless `mode` is `exact`.", "forbid")
    ] = "allow"

    def label(self) -> str:
        """The check in words."""
        if not self.sequence:
            return "no tool call"
        steps = list(map(describe_entry, self.sequence[:MAX_LISTED]))
        return f"tools {self.mode}: {_join_some(steps, len(self.sequence))}"

    def merge_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        """`mode` and `extra_calls` say whether the order counts, and whether other calls are forbidden."""
        del fields["mode"], fields["extra_calls"]
        return fields | {"is_ordered": self.mode != "any_order", "is_closed": self._is_closed}

    def compile(self) -> Check:
        """Validates that the sequence demands something; raises FieldProblemError."""
        return self._compile(CallList(_list_calls, _list_names))

    def compile_opposite(self) -> Check:
        """Returns a check of calls under the names of the steps whose tools they count as."""
        return self._compile(_rename_calls(compile_steps(self.sequence)))

    def _compile(self, read: CallList) -> Check:
        steps = compile_steps(self.sequence)
        self._require_demand(steps)
        passed = Finding("passed", self.label())
        levels = (UNKNOWN, BROKEN) if steps.is_demanding else ()

        def check(trace: Trace) -> Finding:
            calls = CallMatcher(read.calls(trace), steps.kinds, MAX_COMPARISONS)
            if self._fits(steps, calls):
                return passed
            for level in levels:
                # If no call was judged so, a second attempt would have the same result.
                if calls.has_judged(level) and self._fits_at(level, steps, calls):
                    return _build_undecided(calls)
            if calls.budget.ran_out:
                return _LIMIT_EXCEEDED
            calls.worst_match, calls.budget = MATCHES, WorkBudget(MAX_ALIGNMENT_COMPARISONS)
            return self._build_failure(steps, calls)

        by_names = None if steps.names is None else self._compile_by_names(steps.names, steps, passed, read)
        return self._require_evidence(by_names or check, steps, read)

    def describe_unwanted(self, trace: Trace) -> str:
        """Describes the calls that were made although the assertion is negated."""
        if not self.sequence:
            return "a tool must be called, but none was"
        steps, ordered = compile_steps(self.sequence), self.mode != "any_order"
        calls = CallMatcher(_rename_calls(steps).calls(trace), steps.kinds, MAX_ALIGNMENT_COMPARISONS)
        rows = (align_in_order if ordered else align_bag)(steps.plan, calls).rows
        numbers = sorted(at + 1 for slot, at in rows if slot is not None and at is not None)
        texts = [mark_part(steps.text(slot)) for slot in range(min(len(steps.plan.slots), MAX_LISTED + 1))]
        if len(numbers) == 1 and len(texts) == 1:
            return describe_unwanted(texts[0], [name_call(numbers[0], calls.actor(numbers[0] - 1))])
        word, only = " then " if ordered else " and ", "only " if self._is_closed else ""
        makers = name_makers([calls.actor(number - 1) for number in numbers])
        where = f" (calls {_join_some(list(map(str, numbers)), len(numbers))}{makers})" if numbers else ""
        return f"{only}{_join_some(texts, len(steps.plan.slots), word)} must not happen, but did{where}"

    def _require_evidence(self, check: Check, steps: CompiledSequence, read: CallList) -> Check:
        def is_decided(found: Finding, trace: Trace) -> bool:
            """Returns whether the calls seen fit no sequence of calls that fits the steps."""
            if found.outcome != "failed":
                return False
            loose = loosen_steps(steps, find_missing(trace, steps.evidence))
            calls = CallMatcher(read.calls(trace), loose.kinds, MAX_COMPARISONS)
            calls.worst_match = BROKEN
            return not self._fits(loose, calls) and not calls.budget.ran_out

        careful = careful_form(require_evidence(check, steps.evidence, () if self._is_closed else PASSED, is_decided))

        def check_outcomes(trace: Trace) -> Finding:
            """Judges a trace with gaps; that calls were found does not decide if some of them may have failed."""
            found = careful(trace)
            missing = find_missing(trace, OUTCOMES) if "errors" in steps.evidence else []
            if (
                found.outcome != "passed"
                or not missing
                or all(call["status"] != "unknown" for call in trace.agent_calls)
            ):
                return found
            return Finding("not_evaluable", describe_missing(trace, missing))

        return EvidenceCheck(check, check_outcomes)

    def _compile_by_names(self, names: list[str], steps: CompiledSequence, passed: Finding, read: CallList) -> Check:
        """Compiles the check of a sequence that consists of names only, as most do.

        Most traces fit, which needs no lookup of calls; the others fail in few ways, which are cached.
        """
        names_fit, cache = self._names_comparison(), dict[tuple[tuple[str, ...], tuple[str | None, ...]], Finding]()
        tools = [kind[0].tool for kind in steps.kinds]

        def check(trace: Trace) -> Finding:
            called = read.names(trace)
            if names_fit(names, called):
                return passed
            actors = tuple(call["actor"] for call in trace.agent_calls)
            key = tuple(called), actors
            found = cache.get(key)
            if found is None:
                budget = WorkBudget(MAX_ALIGNMENT_COMPARISONS)
                found = self._build_failure(steps, NameMatcher(called, tools, budget, actors))
                is_small = len(called) <= MAX_CACHED_CALLS and sum(map(len, called)) <= MAX_CACHED_CHARACTERS
                if is_small and len(cache) < MAX_CACHED_SEQUENCES:
                    cache[key] = found
            return found

        return check

    def _require_demand(self, steps: CompiledSequence) -> None:
        hint = "`extra_calls: forbid` means no tool call"
        if not self.sequence and self.extra_calls == "allow":
            raise FieldProblemError("sequence", "an empty sequence checks nothing", hint)
        is_open = self.mode != "exact" and self.extra_calls == "allow"
        if is_open and all(slot.optional for slot in steps.plan.slots):
            raise FieldProblemError("sequence", "a sequence of optional steps checks nothing")

    @property
    def _is_closed(self) -> bool:
        return self.mode == "exact" or self.extra_calls == "forbid"

    def _names_comparison(self) -> Callable[[list[str], list[str]], bool]:
        """Returns the comparison that `_fits` makes, for names alone."""
        if self.mode == "any_order":
            return _is_same_bag if self._is_closed else _is_within_bag
        return operator.eq if self._is_closed else _is_subsequence

    def _fits(self, steps: CompiledSequence, calls: CallMatcher) -> bool:
        if self.mode == "any_order":
            return fits_as_bag(steps.plan, calls, closed=self._is_closed)
        return (fits_exactly if self._is_closed else fits_in_order)(steps.plan, calls)

    def _fits_at(self, level: int, steps: CompiledSequence, calls: CallMatcher) -> bool:
        calls.worst_match = level
        return not calls.budget.ran_out and self._fits(steps, calls)

    def _build_failure(self, steps: CompiledSequence, calls: NamedCalls) -> Finding:
        required = [slot for slot in range(len(steps.plan.slots)) if not steps.plan.slots[slot].optional]
        if not calls.count and required:
            return Finding("failed", f"expected {_mark_steps(steps, required)}, got no tool calls")
        ordered = self.mode != "any_order"
        alignment = (align_in_order if ordered else align_bag)(steps.plan, calls)
        text = describe_failure(alignment, steps, calls, closed=self._is_closed, ordered=ordered)
        return Finding("failed", text, build_evidence(alignment, steps, calls))


def _join_some(texts: list[str], number: int, separator: str = ", ") -> str:
    """Joins the first twelve of so many texts, and counts the others."""
    head = separator.join(texts[:MAX_LISTED])
    return head if number <= MAX_LISTED else f"{head} and {number - MAX_LISTED} more"


def _is_subsequence(names: list[str], called: list[str]) -> bool:
    rest = iter(called)
    for name in names:  # noqa: SIM110  (a generator would take twice the time)
        if name not in rest:
            return False
    return True


def _is_same_bag(names: list[str], called: list[str]) -> bool:
    return len(names) == len(called) and sorted(names) == sorted(called)


def _is_within_bag(names: list[str], called: list[str]) -> bool:
    return Counter(names) <= Counter(called)


_LIMIT_EXCEEDED = Finding("error", f"too many steps and calls: the check stops after {MAX_COMPARISONS:,} comparisons")


def _build_undecided(calls: CallMatcher) -> Finding:
    """Builds the finding for a sequence that may fit, as calls could not be judged; names the first one."""
    at, kind = calls.first_judged(calls.worst_match)
    outcome: Outcome = "not_evaluable" if calls.worst_match == UNKNOWN else "error"
    call = f"call {at + 1} {mark_name(calls.name(at))}{name_makers([calls.actor(at)])}"
    return Finding(outcome, f"{call}: {calls.difference(kind, at)}")


_MAX_ROWS, _MAX_NAME = 2 * MAX_LISTED, 1_000


class NamedCalls(Calls, Protocol):
    """The calls of one trace, with their names and differences."""

    def name(self, at: int) -> str:
        """Returns the tool of a call."""

    def actor(self, at: int) -> str | None:
        """Returns who made a call; None if that is not known."""

    def difference(self, kind: int, at: int) -> str | None:
        """Returns what is wrong with a call of one of the kind's tools; None for another tool."""


def describe_failure(
    alignment: Alignment, steps: CompiledSequence, calls: NamedCalls, *, closed: bool, ordered: bool
) -> str:
    """Describes the first divergence, then other missing steps, and extra calls if `closed`."""
    parts = []
    if alignment.missing:
        parts.append(_describe_divergence(alignment, steps, calls, closed=closed, ordered=ordered))
        others = alignment.missing[1:]
        early = {slot for slot in others if ordered and _find_unplaced(alignment, steps.plan.slots[slot].kind, calls)}
        for word, slots in (
            ("also missing", [slot for slot in others if slot not in early]),
            ("called, but not there", [slot for slot in others if slot in early]),
        ):
            if slots:
                parts.append(f"{word}: {_mark_steps(steps, slots)}")
    if closed and alignment.extra:
        first, *others = alignment.extra
        if alignment.missing:
            parts.append(f"not expected: {mark_names([calls.name(at) for at in alignment.extra])}")
        else:
            more = f", nor {mark_names([calls.name(at) for at in others])}" if others else ""
            parts.append(
                f"{mark_name(calls.name(first))} was not expected ({name_call(first + 1, calls.actor(first))}){more}"
            )
    if calls.budget.ran_out:
        parts.append("too many steps and calls to compare them all")
    return "; ".join(parts)


def _describe_divergence(
    alignment: Alignment, steps: CompiledSequence, calls: NamedCalls, *, closed: bool, ordered: bool
) -> str:
    slot = alignment.missing[0]
    place = f" {_ordinal(slot + 1)}" if ordered and len(steps.plan.slots) > 1 else ""
    expected = f"expected {mark_part(steps.text(slot))}{place}"
    position = _position_before(alignment, slot)
    nearest = _find_nearest_call(alignment, steps, calls, slot, position if ordered else 0)
    if nearest is not None:
        at, difference = nearest
        maker = name_makers([calls.actor(at)])
        return f"{expected}, but in call {at + 1}{maker}{maker and ','} {difference}"
    if not ordered:
        others = list(dict.fromkeys(calls.name(at) for at in alignment.extra))
        got = f" (other calls: {mark_names(others)})" if others and not closed else ""
        wanted = sum(each.kind == steps.plan.slots[slot].kind for each in steps.plan.slots)
        if often := len(_find_calls_of(steps.plan.slots[slot].kind, calls)):
            return f"{expected}, but it was called {_often(often)}, expected {_often(wanted)}{got}"
        return f"{expected}, but it was not called{got}"
    if position >= calls.count:
        return f"{expected}, got no more calls"
    got = f"got {mark_name(calls.name(_find_place(alignment, steps, slot, position)))}"
    kind = steps.plan.slots[slot].kind
    if _find_calls_of(kind, calls):
        unplaced = _find_unplaced(alignment, kind, calls)[:1]
        return "; ".join([f"{expected}, {got}", *(f"{mark_name(calls.name(at))} was call {at + 1}" for at in unplaced)])
    called = list(dict.fromkeys(calls.name(at) for at in range(calls.count)))
    similar = suggest_name([step.tool for step in steps.kinds[kind]], called)
    return f"{expected}, but it was not called ({got}){similar}"


def _find_calls_of(kind: int, calls: NamedCalls) -> list[int]:
    """The calls of a step's tool, whatever their place and arguments."""
    return [at for at in range(calls.count) if calls.difference(kind, at) is not None]


def _find_unplaced(alignment: Alignment, kind: int, calls: NamedCalls) -> list[int]:
    """The calls of a step's tool that stand for no step: they came too early or too late."""
    placed = {at for slot, at in alignment.rows if slot is not None}
    return [at for at in _find_calls_of(kind, calls) if at not in placed]


def _find_place(alignment: Alignment, steps: CompiledSequence, slot: int, position: int) -> int:
    """The call in the place of a missing step: if others are in any order with it, one between them that is extra."""
    segment = next(each for each in steps.plan.segments if slot in each)
    matched = {at: step for step, at in alignment.rows if step is not None and at is not None}
    earlier = [at for at, step in matched.items() if at < position and step not in segment]
    between = range(max(earlier, default=-1) + 1, position)
    is_extra = position in alignment.extra
    return next((at for at in alignment.extra if at in between and not is_extra), position)


def _often(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def _ordinal(number: int) -> str:
    return _ORDINALS[number - 1] if number <= len(_ORDINALS) else f"as step {number:,}"


def _mark_steps(steps: CompiledSequence, slots: Sequence[int]) -> str:
    """Formats steps as a list; counts those beyond the first twelve."""
    return _join_some([mark_part(steps.text(slot)) for slot in slots[:MAX_LISTED]], len(slots))


def _position_before(alignment: Alignment, slot: int) -> int:
    """Returns the position after the last call that is matched to a step before `slot`."""
    position = 0
    for step, at in alignment.rows:
        if step == slot:
            break
        if step is not None and at is not None:
            position = at + 1
    return position


def _find_nearest_call(
    alignment: Alignment, steps: CompiledSequence, calls: NamedCalls, slot: int, position: int
) -> tuple[int, str] | None:
    """Finds a call of the step's tool that no step is matched to, and what is wrong with it."""
    kind = steps.plan.slots[slot].kind
    for at in sorted(alignment.extra, key=lambda at: (at < position, at)):
        if difference := calls.difference(kind, at):
            return at, difference
    return None


def build_evidence(alignment: Alignment, steps: CompiledSequence, calls: NamedCalls) -> dict[str, Any]:
    """Returns the alignment as rows [expected or null, called or null]."""
    rows = [
        [None if slot is None else steps.text(slot), None if at is None else shorten(calls.name(at), _MAX_NAME)]
        for slot, at in alignment.rows[:_MAX_ROWS]
    ]
    return {"alignment": rows, "more": max(0, len(alignment.rows) - _MAX_ROWS)}
