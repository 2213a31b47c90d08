"""`convergence`: a number that is at its target, or closer to it than its previous value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from math import isfinite
from sys import float_info
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, WithJsonSchema

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding, Order
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.queries import compile_query, query_evidence
from evalgate.evaluators.kinds.output_source import (
    Output,
    SourceField,
    Target,
    build_check,
    build_finding,
    describe_source,
)
from evalgate.measures.numeric.means import DIGITS, mean_amount
from evalgate.measures.values.json_values import show, show_typed
from evalgate.measures.values.outputs import (
    OutputError,
    format_number,
    read_number,
    subtract,
    to_decimal,
    to_json_number,
)
from evalgate.models.run.run import NEGATED
from evalgate.models.trace.trace_view import get_view
from evalgate.strict_model import described

if TYPE_CHECKING:
    from evalgate.models.trace.trace import EvidenceKind, Trace

LEAST_DIFFERENCE = Decimal(5).scaleb(-DIGITS - 1)
"""Half a unit of the last digit in which a difference must show: means of several trials are not exact."""
_PREVIOUS = {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}], "default": None}


class Convergence(Evaluator):
    """The number is within `tolerance` of `target` (target), is the first or improved (progress); else stall.

    `previous` is its previous value: a number, an expression in `${}`, or, by default, the value in the
    baseline.
    """

    type: Literal["convergence"]
    version = 2  # `*` in the name of a tool matches any characters
    judges_calls_of = ("source.tool",)
    reads_baseline = True
    orders: ClassVar[dict[str, Order]] = {
        "tolerance": "at_most",
        "target": "unordered",
        "previous": "unordered",
    }
    target: Annotated[Target, described("The number to reach.", 0)]
    tolerance: Annotated[float, Field(ge=0), described("How far from the target counts as reached.", 0.5)] = 0.0
    direction: Annotated[
        Literal["minimize", "maximize"], described("Whether lower or higher is better.", "minimize")
    ] = "minimize"
    previous: Annotated[
        Any,
        WithJsonSchema(_PREVIOUS),
        described("The previous value: a number or `${expression}`; the baseline's by default.", 7),
    ] = None
    source: SourceField = None

    def label(self) -> str:
        """The check in words."""
        return f"{describe_source(self.source)} converges to {format_number(self.target)}"

    def compile(self) -> Check:
        """Returns the check; raises FieldProblemError if the source or `previous` is invalid."""
        upwards = self.direction == "maximize"
        read_previous = build_previous_reader(self.previous, self.name or self.label(), self.type)
        target, tolerance = to_decimal(self.target), to_decimal(self.tolerance)
        goal = f"target {format_number(self.target)}" + (
            f" ± {format_number(self.tolerance)}" if self.tolerance else ""
        )

        def judge(output: Output, trace: Trace) -> Finding:
            current = read_number(output.text)
            found, figure = f"{output.subject} is {format_number(current)}, {goal}", to_json_number(current)
            if subtract(abs(subtract(current, target)), tolerance) <= LEAST_DIFFERENCE:
                return build_finding("target", found, value=figure)
            previous = read_previous(trace)
            if previous is None:
                return build_finding("progress", f"{found}, no previous value", value=figure)
            higher = subtract(current, to_decimal(previous))
            is_better = (higher if upwards else -higher) > LEAST_DIFFERENCE
            change = f"{found}, was {format_number(previous)}, {'higher' if upwards else 'lower'} is better"
            return build_finding("progress" if is_better else "stall", change, value=figure, previous=previous)

        return build_check(self.source, judge, more_evidence=_previous_evidence(self.previous))


PreviousReader = Callable[["Trace"], float | None]
EXPRESSION_ROOTS = ("baseline", "trial")
HINT = "a number, ${baseline...} or ${trial...}"


def build_previous_reader(given: Any, name: str, type_name: str) -> PreviousReader:
    """Builds a reader of the previous value, None if it is the first. Raises FieldProblemError.

    By default it reads the value of the assertion `name` in the baseline, the mean over its trials. The
    reader raises OutputError if the value is not a number, and QueryFailedError.
    """
    if given is None:
        return lambda trace: _read_baseline(trace.baseline, name, type_name)
    if isinstance(given, str):
        return _build_expression_reader(given)
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) <= float_info.max:
        raise FieldProblemError("previous", f"`previous` can't be {show_typed(given, 40)}", f"use {HINT}")
    return lambda _: given


def _previous_evidence(given: Any) -> Sequence[EvidenceKind]:
    """Returns the kinds of evidence that `previous` reads from the trace; it must be valid."""
    reads_trace = isinstance(given, str) and "trial" in given
    return query_evidence(compile_query(_find_expression(given), "previous", "previous")) if reads_trace else ()


def _find_expression(given: str) -> str:
    return given[2:-1].strip() if given.startswith("${") and given.endswith("}") else ""


def _build_expression_reader(given: str) -> PreviousReader:
    expression = _find_expression(given)
    if not expression.startswith(EXPRESSION_ROOTS):
        raise FieldProblemError("previous", f"`previous` can't be text {show(given, 40)}", f"use {HINT}")
    query = compile_query(expression, "previous", "previous")
    sees_trial = "trial" in expression

    def read_previous(trace: Trace) -> float | None:
        trial = get_view(trace).whole() if sees_trial else None
        found = query.search_value({"baseline": trace.baseline, "trial": trial})
        return None if found is None else _require_number(found, given)

    return read_previous


def _read_baseline(scenario: Any, name: str, type_name: str) -> float | None:
    figures, names = [], (name, f"{NEGATED}{name}")
    for trial in scenario["trials"] if scenario else ():
        found = [value for figure_name, value in _list_figures(trial["assertions"], type_name) if figure_name in names]
        if len(found) > 1:
            raise OutputError(
                f"the baseline has several values named {show(name, 60)}: give each assertion a different name"
            )
        if found and found[0] is not None:
            figures.append(_require_number(found[0], "the value in the baseline"))
    return figures[0] if figures and len(set(figures)) == 1 else mean_amount(figures)


def _list_figures(rows: Any, type_name: str) -> Iterator[tuple[Any, Any]]:
    """Yields names and values of the assertions of one type, also of those within groups."""
    for row in rows:
        evidence = row["evidence"] or {}
        if row["type"] == type_name:
            yield row["name"], evidence.get("value")
            continue
        group_figures = evidence.get("figures")
        for each in group_figures if isinstance(group_figures, list) else ():
            if isinstance(each, dict):
                yield each.get("name"), each.get("value")


def _require_number(value: Any, subject: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OutputError(f"{subject} is {show_typed(value, 40)}, not a number")
    return value


def normalize_score(value: float, minimum: float = 0.0, maximum: float = 1.0) -> float:
    """Returns where a value lies between two bounds, in [0, 1]; values outside are clamped.

    Raises ValueError if the bounds are not finite and ascending, or the value is NaN.

    >>> normalize_score(7, 0, 10), normalize_score(-3, 0, 10), normalize_score(12, 0, 10)
    (0.7, 0.0, 1.0)
    """
    if not (isfinite(minimum) and isfinite(maximum) and minimum < maximum) or value != value:  # noqa: PLR0124
        raise ValueError(f"{value} can't be normalized between {minimum} and {maximum}")
    if value <= minimum:
        return 0.0
    return 1.0 if value >= maximum else min(1.0, (value - minimum) / (maximum - minimum))
