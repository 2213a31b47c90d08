"""Reads the output that a check judges: the final answer, a tool's result or exit code, or a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from evalgate.declarations import BeforeValidator, Closed, Field
from evalgate.evaluators.core.field_access import looking
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.run.jmespath import compile_query
from evalgate.measures.values.json_values import shorten
from evalgate.measures.values.outputs import text_of

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

Part = Literal["result", "exit_code"]
Read = Callable[["Trace"], str]


class NoOutputError(LookupError):
    """The trace lacks the output."""


class Source(Closed):
    """Either `tool`, with the `index` of its call (-1: the last) and its `field`, or a JMESPath `path`."""

    tool: Annotated[str, Field(min_length=1)] | None = None
    index: int = -1
    field: Part | None = None
    path: Annotated[str, Field(min_length=1)] | None = None


def _spelled(given: Any) -> Any:
    return {"path": given} if isinstance(given, str) else given


SourceField = Annotated[Source, BeforeValidator(_spelled, json_schema_input_type=Source | str)]
"""A source as written in a suite; plain text is a path."""


def subject(source: Source | None, part: Part = "result") -> str:
    """Describes the source in words."""
    if source is None:
        return "answer"
    if source.tool is None:
        return shorten(source.path or "", 60)
    which = "" if source.index == -1 else f"[{source.index}]"
    return f"{_words(source.field or part)} of {shorten(source.tool, 60)}{which}"


def reader(source: Source | None, part: Part = "result") -> Read:
    """Builds a reader of the source's text; `part` is the default of `field`. Raises FieldProblemError.

    The reader raises NoOutputError if the trace lacks the output, and QueryFailedError.
    """
    if source is None:
        return _answer
    if (source.tool is None) == (source.path is None):
        raise FieldProblemError("source", "`source` takes `tool` or `path`, one of the two")
    if source.path is not None:
        if source.model_fields_set & {"index", "field"}:
            raise FieldProblemError(
                "source", "`index` and `field` of a `source` belong to `tool`, not to `path`"
            )
        return _found_at(source.path)
    return _of_tool(source.tool or "", source.index, source.field or part)


def _answer(trace: Trace) -> str:
    answer = trace.response["content"]
    if answer is None:
        raise NoOutputError("the trace has no final answer")
    return answer


def _found_at(path: str) -> Read:
    look = looking(compile_query(path, "source"))

    def read(trace: Trace) -> str:
        found = look(trace)
        if found is None:
            raise NoOutputError(f"{shorten(path, 60)}: path found nothing")
        return text_of(found)

    return read


def _of_tool(tool: str, index: int, part: Part) -> Read:
    named = shorten(tool, 60)

    def read(trace: Trace) -> str:
        calls = [call for call in trace.agent_calls if call["name"] == tool]
        if not -len(calls) <= index < len(calls):
            raise NoOutputError(f"{named} was called {len(calls)} times, there is no call {index}")
        call = calls[index]
        output: Any = call["exit_code"] if part == "exit_code" else call["result"]
        if output is None and part == "result":
            output = call["result_text"]
        if output is None:
            raise NoOutputError(f"no {_words(part)} of {named} was recorded")
        return text_of(output)

    return read


def _words(part: Part) -> str:
    return part.replace("_", " ")
