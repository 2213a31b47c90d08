"""Names of checks in other tools, and what to use instead: a suite that is moved here says how to go on.

An evaluator states the names that it has elsewhere; here are those of which none is the equivalent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.evaluators.core.registry import BUILT_IN_TYPES, built_in_class

if TYPE_CHECKING:
    from collections.abc import Collection

_JUDGED_BY_A_MODEL = "EvalGate calls no model: record the judge's score in the trace, check it with `recorded_score`"
_CODE = "write a custom evaluator in Python and load it with --plugin"
_HINTS = {
    _JUDGED_BY_A_MODEL: (
        *(
            "llm-rubric",
            "model-graded-closedqa",
            "model-graded-factuality",
            "factuality",
            "g-eval",
            "geval",
            "autorater",
        ),
        *("answer-relevance", "answerrelevancy", "context-faithfulness", "context-recall", "context-relevance"),
        *("faithfulness", "hallucination", "moderation", "classifier", "select-best", "llm-judge", "llm-as-judge"),
        *("pi", "conversation-relevance", "toxicity", "bias", "task-completion"),
    ),
    _CODE: ("javascript", "python", "ruby", "webhook", "assert-set", "custom", "script"),
    "use `output_json`, or `path: response.json` with `matches_schema`": ("contains-json",),
    "add `negate: true` to the check": ("not-contains", "not-regex", "not-equals", "not-icontains", "not-contains-any"),
}
_BY_NAME = {name: hint for hint, names in _HINTS.items() for name in names}

_SYNONYMS = {"text": ("value",), "value": ("values", "max", "min")}


def find_key(kind: object, key: object, known: Collection[str]) -> str | None:
    """What to write instead of an unknown key of a check: a key that has its word or its meaning, or another check."""
    if not isinstance(key, str):
        return None
    evaluator = built_in_class(kind)
    if evaluator is not None and key in evaluator.other_keys:
        return evaluator.other_keys[key]
    found = [each for each in known if key in each.split("_")] or [
        each for each in _SYNONYMS.get(key, ()) if each in known
    ]
    return f"did you mean `{found[0]}`?" if len(found) == 1 else None


def find_equivalent(name: object) -> str | None:
    """What to use instead of another tool's check; None for an unknown name."""
    if not isinstance(name, str):
        return None
    plain = name[:60].lower().replace("_", "-").removesuffix("metric")
    return _BY_NAME.get(plain) or _find_named(plain)


def _find_named(name: str) -> str | None:
    """Names the evaluators that state this name as one of theirs."""
    kinds = [(kind, built_in_class(kind)) for kind in BUILT_IN_TYPES]
    found = [f"`{kind}`" for kind, evaluator in kinds if evaluator is not None and name in evaluator.other_names]
    return f"use {' or '.join(found)}" if found else None
