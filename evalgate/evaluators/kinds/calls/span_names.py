"""Finds spans that are named like a tool that a check denies, where the trace has no call of that tool."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from evalgate.measures.text.similar_names import find_denied, find_pattern_for, is_denied
from evalgate.measures.text.tool_words import unwrap_definition
from evalgate.models.trace.trace import list_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.trace.trace import Trace

MAX_REPORTED = 50
"""Names of a trace's spans that are compared with each scenario."""
MIN_LITERAL = 3
"""Characters in a row that a pattern needs: `*` forbids every tool, and names no function."""
_SEVERAL_WORDS = re.compile(r"[^_-][_-][^_-]|[a-z][A-Z]")
_COPY = re.compile(r"_\d{1,3}\Z")
"""What MLflow writes after the name of a second span of the same name."""


@lru_cache(maxsize=8_192)
def list_forms(name: str) -> tuple[str, ...]:
    """The name of a span, and that of its function if the span has more before it, and that has several words.

    >>> list_forms("Calling app.tools.delete_user"), list_forms("VectorStore.search"), list_forms("GET /delete_user")
    (('Calling app.tools.delete_user', 'delete_user'), ('VectorStore.search',), ('GET /delete_user',))
    """
    word = name.strip().rpartition(" ")[2]
    is_address = word.startswith("/") or "://" in word
    last = word if is_address else _COPY.sub("", re.split("[./:]", word.removesuffix("()"))[-1])
    return (name, last) if last != name and not is_address and _SEVERAL_WORDS.search(last) else (name,)


def find_denied_span(patterns: Sequence[str], name: str) -> str | None:
    """The first pattern that fits the name of a span or of its function; those with hardly any letter fit none."""
    found = (find_denied_name(patterns, form) for form in list_forms(name))
    return next((each for each in found if each is not None), None)


def find_denied_name(patterns: Sequence[str], name: str) -> str | None:
    """The first pattern that fits a name, of those with enough letters."""
    return find_denied(
        [each for each in patterns if max(map(len, each.split("*"))) >= MIN_LITERAL or "*" not in each], name
    )


def find_span_names(trace: Trace, patterns: Sequence[str], *, has_allowed: bool) -> dict[str, bool]:
    """The spans that one of the patterns fits and no call, each with whether the trace defines a tool of its name.

    With `has_allowed`, also all others of which the trace defines a tool.
    """
    defined = {unwrap_definition(each).get("name") for each in trace.tool_definitions}
    called = {name for call in trace.tool_calls for name in list_names(call)}
    found: dict[str, bool] = {}
    for name in trace.other_spans:
        is_defined = not defined.isdisjoint(list_forms(name))
        if (is_defined and has_allowed) or find_denied_span(patterns, name) is not None:
            if not any(_is_call_of(each, name) for each in called):
                found[name] = is_defined
            if len(found) == MAX_REPORTED:
                break
    return found


def _is_call_of(called: str, span: str) -> bool:
    """Whether a called name is that of a span, perhaps after that of a server: then checks judge the call."""
    forms = (each for each in list_forms(span) if "*" not in each)
    return any(is_denied(form, called) or find_pattern_for(form, called) is not None for form in forms)


def is_outside(allowed: Sequence[Mapping[str, None]], name: str) -> bool:
    """Whether one of the lists of allowed tools has no pattern for a span."""
    return any(find_denied([*each], form) is None for each in allowed for form in list_forms(name)[-1:])
