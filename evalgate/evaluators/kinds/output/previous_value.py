"""Reads the previous value for `convergence`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import float_info
from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.run.jmespath import compile_query
from evalgate.measures.numeric.means import mean_amount
from evalgate.measures.values.json_values import json_type, show
from evalgate.measures.values.outputs import OutputError
from evalgate.models.trace.trace_view import get_view

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

PreviousReader = Callable[["Trace"], float | None]
EXPRESSION_ROOTS = ("baseline", "trial")
HINT = "a number, ${baseline...} or ${trial...}"


def build_previous_reader(given: Any, name: str, type_name: str) -> PreviousReader:
    """Builds a reader of the previous value, None if there is none yet. Raises FieldProblemError.

    By default it reads the value of the assertion `name` in the baseline, the mean over its trials. The
    reader raises OutputError if the value is not a number, and QueryFailedError.
    """
    if given is None:
        return lambda trace: _read_baseline(trace.baseline, name, type_name)
    if isinstance(given, str):
        return _build_expression_reader(given)
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) <= float_info.max:
        raise FieldProblemError(
            "previous", f"`previous` can't be {json_type(given)} {show(given, 40)}", f"give {HINT}"
        )
    return lambda _: given


def _build_expression_reader(given: str) -> PreviousReader:
    expression = given[2:-1].strip() if given.startswith("${") and given.endswith("}") else ""
    if not expression.startswith(EXPRESSION_ROOTS):
        raise FieldProblemError("previous", f"`previous` can't be text {show(given, 40)}", f"give {HINT}")
    query = compile_query(expression, "previous")
    sees_trial = "trial" in expression

    def read_previous(trace: Trace) -> float | None:
        trial = get_view(trace).whole() if sees_trial else None
        found = query.search_value({"baseline": trace.baseline, "trial": trial})
        return None if found is None else _require_number(found, given)

    return read_previous


def _read_baseline(scenario: Any, name: str, type_name: str) -> float | None:
    figures = []
    for trial in scenario["trials"] if scenario else ():
        found = [
            value
            for figure_name, value in _list_figures(trial["assertions"], type_name)
            if figure_name == name
        ]
        if len(found) > 1:
            raise OutputError(f"the baseline has several figures named {show(name, 60)}: name them apart")
        if found and found[0] is not None:
            figures.append(_require_number(found[0], "the figure in the baseline"))
    return mean_amount(figures)


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
        raise OutputError(f"{subject} is {json_type(value)} {show(value, 40)}, not a number")
    return value
