"""The steps of a `tool_sequence`: as written in a suite, and compiled to judge calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Struct
from pydantic import Discriminator, Field, Tag

from evalgate.evaluators.core.agents import ANY, is_of_agent
from evalgate.evaluators.core.evaluator import A_AGENT, AgentName, NamedTool, ToolName
from evalgate.evaluators.core.field_problems import FieldProblem, FieldProblemError
from evalgate.measures.sequences.argument_matchers import (
    ArgsMatch,
    MatcherError,
    build_arguments_matcher,
    build_lookups,
    count_values,
)
from evalgate.measures.sequences.step_matching import Slot, StepPlan
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.patterns import PatternFailedError
from evalgate.measures.values.json_values import shorten, show
from evalgate.measures.values.outputs import ended_in_error
from evalgate.strict_model import StrictModel, described

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalgate.evaluators.core.field_problems import Path
    from evalgate.measures.sequences.argument_matchers import Lookup, Matcher
    from evalgate.models.trace.trace import EvidenceKind, ToolCall

MATCHES, UNKNOWN, BROKEN, DIFFERS = range(4)
"""Judgements of a call by a step, from best to worst. UNKNOWN: the trace lacks what is needed. BROKEN: the
check failed on the call, for example because a pattern exceeded its time limit."""

MAX_STEPS = 10_000
MAX_ALTERNATIVES = 12
"""Alternatives of a step that its description names."""
UNKNOWN_AGENT = "who called it is not recorded"
_VALUES_PER_COMPARISON = 8
"""Values of arguments that cost as much as one comparison."""
_MAY_BE_ABSENT = described("Whether the call may be absent.", True)


class Step(StrictModel):
    """One expected call: a tool (`*` matches any characters), its arguments, its status."""

    tool: NamedTool
    args: Annotated[
        dict[str, Any] | None,
        described("Arguments of the call, with operators such as `$regex`.", {"amount": {"$lte": 100}}),
    ] = None
    args_match: Annotated[
        ArgsMatch,
        described("How arguments are compared: those given, exactly, at most these, or not at all.", "subset"),
    ] = "subset"
    status: Annotated[Literal["ok", "error", "any"], described("How the call must have ended.", "ok")] = "any"
    optional: Annotated[bool, _MAY_BE_ABSENT] = False
    agent: Annotated[AgentName, A_AGENT] = "any"


def _entry_tag(value: Any) -> str:
    """Returns the tag of the model for an entry; an invalid entry is reported as a bad name."""
    if isinstance(value, list):
        return "Group"
    return "Name" if not isinstance(value, dict) else "Choice" if "one_of" in value else "Step"


def _choice_tag(value: Any) -> str:
    return "Step" if isinstance(value, dict) else "Name"


def _group_tag(value: Any) -> str:
    return _entry_tag(value) if isinstance(value, dict) else "Name"


_Name = Annotated[ToolName, Tag("Name")]
_Step = Annotated[Step, Tag("Step")]
_Alternative = Annotated[_Name | _Step, Discriminator(_choice_tag)]


class Choice(StrictModel):
    """One expected call with several alternatives."""

    one_of: Annotated[
        list[_Alternative], Field(min_length=1, max_length=1_000), described("One of these calls.", ["email", "sms"])
    ]
    optional: Annotated[bool, _MAY_BE_ABSENT] = False


_Choice = Annotated[Choice, Tag("Choice")]
_Member = Annotated[_Name | _Step | _Choice, Discriminator(_group_tag)]
_Group = Annotated[list[_Member], Field(min_length=1, max_length=1_000), Tag("Group")]
Entry = Annotated[_Name | _Step | _Choice | _Group, Discriminator(_entry_tag)]


class CompiledStep(Struct, frozen=True):
    """A tool, its arguments and its status, ready to judge calls.

    `lookups` are arguments by which calls can be looked up before they are judged; `cost` is the number of
    comparisons that judging one call takes.
    """

    tool: str
    text: str
    matcher: Matcher | None = None
    status: str = "any"
    lookups: Sequence[Lookup] = ()
    cost: int = 1
    agent: str = ANY

    @property
    def is_bare(self) -> bool:
        """True if only the tool is demanded."""
        return self.matcher is None and self.status == "any" and self.agent == ANY

    @property
    def is_name(self) -> bool:
        """True if only a tool name without `*` is demanded."""
        return self.is_bare and "*" not in self.tool

    def fits_name(self, name: str) -> bool:
        """Returns whether the step expects this tool."""
        return name == self.tool or ("*" in self.tool and matches_id(self.tool, name))

    def judge(self, call: ToolCall) -> int:
        """Judges a call of this tool: MATCHES, UNKNOWN, BROKEN or DIFFERS."""
        judgement = MATCHES if self.matcher is None else self._judge_arguments(call, self.matcher)
        judgement = judgement if self.agent == ANY else max(judgement, self._judge_agent(call))
        return judgement if self.status == "any" else max(judgement, self._judge_status(call))

    def _judge_agent(self, call: ToolCall) -> int:
        is_own = is_of_agent(call, self.agent)
        return UNKNOWN if is_own is None else MATCHES if is_own else DIFFERS

    def _judge_arguments(self, call: ToolCall, matcher: Matcher) -> int:
        if call["arguments"] is None:
            return UNKNOWN if call["arguments_error"] is None else DIFFERS
        try:
            return MATCHES if matcher(call["arguments"]) is None else DIFFERS
        except PatternFailedError:
            return BROKEN

    def _judge_status(self, call: ToolCall) -> int:
        status = ("error" if ended_in_error(call) else "ok") if call["status"] == "unknown" else call["status"]
        if self.status in ("any", status):
            return MATCHES
        return UNKNOWN if call["status"] == "missing" else DIFFERS

    def difference(self, call: ToolCall) -> str:
        """Returns why a call of this tool does not match, by path; empty if it does."""
        if self.agent != ANY and self._judge_agent(call) != MATCHES:
            who = call["agent"] or call["actor"]
            return UNKNOWN_AGENT if who is None else f"expected agent {self.agent}, got {shorten(who, 60)}"
        if (text := self._arguments_difference(call)) or self._judge_status(call) == MATCHES:
            return text
        if call["status"] == "missing":
            return "no result was captured"
        return f"expected status {self.status}, got {call['status']}"

    def _arguments_difference(self, call: ToolCall) -> str:
        if self.matcher is None:
            return ""
        if call["arguments"] is None:
            is_unknown = call["arguments_error"] is None
            return "no arguments were captured" if is_unknown else "arguments are not valid JSON"
        try:
            mismatch = self.matcher(call["arguments"])
        except PatternFailedError as error:
            return str(error)
        return "" if mismatch is None else mismatch.describe()


class CompiledSequence(Struct, frozen=True):
    """A whole sequence, ready to judge: `kinds` are the distinct steps, each with its alternatives.

    `texts` describe each kind in a few words.
    """

    plan: StepPlan
    kinds: Sequence[Sequence[CompiledStep]]
    texts: Sequence[str]

    def text(self, slot: int) -> str:
        """Returns a step in a few words."""
        return self.texts[self.plan.slots[slot].kind]

    @property
    def names(self) -> list[str] | None:
        """The tools in order if only their names and their order are demanded, else None."""
        slots = [self.plan.slots[slot] for segment in self.plan.segments for slot in segment]
        kinds = [self.kinds[slot.kind] for slot in slots]
        is_plain = len(self.plan.segments) == len(slots) and not any(slot.optional for slot in slots)
        if not is_plain or not all(len(kind) == 1 and kind[0].is_name for kind in kinds):
            return None
        return [kind[0].tool for kind in kinds]

    @property
    def evidence(self) -> tuple[EvidenceKind, ...]:
        """The kinds of evidence that the steps need."""
        alternatives = [step for kind in self.kinds for step in kind]
        with_arguments = any(step.matcher is not None for step in alternatives)
        with_status = any(step.status != "any" for step in alternatives)
        return ("calls", *(("arguments",) if with_arguments else ()), *(("errors",) if with_status else ()))

    @property
    def is_demanding(self) -> bool:
        """True if more than names is demanded, so that a trace may lack what is needed to judge."""
        return any(not step.is_bare for kind in self.kinds for step in kind)


def loosen_steps(steps: CompiledSequence, missing: Collection[EvidenceKind]) -> CompiledSequence:
    """Returns steps that demand only what is known without the missing kinds of evidence."""
    kinds = [
        [
            CompiledStep(
                each.tool,
                each.text,
                None if "arguments" in missing else each.matcher,
                "any" if "errors" in missing else each.status,
                () if "arguments" in missing else each.lookups,
                each.cost,
                each.agent,
            )
            for each in alternatives
        ]
        for alternatives in steps.kinds
    ]
    slots = [Slot(slot.kind, slot.optional or "calls" in missing) for slot in steps.plan.slots]
    return CompiledSequence(StepPlan(slots, steps.plan.segments), kinds, steps.texts)


def compile_steps(sequence: Sequence[Any]) -> CompiledSequence:
    """Compiles the entries of a sequence; raises FieldProblemError with the path of an invalid step."""
    kinds: list[list[CompiledStep]] = []
    kind_numbers: dict[str, int] = {}
    slots: list[Slot] = []
    segments: list[list[int]] = []
    for index, entry in enumerate(sequence):
        segments.append([])
        is_group = isinstance(entry, list)
        for at, step in enumerate(entry if is_group else [entry]):
            key = repr(step)
            if key not in kind_numbers:
                kind_numbers[key] = len(kinds)
                kinds.append(_compile_alternatives(step, ("sequence", index, at) if is_group else ("sequence", index)))
            segments[-1].append(len(slots))
            slots.append(Slot(kind_numbers[key], not isinstance(step, str) and step.optional))
    if len(slots) > MAX_STEPS:
        raise FieldProblemError(
            "sequence", f"a sequence may have at most {MAX_STEPS:,} steps, this one has {len(slots):,}"
        )
    texts = [" or ".join(alternative.text for alternative in kind) for kind in kinds]
    return CompiledSequence(StepPlan(slots, segments), kinds, texts)


def _compile_alternatives(step: str | Step | Choice, path: Path) -> list[CompiledStep]:
    if isinstance(step, Choice):
        return [_compile_step(each, (*path, "one_of", index)) for index, each in enumerate(step.one_of)]
    return [_compile_step(step, path)]


def _compile_step(step: str | Step, path: Path) -> CompiledStep:
    if isinstance(step, str):
        return CompiledStep(step, shorten(step, 60))
    if step.optional and "one_of" in path:
        raise _build_problem(
            (*path, "optional"), "an alternative of `one_of` can't be optional", "make the whole step optional"
        )
    text = _describe_step(step)
    if step.args is None:
        if step.args_match in ("exact", "superset"):
            raise _build_problem(path, f"`args_match: {step.args_match}` needs `args`", "{} means no arguments")
        return CompiledStep(step.tool, text, status=step.status, agent=step.agent)
    try:
        matcher = build_arguments_matcher(step.args, step.args_match)
    except MatcherError as error:
        raise _build_problem((*path, "args", *error.path), error.message, error.hint) from None
    if step.args_match == "ignore" or (step.args_match == "subset" and not step.args):
        return CompiledStep(step.tool, text, status=step.status, agent=step.agent)
    filters = build_lookups(step.args) if step.args_match != "superset" else []
    return CompiledStep(
        step.tool,
        text,
        matcher,
        step.status,
        filters,
        1 + count_values(step.args) // _VALUES_PER_COMPARISON,
        step.agent,
    )


def describe_entry(entry: Any) -> str:
    """Describes an entry of a sequence in a few words."""
    if isinstance(entry, list):
        return f"[{', '.join(map(describe_entry, entry))}]"
    if isinstance(entry, Choice):
        return _describe_choice([describe_entry(each) for each in entry.one_of])
    if isinstance(entry, Step):
        text = _describe_step(entry)
        return f"{text}?" if entry.optional else text
    return shorten(str(entry), 60)


def _describe_choice(texts: list[str]) -> str:
    """Describes alternatives, none of which is cut: those that are too many are counted."""
    left = len(texts) - MAX_ALTERNATIVES
    return " or ".join([*texts[:MAX_ALTERNATIVES], *([f"{left} others"] if left > 0 else [])])


def _describe_step(step: Step) -> str:
    status = "" if step.status == "any" else f" ({step.status})"
    args = "" if step.args is None or step.args_match == "ignore" else show(step.args, 60)
    agent = "" if step.agent == ANY else f" by {shorten(step.agent, 60)}"
    return f"{shorten(step.tool, 60)}{args}{status}{agent}"


def _build_problem(path: Path, message: str, hint: str | None) -> FieldProblemError:
    error = FieldProblemError("sequence", message, hint)
    error.problem = FieldProblem(path, message, hint)
    return error
