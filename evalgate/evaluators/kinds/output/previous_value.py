"""Reads the previous value for `convergence`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import float_info
from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.run.jmespath import compile_query
from evalgate.measures.numeric.means import mean_amount
from evalgate.measures.values.json_values import kind, show
from evalgate.measures.values.outputs import OutputError
from evalgate.models.trace.trace_view import view_of

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

Previous = Callable[["Trace"], float | None]
ROOTS = ("baseline", "trial")
HINT = "a number, ${baseline...} or ${trial...}"


def previous_of(given: Any, name: str, kind_: str) -> Previous:
    """Builds a reader of the previous value, None if there is none yet. Raises FieldProblemError.

    By default it reads the value of the assertion `name` in the baseline, the mean over its trials. The
    reader raises OutputError if the value is not a number, and QueryFailedError.
    """
    if given is None:
        return lambda trace: _in_baseline(trace.baseline, name, kind_)
    if isinstance(given, str):
        return _asked(given)
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) <= float_info.max:
        raise FieldProblemError(
            "previous", f"`previous` can't be {kind(given)} {show(given, 40)}", f"give {HINT}"
        )
    return lambda _: given


def _asked(given: str) -> Previous:
    expression = given[2:-1].strip() if given.startswith("${") and given.endswith("}") else ""
    if not expression.startswith(ROOTS):
        raise FieldProblemError("previous", f"`previous` can't be text {show(given, 40)}", f"give {HINT}")
    query = compile_query(expression, "previous")
    sees_trial = "trial" in expression

    def look(trace: Trace) -> float | None:
        trial = view_of(trace).whole() if sees_trial else None
        found = query.search_value({"baseline": trace.baseline, "trial": trial})
        return None if found is None else _number(found, given)

    return look


def _in_baseline(scenario: Any, name: str, kind_: str) -> float | None:
    figures = []
    for trial in scenario["trials"] if scenario else ():
        found = [value for named, value in _measured(trial["assertions"], kind_) if named == name]
        if len(found) > 1:
            raise OutputError(f"the baseline has several figures named {show(name, 60)}: name them apart")
        if found and found[0] is not None:
            figures.append(_number(found[0], "the figure in the baseline"))
    return mean_amount(figures)


def _measured(rows: Any, kind_: str) -> Iterator[tuple[Any, Any]]:
    """Yields names and values of the assertions of one type, also of those within groups."""
    for row in rows:
        evidence = row["evidence"] or {}
        if row["type"] == kind_:
            yield row["name"], evidence.get("value")
            continue
        within = evidence.get("figures")
        for each in within if isinstance(within, list) else ():
            if isinstance(each, dict):
                yield each.get("name"), each.get("value")


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OutputError(f"{what} is {kind(value)} {show(value, 40)}, not a number")
    return value
