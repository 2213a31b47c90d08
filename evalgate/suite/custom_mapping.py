"""Compiles `custom` of a file into the expressions that read traces of an unknown JSON format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.evaluators.core.field_problems import FieldProblem, Path
from evalgate.suite.custom_format import CUSTOM, Custom
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
SPEAKING = ("messages", "response", "input")


def check_custom(document: Document, entry: CustomEntry | None, mistakes: Diagnostics) -> None:
    """Adds the mistakes in the `custom` that a project gives to its suites."""
    if entry is not None:
        _read(document, entry, IN_PROJECT, mistakes)


def custom_of(
    document: Document, file: SuiteFile, shared: CustomEntry | None, form: str, mistakes: Diagnostics
) -> Custom | None:
    """The compiled `custom` of the suite, else of the project; None for other formats."""
    own = None if file.custom is None else _read(document, file.custom, IN_SUITE, mistakes)
    if form != CUSTOM:
        if own is not None:
            said = "`custom` is read only with `format: custom`"
            mistakes.add(
                document, FieldProblem(IN_SUITE, said, "add `format: custom`, or take `custom` away")
            )
        return None
    if own is None and shared is None:
        said = "`format: custom` needs `custom`, which says where the fields of a trace stand"
        mistakes.add(document, FieldProblem(("format",), said))
    if own is not None or shared is None:
        return own
    return _read(document, shared, IN_PROJECT, Diagnostics())  # mistakes were reported with the project


def _read(document: Document, entry: CustomEntry, at: Path, mistakes: Diagnostics) -> Custom:
    for flaw in _flaws(entry, at):
        mistakes.add(document, flaw)
    return _compiled(entry, at, TraceMatcher(document, mistakes).query)


def _flaws(entry: CustomEntry, at: Path) -> Iterator[FieldProblem]:
    """Mistakes other than expressions that do not compile."""
    if entry.tool_calls.path is None and not any(getattr(entry, name) for name in SPEAKING):
        said = "`custom` finds nothing that an agent said or did"
        yield FieldProblem(at, said, "give it `messages`, or `response`, or `path` of `tool_calls`")
    twice: tuple[tuple[Path, Closed, str, str], ...] = (
        (at, entry, "latency_ms", "latency_seconds"),
        ((*at, "tool_calls"), entry.tool_calls, "duration_ms", "duration_seconds"),
    )
    for around, holder, one, other in twice:
        if getattr(holder, one) is not None and getattr(holder, other) is not None:
            yield FieldProblem((*around, other), f"`{one}` and `{other}` say the same thing: keep one")


def _compiled(entry: CustomEntry, at: Path, compile_one: Callable[[str, Path], Query | None]) -> Custom:
    def of(model: Closed, *around: str) -> dict[str, Query]:
        written = {name: getattr(model, name) for name in type(model).model_fields}
        found = {
            name: compile_one(expression, (*at, *around, name))
            for name, expression in written.items()
            if isinstance(expression, str)
        }
        return {name: query for name, query in found.items() if query is not None}

    run, call = of(entry), of(entry.tool_calls, "tool_calls")
    return Custom(
        records=run.pop("records", None),
        run=run,
        message=of(entry.message, "message"),
        calls=call.pop("path", None),
        call=call,
        roles=dict(entry.roles),
    )
