"""Expressions on a trace: compiled, read directly where a field is common, and the evidence that they read."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.measures.jmespath.parse_tree import (
    ends_in,
    field_names,
    function_names,
    node_types,
    root_fields,
    uses_root,
)
from evalgate.measures.jmespath.query import Query, QueryError
from evalgate.measures.values.json_values import shorten
from evalgate.models.trace.trace_view import CLOSED_OBJECTS, SECTIONS, find_field, get_view, read_custom

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.models.trace.trace import EvidenceKind, Trace

JSON_FIELDS = frozenset({"result"})
"""Fields of a trace that hold JSON as text or decoded, as the recorder chose."""
FOUND_NOTHING = "path found nothing"
_CALL_FIELDS = frozenset({"tool_calls", "tool_call_count"})
_WITH_CALLS = frozenset({"exchanges", "turns"})
"""Sections whose entries contain calls."""
_WHOLE_VALUES = frozenset({"to_string", "values"})
_BY_CALL_FIELD: dict[EvidenceKind, frozenset[str]] = {
    "arguments": frozenset({"arguments", "arguments_raw", "arguments_error"}),
    "results": frozenset({"result", "result_text", "exit_code"}),
    "errors": frozenset({"status", "error", "errors"}),
    "times": frozenset({"duration_ms"}),
}
"""Fields of calls that need more than their names."""
_BY_FIELD: dict[EvidenceKind, frozenset[str]] = {
    "usage": frozenset({"input_tokens", "output_tokens", "total_tokens", "cache_read_input_tokens"}),
    "cost": frozenset({"cost_usd"}),
    "times": frozenset({"latency_seconds", "latency_ms"}),
    "messages": frozenset({"turn_count"}),
}
_BY_SECTION: dict[str, EvidenceKind] = {
    "usage": "usage",
    "cost": "cost",
    "latency": "times",
    "turns": "messages",
    "exchanges": "messages",
}


@lru_cache(maxsize=1_024)
def query_evidence(query: Query, *, is_measured: bool = False) -> tuple[EvidenceKind, ...]:
    """Returns the kinds of evidence that the expression reads.

    `is_measured`: only the length or the existence of what it finds matters, so that finding messages does
    not read the calls in them.
    """
    tree = query.tree
    names, sections = field_names(tree), root_fields(tree)
    kinds = {kind for kind, fields in _BY_FIELD.items() if names & fields}
    kinds |= {kind for section, kind in _BY_SECTION.items() if section in sections}
    reads_entries = bool(sections & _WITH_CALLS) and (
        (not is_measured and ends_in(tree, _WITH_CALLS))
        or "value_projection" in node_types(tree)
        or bool(function_names(tree) & _WHOLE_VALUES)
    )
    if names & _CALL_FIELDS or "errors" in sections or uses_root(tree) or reads_entries:
        kinds |= {"calls", *(kind for kind, fields in _BY_CALL_FIELD.items() if names & fields)}
    return tuple(sorted(kinds))


def build_getter(query: Query) -> Callable[[Trace], Any]:
    """Builds a function that returns what the query finds in a trace; it raises QueryFailedError."""
    if len(query.path) == 2:  # noqa: PLR2004  (a section and its field)
        getter = find_field(*query.path)
        if getter is not None:
            return getter
    if len(query.path) == 3 and query.path[:2] == ("metadata", "custom"):  # noqa: PLR2004  (and its field)
        return read_custom(query.path[2])
    search = query.search
    return lambda trace: search(get_view(trace))


MAY_NAME_TOOLS, MAY_NAME_AGENTS = re.compile(r"name|\btool\b"), re.compile("agent|actor")
MAY_NAME_ARGUMENTS = re.compile(r"\barguments\b")
"""Found in expressions that may look for a tool, an agent or an argument by its name."""
_COMPARED = ("value", "eq", "ne", "contains", "in", "not_in")


NameOf = Literal["tool", "agent", "argument"]
PARTS = {"starts_with": "{}*", "ends_with": "*{}", "contains": "*{}*"}
"""Functions that look for a part of a name, each with the glob of the names that have it."""


def find_names_looked_for(expression: str, fields: Mapping[str, Any], of: NameOf) -> list[str]:
    """The names of tools, agents or arguments that an expression looks for, or that its check, as written, does.

    A part of a name is a glob.
    """
    from evalgate.evaluators.core.closed_fields import find_names  # only if an expression may hold one

    compared = next((fields[name] for name in _COMPARED if name in fields), None)
    texts = compared if isinstance(compared, list) else [compared]
    found = find_names(expression, tuple(each for each in texts if isinstance(each, str)))
    return [PARTS.get(part, "{}").format(name) for kind, part, name in found if kind == of]


Reads = Literal["trace", "previous", "record"]
"""What an expression reads: a trace, `{baseline, trial}` (the trial is a trace), or a record that becomes one."""


def _is_known(path: Sequence[str]) -> bool:
    """Whether a plain path surely finds what a trace can have, so that its shape need not be followed."""
    section, *names = path
    return section in SECTIONS and (not names or section == "metadata" or names[0] in CLOSED_OBJECTS.get(section, ()))


def compile_query(expression: str, field: str, reads: Reads = "trace") -> Query:
    """Compiles an expression of the suite; raises FieldProblemError on `field` if that fails.

    So does a field that no trace can have, and a comparison with a value that none can: the expression would
    find nothing in each of them.
    """
    try:
        query = Query(expression, JSON_FIELDS)
    except QueryError as error:
        place = f" (character {error.position})" if error.position else ""
        raise FieldProblemError(field, f"invalid expression: {error}{place}: {shorten(expression, 60)}") from None
    if reads == "record" or (reads == "trace" and query.path and _is_known(query.path)):
        return query
    from evalgate.evaluators.core.closed_fields import PREVIOUS, VIEW, find_unknown

    if (unknown := find_unknown(query.tree, VIEW if reads == "trace" else PREVIOUS)) is not None:
        message = f"no trace has the {unknown.what} {shorten(unknown.name, 40)!r}: {shorten(expression, 60)}"
        raise FieldProblemError(field, message, unknown.hint)
    return query
