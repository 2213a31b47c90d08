"""Compiles `custom`, the format that a suite declares; collects every error with its location."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from evalgate.evaluators.core.evaluator import wrap_in_list
from evalgate.evaluators.core.field_problems import FieldProblem, Path, problems_from_error
from evalgate.measures.values.json_values import show
from evalgate.suite.custom_file import NO_TOOLS, CallFields, CustomEntry, EntryKind
from evalgate.suite.diagnostics import Diagnostics, TraceMatcher
from evalgate.suite.models import CUSTOM, CustomMapping, EntryMapping, Ignored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evalgate.measures.jmespath.query import Query
    from evalgate.strict_model import StrictModel
    from evalgate.suite.diagnostics import Document
    from evalgate.suite.suite_file import SuiteFile

    Compile = Callable[[str, Path], Query | None]

IN_SUITE: Path = ("custom",)
IN_PROJECT: Path = ("defaults", "custom")
SPEECH_FIELDS = ("messages", "response", "input")
JOINED = ("call_id", "result_id")
WORDS = ("lines", "tool_calls")
"""Fields of `custom` that are no expressions."""


def check_project_custom(document: Document, written: Any, diagnostics: Diagnostics) -> None:
    """Adds the errors in the `custom` that a project gives to its suites."""
    _compile_entry(document, written, IN_PROJECT, diagnostics)


def compile_custom(
    document: Document, file: SuiteFile, shared: Any, format_name: str, diagnostics: Diagnostics
) -> CustomMapping | None:
    """The compiled `custom` of the suite, else of the project; None for other formats."""
    own = None if file.custom is None else _compile_entry(document, file.custom, IN_SUITE, diagnostics)
    if format_name != CUSTOM:
        if file.custom is not None:
            message = "`custom` is read only with `format: custom`"
            diagnostics.add_problem(
                document, FieldProblem(IN_SUITE, message, "add `format: custom`, or remove `custom`")
            )
        return None
    if file.custom is None and shared is None:
        message = "`format: custom` needs `custom`, which describes where the fields of a trace are"
        diagnostics.add_problem(document, FieldProblem(("format",), message))
    if file.custom is not None or shared is None:
        return own
    return _compile_entry(document, shared, IN_PROJECT, Diagnostics())  # errors were reported with the project


def _compile_entry(document: Document, written: Any, path: Path, diagnostics: Diagnostics) -> CustomMapping | None:
    """The mapping that a suite or project describes; None if what it writes is no mapping of this kind."""
    try:
        entry = CustomEntry.model_validate(written)
    except ValidationError as error:
        for problem in problems_from_error(error, CustomEntry):
            diagnostics.add_problem(document, problem._replace(path=(*path, *problem.path)))
        return None
    for problem in _find_problems(entry, path):
        diagnostics.add_problem(document, problem)
    compile_expression = partial(TraceMatcher(document, diagnostics).compile_expression, reads="record")
    return _compile_fields(entry, path, compile_expression)


def _find_problems(entry: CustomEntry, path: Path) -> Iterator[FieldProblem]:
    """Errors other than expressions that do not compile."""
    calls = get_call_fields(entry)
    if entry.type_field is None and calls.path is None and not any(getattr(entry, n) for n in SPEECH_FIELDS):
        message = "`custom` finds neither messages nor tool calls"
        yield FieldProblem(path, message, "give it `messages`, or `response`, or `path` of `tool_calls`")
    yield from _find_entry_problems(entry, path)
    yield from _find_line_problems(entry, path)
    if entry.tool_calls == NO_TOOLS and (_has_call_types(entry) or "tool_calls" in entry.message.model_fields_set):
        yield FieldProblem(
            (*path, "tool_calls"), "`none` says that the agent has no tools, and another field finds calls"
        )
    if entry.join is not None and len(entry.join) < len(JOINED):
        yield FieldProblem((*path, "join"), "`join` needs both: `call_id` and `result_id`")
    duplicates: tuple[tuple[Path, StrictModel, str, str], ...] = (
        (path, entry, "latency_ms", "latency_seconds"),
        ((*path, "tool_calls"), calls, "duration_ms", "duration_seconds"),
    )
    for parent, holder, one, other in duplicates:
        if getattr(holder, one) is not None and getattr(holder, other) is not None:
            yield FieldProblem((*parent, other), f"`{one}` and `{other}` mean the same: remove one")


def _find_entry_problems(entry: CustomEntry, path: Path) -> Iterator[FieldProblem]:
    """Errors in what the entries of a run are."""
    if entry.type_field is None:
        for name in ("types", "items"):
            if getattr(entry, name) is not None:
                yield FieldProblem((*path, name), f"`{name}` needs `type_field`, which finds the type of an entry")
        return
    if entry.types is None:
        yield FieldProblem((*path, "type_field"), "`type_field` needs `types`, which says what each type is")
    else:
        yield from _find_type_problems(entry.types, (*path, "types"))
    if entry.messages is not None:
        yield FieldProblem((*path, "messages"), "`messages` and `type_field` both find the messages: remove one")
    if get_call_fields(entry).path is not None:
        where = (*path, "tool_calls", "path")
        yield FieldProblem(where, "`path` and `type_field` both find the calls: remove one")
    if entry.items is None and entry.lines == "trace":
        yield FieldProblem((*path, "type_field"), "`type_field` needs `items`, the list of entries, or `lines: run`")


def _find_type_problems(types: Mapping[EntryKind, str | list[str]], path: Path) -> Iterator[FieldProblem]:
    """A type that two kinds name; and `types` that are of no answer or call."""
    owners: dict[str, str] = {}
    for kind, names in types.items():
        for name in wrap_in_list(names):
            if owners.setdefault(name, kind) != kind:
                yield FieldProblem((*path, kind), f"{show(name)} is in `{owners[name]}` too: remove one")
    if not (types.get("assistant") or types.get("call")):
        yield FieldProblem(path, "`types` names no type of the agent's answers or calls: give it `assistant` or `call`")


def _find_line_problems(entry: CustomEntry, path: Path) -> Iterator[FieldProblem]:
    """Errors in how lines become runs."""
    if entry.run_id is not None and entry.lines == "trace":
        yield FieldProblem((*path, "run_id"), "`run_id` finds which lines are of one run: it needs `lines: run`")
    if entry.records is not None and entry.lines == "run":
        yield FieldProblem((*path, "records"), "`lines: run` makes a file one run, `records` several: remove one")


def _compile_fields(entry: CustomEntry, path: Path, compile_expression: Compile) -> CustomMapping:
    def compile_all(written: Mapping[str, Any], *parents: str) -> dict[str, Query]:
        found = {
            name: compile_expression(expression, (*path, *parents, name))
            for name, expression in written.items()
            if isinstance(expression, str) and (parents or name not in WORDS)
        }
        return {name: query for name, query in found.items() if query is not None}

    def compile_model(model: StrictModel, *parents: str) -> dict[str, Query]:
        return compile_all({name: getattr(model, name) for name in type(model).model_fields}, *parents)

    run, call = compile_model(entry), compile_model(get_call_fields(entry), "tool_calls")
    return CustomMapping(
        joins_lines=entry.lines == "run",
        run_id=run.pop("run_id", None),
        records=run.pop("records", None),
        entries=_compile_entries(entry, run.pop("items", None), run.pop("type_field", None)),
        join=compile_all({str(name): each for name, each in (entry.join or {}).items()}, "join"),
        run=run,
        message=compile_model(entry.message, "message"),
        calls=call.pop("path", None),
        call=call,
        roles=dict(entry.roles),
        has_no_tools=entry.tool_calls == NO_TOOLS,
        ignored=Ignored(tuple(entry.ignore), entry.even_calls),
    )


def _has_call_types(entry: CustomEntry) -> bool:
    return entry.types is not None and bool(entry.types.get("call"))


def get_call_fields(entry: CustomEntry) -> CallFields:
    """Where the fields of calls are; the defaults for an agent without tools."""
    return CallFields.from_defaults() if isinstance(entry.tool_calls, str) else entry.tool_calls


def _compile_entries(entry: CustomEntry, items: Query | None, type_field: Query | None) -> EntryMapping | None:
    """What entries are; None for a format without `type_field`."""
    if type_field is None or entry.types is None:
        return None
    kinds = {name: kind for kind in get_args(EntryKind) for name in wrap_in_list(entry.types.get(kind, []))}
    has_calls = _has_call_types(entry) or "tool_calls" in entry.message.model_fields_set
    return EntryMapping(items, type_field, kinds, has_calls)
