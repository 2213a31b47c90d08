"""Base classes of evaluators: frozen settings that compile into a function from a trace to a finding.

On a trace that lacks evidence, what was seen decides only where more evidence could not turn it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, get_args

from pydantic import BaseModel, BeforeValidator, Field

from evalgate.models.run.golden import Dimension
from evalgate.models.run.run import Required
from evalgate.strict_model import StrictModel, described

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import EvidenceKind, Trace

    IsDecided = Callable[["Finding", Trace], bool]


class Finding(NamedTuple):
    """The result of a check on one trace. `score` None means 1 if it passed and 0 otherwise."""

    outcome: Outcome
    reason: str
    evidence: dict[str, Any] | None = None
    score: float | None = None


def wrap_in_list(value: Any) -> Any:
    """A single text as a list."""
    return [value] if isinstance(value, str) else value


TOOL = "names a tool"
"""Marks the types of fields that name tools, so that one without a role is found."""
MANY = 10_000
"""Calls, turns or failed calls of a run from which a limit limits no real one."""
MONTH = 30 * 86_400
"""The same for seconds."""
MAX_TOOLS = 200
"""Names of tools that a field may list to forbid calls of any."""
ToolName = Annotated[str, Field(min_length=1, max_length=512), TOOL]
A_TOOL = described("The name of a tool; `*` matches any characters.", "issue_refund")
NamedTool = Annotated[ToolName, A_TOOL]
ToolNames = Annotated[
    list[ToolName],
    BeforeValidator(wrap_in_list, json_schema_input_type=ToolName | list[ToolName]),
    Field(min_length=1, max_length=MAX_TOOLS),
]
Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0)]
Check = Callable[["Trace"], Finding]
NumberOrder = Literal["at_most", "at_least"]
TextOrder = Literal["part", "part_in_any_case", "beginning", "end", "all_parts", "any_part"]
PathOrder = Literal["forbidden_paths", "allowed_paths"]
Order = (
    NumberOrder
    | TextOrder
    | Literal["forbidden", "allowed", "excepted", "equal_if_given", "same_or_forbidden", "steps", "unordered"]
    | PathOrder
)
NotMeant = Annotated[
    Annotated[list[Annotated[str, Field(min_length=1, max_length=512)]], Field(max_length=MAX_TOOLS)] | None,
    described("Tools that are no forbidden one, although they are written alike or end like one.", ["mcp__x__search"]),
]


AgentName = Annotated[str, Field(min_length=1, max_length=512)]
A_AGENT = described("Whose calls count: `root`, the name of an agent, a glob of names, or `any`.", "root")


class EvaluatorSettings(StrictModel):
    """Settings of every assertion. Unknown fields, wrong types and non-finite numbers are rejected.

    `weight` (>= 0) is its weight in the trial's score, `required` makes its failure a hard fail (`always`: even if
    the scenario's pass rate is met), `on_missing` decides whether lacking evidence fails or is skipped, `negate`
    swaps passed and failed and no other outcome. `dimension` is the dimension of a golden that it judges. `agent`
    is whose calls and messages are judged: `root`, a name or a glob of names; `any` for all.
    """

    type: str
    name: Annotated[
        Annotated[str, Field(min_length=1, max_length=200)] | None,
        described("What reports call this check.", "refund was issued"),
    ] = None
    weight: Annotated[float, Field(ge=0), described("Its weight in the trial's score.", 2)] = 1.0
    required: Annotated[
        Required, described("Whether its failure is a hard fail; `always`: even if the pass rate is met.", True)
    ] = False
    on_missing: Annotated[
        Literal["fail", "skip"], described("What lacking evidence does: fail, or skip the check.", "skip")
    ] = "fail"
    negate: Annotated[bool, described("Whether passed and failed are swapped.", True)] = False
    dimension: Annotated[Dimension | None, described("The dimension of a golden that it judges.", "tone_adherence")] = (
        None
    )
    agent: Annotated[AgentName, A_AGENT] = "any"


class Evaluator(EvaluatorSettings):
    """Settings of one evaluator type.

    `version` is a whole number from 1; increase it when the same trace could get another finding.
    `orders` names the fields of which one value can be stricter than another, such as the lower (`at_most`) or the
    higher (`at_least`) one: loosening one is a weakening, tightening it is not. Of any other field each change is one;
    a number states it (`unordered`).
    `compares_with` is the field with which its `operator` compares: the two are one demand. `merge_fields` makes one
    demand of other fields; `merged` names the fields that reports show for each, the first that changed.
    `reads_baseline`: it compares with its own row in the baseline, so its `value` in the evidence is kept.
    `no_limit` has for fields that are limits the number from which they limit no real run.
    `judges_by_name`: its `name` decides what is judged, so another name is another check.
    `is_graded`: its score may be below 1 where it passes.
    `words` is the check in words, with fields in braces, unless `label` builds them.
    `takes_tool_of` says who may name its `tool` in its place: the scenario or a variant of it, or a variant only.
    `other_names`: what other tools call this check; `other_keys`: what to write for a key that it does not have.
    Each field that names tools has a role, which says when a misspelt name goes unseen: `forbids` (must not be
    called), `demands` (must be called, or alone may be), `judges_calls_of` (without a call, `on_missing` decides).
    `forbids_only_some`: calls of the tools in `forbids` are not wrong as such, only some are.
    """

    version: ClassVar[int] = 1
    orders: ClassVar[dict[str, Order]] = {}
    compares_with: ClassVar[str] = ""
    merged: ClassVar[dict[str, tuple[str, ...]]] = {}
    no_limit: ClassVar[dict[str, float]] = {}
    judges_by_name: ClassVar[bool] = False
    reads_baseline: ClassVar[bool] = False
    takes_tool_of: ClassVar[Literal["nobody", "scenario", "variant"]] = "nobody"
    other_names: ClassVar[tuple[str, ...]] = ()
    other_keys: ClassVar[dict[str, str]] = {}
    is_graded: ClassVar[bool] = False
    words: ClassVar[str] = ""
    forbids: ClassVar[tuple[str, ...]] = ()
    forbids_only_some: ClassVar[bool] = False
    demands: ClassVar[tuple[str, ...]] = ()
    judges_calls_of: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def compile(self) -> Check:
        """Returns the check; raises FieldProblemError if a field is invalid."""

    def compile_opposite(self) -> Check:
        """Returns the check for a place where it must not pass: names are then compared as those of forbidden tools."""
        return self.compile()

    def holds_always(self) -> bool:
        """Returns whether it passes on every trace that has what it reads, so that it checks nothing."""
        given = {name: value for name in self.orders if (value := getattr(self, name, None)) is not None}
        return bool(given) and not self.is_graded and all(self._allows_all(*each) for each in given.items())

    def _allows_all(self, name: str, value: Any) -> bool:
        order = self.orders[name]
        if order == "allowed":
            return "*" in value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return value <= 0 if order == "at_least" else order == "at_most" and value >= self.no_limit.get(name, inf)

    def label(self) -> str:
        """Returns a short name for reports, used if the suite gives none."""
        return self.words.format_map(vars(self))

    def merge_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Returns what the check demands, as weakening compares it: the fields that are one demand as one."""
        return fields

    @classmethod
    def find_unseen(cls, fields: Mapping[str, Any], *, is_negated: bool) -> UnseenFields:
        """Returns which fields of a check as written name tools whose misspelling goes unseen.

        A field without a role counts always: a plugin that states none is not silent.
        """
        with_role = {each.partition(".")[0] for each in (*cls.forbids, *cls.demands, *cls.judges_calls_of)}
        needed = [each for each in find_tool_fields(cls) if each not in with_role]
        needed += cls.demands if is_negated else ()
        needed += cls.judges_calls_of if fields.get("on_missing") == "skip" else ()
        return UnseenFields([] if is_negated else list(cls.forbids), needed)


for _name in Evaluator.__class_vars__:
    # Pydantic would evaluate these texts again for each subclass: a third of the time that building one takes.
    del Evaluator.__annotations__[_name]


class UnseenFields(NamedTuple):
    """Fields that name tools without which a check passes or is skipped; `forbidden`: those of forbidden tools."""

    forbidden: list[str]
    needed: list[str]


@cache
def find_tool_fields(model: type[BaseModel]) -> tuple[str, ...]:
    """Returns the fields that name tools: by their name, or because their type is ToolName or holds one that does."""
    return tuple(
        name
        for name, field in model.model_fields.items()
        if name in ("tool", "tools") or TOOL in field.metadata or _holds_tool(field.annotation)
    )


def _holds_tool(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return bool(find_tool_fields(annotation))
    return annotation == TOOL or any(map(_holds_tool, get_args(annotation)))


FAILED: tuple[Outcome, ...] = ("failed",)
PASSED: tuple[Outcome, ...] = ("passed",)
CALLS: tuple[EvidenceKind, ...] = ("calls",)
ARGUMENTS: tuple[EvidenceKind, ...] = ("calls", "arguments")


class Undecided(Finding):
    """not_evaluable because calls may be missing.

    `may_fail` and `may_pass`: calls that were not recorded could make a check fail that passes without them,
    or the other way round. A check that they could make fail forbids calls, and can't be skipped.
    """

    may_fail: bool
    may_pass: bool

    def negate(self) -> Undecided:
        """Returns the same for the opposite check."""
        return build_undecided(self, may_fail=self.may_pass, may_pass=self.may_fail)


def build_undecided(found: Finding, *, may_fail: bool, may_pass: bool) -> Undecided:
    """Builds one from another finding."""
    undecided = Undecided(*found)
    undecided.may_fail, undecided.may_pass = may_fail, may_pass
    return undecided


def is_skippable(found: Finding) -> bool:
    """Returns whether `on_missing: skip` leaves out this not_evaluable finding."""
    return not (isinstance(found, Undecided) and found.may_fail)


def combine_undecided(combined: Finding, causes: Iterable[Finding]) -> Finding:
    """Returns the finding, combined from several, as undecided if it is not_evaluable and one of them is."""
    if combined.outcome != "not_evaluable":
        return combined
    undecided = [each for each in causes if isinstance(each, Undecided)]
    if not undecided:
        return combined
    may_fail, may_pass = any(each.may_fail for each in undecided), any(each.may_pass for each in undecided)
    return build_undecided(combined, may_fail=may_fail, may_pass=may_pass)


def combine(findings: Sequence[Finding]) -> Finding:
    """Combines the findings of several rules: failed decides, then not_evaluable."""
    for outcome in ("failed", "not_evaluable"):
        reasons = list(dict.fromkeys(found.reason for found in findings if found.outcome == outcome))
        if reasons:
            return combine_undecided(Finding(outcome, "; ".join(reasons)), findings)
    return Finding("passed", "; ".join(found.reason for found in findings))


class EvidenceCheck:
    """A check in two forms: `plain` for traces without gaps in their evidence, `careful` for the others."""

    __slots__ = ("careful", "plain")

    def __init__(self, plain: Check, careful: Check) -> None:
        self.plain, self.careful = plain, careful

    def __call__(self, trace: Trace) -> Finding:
        """Judges the trace."""
        return self.careful(trace) if trace.gaps else self.plain(trace)


def plain_form(check: Check) -> Check:
    """Returns the check for traces without gaps."""
    return check.plain if isinstance(check, EvidenceCheck) else check


def careful_form(check: Check) -> Check:
    """Returns the check for traces with gaps."""
    return check.careful if isinstance(check, EvidenceCheck) else check


def require_evidence(
    check: Check,
    kinds: Sequence[EvidenceKind],
    final: Sequence[Outcome] = (),
    is_decided: IsDecided | None = None,
    *,
    denies: bool = True,
) -> Check:
    """Makes the check not_evaluable on traces that lack evidence of `kinds`.

    Findings with an outcome in `final` stay, and those for which `is_decided` is true: more evidence could
    not turn them. `denies` is False if `on_missing: skip` applies whatever is missing.
    """
    if not kinds:
        return check
    may_fail, may_pass = denies and "passed" not in final, denies and "failed" not in final

    def check_carefully(trace: Trace) -> Finding:
        found = check(trace)
        missing = find_missing(trace, kinds)
        if not missing or found.outcome in final or found.outcome in ("error", "skipped"):
            return found
        if is_decided is not None and is_decided(found, trace):
            return found
        reason = describe_missing(trace, missing)
        if found.outcome == "not_evaluable":
            reason = f"{found.reason}; {reason}"
        undecided = Finding("not_evaluable", reason)
        return build_undecided(undecided, may_fail=may_fail, may_pass=may_pass) if "calls" in missing else undecided

    return EvidenceCheck(check, check_carefully)


def find_missing(trace: Trace, kinds: Iterable[EvidenceKind]) -> list[EvidenceKind]:
    """Returns the kinds of which the trace may lack evidence."""
    return [kind for kind in kinds if kind in trace.gaps]


def describe_missing(trace: Trace, missing: Sequence[EvidenceKind]) -> str:
    """Describes missing evidence, with the reason, which says how to record it."""
    reasons: dict[str, list[str]] = {}
    for kind in missing:
        reasons.setdefault(trace.gaps[kind], []).append(kind)
    return "; ".join(f"missing evidence ({', '.join(names)}): {reason}" for reason, names in reasons.items())
