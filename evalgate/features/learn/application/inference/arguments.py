"""What may be expected of the arguments of calls: fixed words, and the shape of everything else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.features.learn.application.inference.checks import MANY, InferredCheck
from evalgate.measures.redaction.redact import redact, redact_field
from evalgate.measures.text.tool_words import separate_words
from evalgate.measures.values.json_values import json_equal
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from evalgate.features.learn.application.inference.observations import TraceSet

FEW = 2
"""Trials that must show an argument."""
MAX_TEXT, MAX_WORDS, MAX_FIELDS = 40, 3, 30
MIN_CALLS = 5
"""Calls of a tool from which it has no other arguments, and different values from which an argument has a shape."""
_ABSENT = object()
MATCHER = "$"
"""How the name of a matcher begins: an argument of such a name would be read as one."""
_KEY_OF_IDENTIFIER = re.compile(
    r"(?:^|[_-])(?:id|ids|uuid|guid|key|token|hash|sha|email|mail|phone|number|no|name|username|user|customer|client"
    r"|passenger|guest|patient|employee|person|contact|owner|author|recipient|sender|account|session|ref|reference|code"
    r"|pin|locator|confirmation|auth|login|address|street|city|url|uri|path|file|date|time|day|weekday|month|year"
    r"|birthday|dob|age|start|end|due|deadline|when|since|until|zip|password|secret|price|amount|query|text|message"
    r"|content|summary|reason|thought|description|prompt|note|comment)s?(?:$|[_-])",
    re.IGNORECASE,
)
"""Names of arguments whose values are of one run: identifiers, persons, dates, amounts, free text."""
_TEXT = re.compile(r"[^\W\d_]+(?:[ _-][^\W\d_]+)*")
_DATE_WORD = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?"
    r"|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|today|tonight"
    r"|tomorrow|yesterday|(?:next|last|this) (?:week|month|year))\b",
    re.IGNORECASE,
)
_MIXED = re.compile(r"[a-z][A-Z].*[a-z][A-Z]|^[A-Z0-9]{5,}$|^[a-f]{8,}$")
SHAPES = (
    r"^\d{4}-\d{2}-\d{2}$",
    r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    r"^[A-Z]{3}$",
    r"^[A-Z0-9]{6}$",
    r"^[A-Z]+-?\d+$",
    r"^\d+$",
    r"^#[A-Z]?\d+$",
)
"""Shapes of identifiers and dates; the first that all values have is expected."""
MAX_CHECKED_TOOLS = 30
"""Tools whose arguments are checked."""


def is_fixed_text(text: str) -> bool:
    """Whether a text may be expected literally: a few words without a digit that no name, date or code looks like.

    >>> [is_fixed_text(text) for text in ("economy", "one_way", "A-17", "2026-01-01", "Monday", "mia_li_3668")]
    [True, True, False, False, False, False]
    """
    return (
        len(text) <= MAX_TEXT
        and len(re.split(r"[ _-]", text)) <= MAX_WORDS
        and _TEXT.fullmatch(text) is not None
        and _DATE_WORD.search(text) is None
        and _MIXED.search(text) is None
        and redact(text) == text
    )


def infer_arguments(
    calls: Sequence[Any], trials: int, count_failed: Callable[[str, Any], int] = lambda _name, _value: 0
) -> dict[str, Any]:
    """The arguments that were the same in all these calls, one of each trial, and may be expected again.

    What one trial shows is expected if two failed trials, which `count_failed` counts, have other values.
    """
    given = [arguments for arguments in calls if isinstance(arguments, dict)]
    if len(given) < len(calls) or not given:
        return {}
    found: dict[str, Any] = {}
    for name in sorted(given[0]):
        value = given[0][name]
        if all(json_equal(value, other.get(name, _ABSENT)) for other in given[1:]):
            expected = _expect(name, value, trials)
            if expected is not _ABSENT and (trials >= FEW or count_failed(name, value) >= FEW):
                found[name] = expected
    return dict(list(found.items())[:MAX_FIELDS])


def _expect(name: str, value: Any, trials: int) -> Any:
    if name.startswith(MATCHER) or redact(name) != name or redact_field(name, "x") != "x":
        return _ABSENT
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        is_count = trials >= MANY and abs(value) <= MAX_TEXT and not _KEY_OF_IDENTIFIER.search(separate_words(name))
        return {"$approx": value} if is_count else _ABSENT
    if isinstance(value, str) and is_fixed_text(value) and not _KEY_OF_IDENTIFIER.search(separate_words(name)):
        return value
    return _ABSENT


def infer_schemas(traces: TraceSet) -> list[InferredCheck]:
    """For each tool the arguments that its calls always have; of one that changes something also that it has no others.

    That needs more calls. Those that its definition has are allowed. What a look-up is asked beside does no harm.
    """
    found: list[InferredCheck] = []
    most_called = sorted(traces.tools, key=lambda tool: -len(traces.arguments.get(tool, ())))[:MAX_CHECKED_TOOLS]
    for tool in sorted(most_called):
        given = traces.arguments.get(tool, ())
        is_closed = tool in traces.changing and len(given) >= MIN_CALLS
        allowed = traces.defined_arguments.get(tool, frozenset()) if is_closed else None
        if len(given) >= MANY and (schema := _build_schema(given, allowed)) is not None:
            then = {"type": "tool_arguments", "tool": tool, "schema": schema}
            entry = {"when": {"type": "tool_called", "tool": tool}, "then": [then]}
            found.append(InferredCheck(entry, pluralize(len(given), "call")))
    return found


def _build_schema(given: Sequence[Mapping[str, Any]], allowed: Collection[str] | None) -> dict[str, Any] | None:
    """What all these arguments have; `allowed` may be there besides and no others, None if any may."""
    names = sorted({name for arguments in given for name in arguments})
    if len(names) > MAX_FIELDS or any(redact(name) != name for name in names):
        return None
    always = [name for name in names if all(name in arguments for arguments in given)]
    schema: dict[str, Any] = {"required": always} if always else {}
    if allowed is not None:
        all_names = sorted({*names, *(name for name in allowed if redact(name) == name)})
        schema |= {"maxProperties": len(names)} if all_names == always else {"propertyNames": {"enum": all_names}}
    shapes = {name: {"pattern": shape} for name in always if (shape := _find_shape([each[name] for each in given]))}
    return {**schema, "properties": shapes} if shapes else schema or None


def _find_shape(values: Sequence[Any]) -> str | None:
    """The shape that all values have; None without one, or if too few of them differ."""
    texts = {value for value in values if isinstance(value, str)}
    if len(texts) < MIN_CALLS or not all(isinstance(value, str) for value in values):
        return None
    return next((shape for shape in SHAPES if all(re.search(shape, value) for value in texts)), None)
