"""Reads the output that a check judges: the final answer, a tool's result or exit code, or a path.

It is judged by a verdict word, which decides the outcome and is kept as evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, ValidatorFunctionWrapHandler, WrapValidator

from evalgate.evaluators.core.evaluator import Check, Finding, require_evidence
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.queries import FOUND_NOTHING, build_getter, compile_query, query_evidence
from evalgate.measures.jmespath.query import QueryFailedError
from evalgate.measures.text.globs import find_names
from evalgate.measures.text.patterns import PatternFailedError
from evalgate.measures.values.json_values import mark_name, shorten
from evalgate.measures.values.outputs import OutputError, to_text
from evalgate.strict_model import StrictModel, described

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.measures.jmespath.query import Query
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import EvidenceKind, Trace

SourcePart = Literal["result", "exit_code"]


class Output(NamedTuple):
    """The text that is judged, and what it is, as a part of a sentence."""

    text: str
    subject: str


OutputReader = Callable[["Trace"], Output]


ANSWER = "the answer"
LAST = -1


class NoOutputError(LookupError):
    """The trace lacks the output."""


class Source(StrictModel):
    """Either `tool`, with the `index` of its call (-1: the last) and its `field`, or a JMESPath `path`."""

    tool: Annotated[
        Annotated[str, Field(min_length=1)] | None, described("The tool whose output is meant.", "run_tests")
    ] = None
    index: Annotated[int, described("Which of its calls, from 0; negative counts from the end.", -1)] = LAST
    field: Annotated[SourcePart | None, described("Its result or its exit code.", "exit_code")] = None
    path: Annotated[
        Annotated[str, Field(min_length=1)] | None,
        described("A JMESPath expression that finds the output.", "response.content"),
    ] = None


def _parse_source(given: Any) -> Any:
    return {"path": given} if isinstance(given, str) else given


SourceField = Annotated[
    Annotated[Source, BeforeValidator(_parse_source, json_schema_input_type=Source | str)] | None,
    described(
        "Read instead of the final answer: the result of a tool's last call, as `{tool: NAME}`, or a path.",
        {"tool": "run_tests", "field": "exit_code"},
    ),
]
"""A source as written in a suite; plain text is a path."""


def _keep_whole(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    number = validate(value)
    return value if type(value) is int else number


Target = Annotated[float, WrapValidator(_keep_whole)]
"""A number as written in a suite: a whole one keeps all of its digits."""


def describe_source(source: Source | None, part: SourcePart = "result") -> str:
    """Describes the source in words."""
    if source is None:
        return "answer"
    if source.tool is None:
        return shorten(source.path or "", 60)
    which = "" if source.index == LAST else f"[{source.index}]"
    return f"{_format_part(source.field or part)} of {shorten(source.tool, 60)}{which}"


def mark_source(source: Source | None, part: SourcePart = "result") -> str:
    """Describes the source as a part of a sentence."""
    if source is None:
        return ANSWER
    if source.tool is None:
        return mark_name(source.path or "")
    which = "" if source.index == LAST else f" at index {source.index}"
    return f"the {_format_part(source.field or part)} of {mark_name(source.tool)}{which}"


def build_reader(source: Source | None, part: SourcePart = "result") -> OutputReader:
    """Builds a reader of the source; `part` is the default of `field`. Raises FieldProblemError.

    The reader raises NoOutputError if the trace lacks the output, and QueryFailedError.
    """
    if source is None:
        return _read_answer
    if (source.tool is None) == (source.path is None):
        raise FieldProblemError("source", "`source` needs either `tool` or `path`")
    if source.path is not None:
        if source.model_fields_set & {"index", "field"}:
            raise FieldProblemError("source", "`index` and `field` of a `source` belong to `tool`, not to `path`")
        return _build_path_reader(source.path)
    return _build_tool_reader(source.tool or "", source.index, source.field or part)


def source_evidence(source: Source | None) -> Sequence[EvidenceKind]:
    """Returns the kinds of evidence that the source needs; it must be valid."""
    if source is None:
        return ()
    return ("calls", "results") if source.path is None else query_evidence(compile_query(source.path, "source"))


def _read_answer(trace: Trace) -> Output:
    answer = trace.response["content"]
    if answer is None:
        raise NoOutputError("the trace has no final answer")
    return Output(answer, ANSWER)


def _compile_path(path: str) -> Query:
    try:
        return compile_query(path, "source")
    except FieldProblemError as error:
        if error.problem.hint is None and path.isidentifier():
            hint = f"for the result of a tool write `source: {{tool: {path}}}`"
            raise FieldProblemError("source", error.problem.message, hint) from None
        raise


def _build_path_reader(path: str) -> OutputReader:
    query = _compile_path(path)
    getter, missing, subject = build_getter(query), f"{mark_name(path)}: {FOUND_NOTHING}", mark_name(path)

    def read_output(trace: Trace) -> Output:
        found = getter(trace)
        if found is None:
            raise NoOutputError(missing)
        return Output(to_text(found), subject)

    return read_output


def _build_tool_reader(tool: str, index: int, part: SourcePart) -> OutputReader:
    tool_text, is_glob = mark_name(tool), "*" in tool
    subject = mark_source(Source(tool=tool, index=index), part)

    def read_output(trace: Trace) -> Output:
        calls = trace.agent_calls
        tools = find_names(tool, [call["name"] for call in calls]) if is_glob else (tool,)
        calls = [call for call in calls if call["name"] in tools]
        if not -len(calls) <= index < len(calls):
            raise NoOutputError(
                f"no call of {tool_text} at index {index}: the trace has {len(calls)} of them"
                if calls
                else f"the trace has no call of {tool_text}"
            )
        call = calls[index]
        output: Any = call["exit_code"] if part == "exit_code" else call["result"]
        if output is None and part == "result":
            output = call["result_text"]
        if output is None:
            raise NoOutputError(f"no {_format_part(part)} of {tool_text} was recorded")
        if index != LAST or len(calls) == 1:
            return Output(to_text(output), subject)
        return Output(to_text(output), f"the {_format_part(part)} of the last {tool_text} (of {len(calls):,})")

    return read_output


def _format_part(part: SourcePart) -> str:
    return part.replace("_", " ")


Verdict = Literal["success", "failure", "error", "target", "progress", "stall"]

OUTCOMES: dict[Verdict, Outcome] = {
    "success": "passed",
    "failure": "failed",
    "error": "error",
    "target": "passed",
    "progress": "passed",
    "stall": "failed",
}


def build_finding(word: Verdict, reason: str, **evidence: Any) -> Finding:
    """Builds a finding from its verdict word."""
    return Finding(OUTCOMES[word], reason, {"verdict": word, **evidence})


def build_check(
    source: Source | None,
    judge: Callable[[Output, Trace], Finding],
    part: SourcePart = "result",
    more_evidence: Sequence[EvidenceKind] = (),
) -> Check:
    """Builds a check of the output: not_evaluable if it is missing, error if it can't be read.

    `part` is the default of the source's `field`; `more_evidence` is needed by `judge`. Raises FieldProblemError.
    """
    subject, read = mark_source(source, part), build_reader(source, part)

    def check(trace: Trace) -> Finding:
        described = subject
        try:
            output = read(trace)
            described = output.subject
            return judge(output, trace)
        except NoOutputError as error:
            return Finding("not_evaluable", str(error))
        except (OutputError, PatternFailedError, QueryFailedError) as error:
            return build_finding("error", f"{described}: {error}")

    kinds = tuple(dict.fromkeys((*source_evidence(source), *more_evidence)))
    return require_evidence(check, kinds, denies=source is None or source.tool is None)
