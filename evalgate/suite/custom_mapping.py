"""Compiles `custom` of a file into the expressions that read traces of an unknown JSON format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.evaluators.core.field_problems import FieldProblem, Path
from evalgate.suite.custom_format import CUSTOM, CustomMapping
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.trace_matcher import TraceMatcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.declarations import Closed
    from evalgate.measures.jmespath.query import Query
    from evalgate.suite.diagnostics import Document
    from evalgate.suite.schema.custom_file import CustomEntry
    from evalgate.suite.schema.suite_file import SuiteFile

IN_SUITE: Path = ("custom",)
IN_PROJECT: Path = ("defaults", "custom")
SPEECH_FIELDS = ("messages", "response", "input")


def check_project_custom(document: Document, entry: CustomEntry | None, diagnostics: Diagnostics) -> None:
    """Adds the mistakes in the `custom` that a project gives to its suites."""
    if entry is not None:
        _compile_entry(document, entry, IN_PROJECT, diagnostics)


def compile_custom(
    document: Document,
    file: SuiteFile,
    shared: CustomEntry | None,
    format_name: str,
    diagnostics: Diagnostics,
) -> CustomMapping | None:
    """The compiled `custom` of the suite, else of the project; None for other formats."""
    own = None if file.custom is None else _compile_entry(document, file.custom, IN_SUITE, diagnostics)
    if format_name != CUSTOM:
        if own is not None:
            message = "`custom` is read only with `format: custom`"
            diagnostics.add_problem(
                document, FieldProblem(IN_SUITE, message, "add `format: custom`, or take `custom` away")
            )
        return None
    if own is None and shared is None:
        message = "`format: custom` needs `custom`, which says where the fields of a trace stand"
        diagnostics.add_problem(document, FieldProblem(("format",), message))
    if own is not None or shared is None:
        return own
    return _compile_entry(
        document, shared, IN_PROJECT, Diagnostics()
    )  # mistakes were reported with the project


def _compile_entry(
    document: Document, entry: CustomEntry, path: Path, diagnostics: Diagnostics
) -> CustomMapping:
    for problem in _find_problems(entry, path):
        diagnostics.add_problem(document, problem)
    return _compile_fields(entry, path, TraceMatcher(document, diagnostics).compile_expression)


def _find_problems(entry: CustomEntry, path: Path) -> Iterator[FieldProblem]:
    """Mistakes other than expressions that do not compile."""
    if entry.tool_calls.path is None and not any(getattr(entry, name) for name in SPEECH_FIELDS):
        message = "`custom` finds nothing that an agent said or did"
        yield FieldProblem(path, message, "give it `messages`, or `response`, or `path` of `tool_calls`")
    duplicates: tuple[tuple[Path, Closed, str, str], ...] = (
        (path, entry, "latency_ms", "latency_seconds"),
        ((*path, "tool_calls"), entry.tool_calls, "duration_ms", "duration_seconds"),
    )
    for parent, holder, one, other in duplicates:
        if getattr(holder, one) is not None and getattr(holder, other) is not None:
            yield FieldProblem((*parent, other), f"`{one}` and `{other}` say the same thing: keep one")


def _compile_fields(
    entry: CustomEntry, path: Path, compile_expression: Callable[[str, Path], Query | None]
) -> CustomMapping:
    def compile_model(model: Closed, *parents: str) -> dict[str, Query]:
        written = {name: getattr(model, name) for name in type(model).model_fields}
        found = {
            name: compile_expression(expression, (*path, *parents, name))
            for name, expression in written.items()
            if isinstance(expression, str)
        }
        return {name: query for name, query in found.items() if query is not None}

    run, call = compile_model(entry), compile_model(entry.tool_calls, "tool_calls")
    return CustomMapping(
        records=run.pop("records", None),
        run=run,
        message=compile_model(entry.message, "message"),
        calls=call.pop("path", None),
        call=call,
        roles=dict(entry.roles),
    )
