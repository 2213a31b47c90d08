"""Names of checks in other tools, and what to use instead: a suite that is moved here says how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_JUDGED_BY_A_MODEL = "EvalGate calls no model: record the judge's score in the trace, check it with `recorded_score`"
_CODE = "write a custom evaluator in Python and load it with --plugin"
_TRAJECTORY = "use `trajectory_score` or `tool_sequence`"
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
    _TRAJECTORY: (
        *("trajectory", "trajectory-match", "trajectory:tool-sequence", "tool-trajectory", "tool-trajectory-avg-score"),
        *("tool-correctness", "toolcorrectness"),
    ),
    "use `tool_called`": ("trajectory:tool-used", "tool-used", "tool-call", "is-valid-openai-tools-call"),
    "use `tool_arguments`": ("trajectory:tool-args-match", "argument-correctness"),
    "use `similarity`": ("similar", "levenshtein", "rouge-n", "rouge", "bleu", "gleu", "meteor"),
    "use `cost_limit`": ("cost", "max-cost"),
    "use `latency_limit`": ("latency", "duration"),
    "use `token_limit`": ("tokens", "max-tokens"),
    "use `equals`": ("exact-match", "exactmatch", "exact"),
    "use `is_json`": ("json", "json-schema", "valid-json"),
    "use `output_json`, or `path: response.json` with `matches_schema`": ("contains-json",),
    "use `is_refusal`": ("refusal", "guardrails"),
    "use `finish_reason`": ("finish",),
    "add `negate: true` to the check": ("not-contains", "not-regex", "not-equals", "not-icontains", "not-contains-any"),
}
_BY_NAME = {name: hint for hint, names in _HINTS.items() for name in names}

_ARGUMENTS = "`tool_sequence` matches arguments: {type: tool_sequence, sequence: [{tool: NAME, args: {KEY: VALUE}}]}"
_OTHER_KEYS = {
    **{(kind, key): _ARGUMENTS for kind in ("tool_called", "tool_calls") for key in ("args", "arguments")},
    ("max_tool_calls", "tool"): "`tool_calls` counts the calls of one tool: {type: tool_calls, tool: NAME, max: 3}",
    ("max_tool_calls", "tools"): "`tool_calls` counts the calls of one tool: {type: tool_calls, tool: NAME, max: 3}",
}
_SYNONYMS = {"text": ("value",), "value": ("values", "max", "min")}


def find_key(kind: object, key: object, known: Collection[str]) -> str | None:
    """What to write instead of an unknown key of a check: a key that has its word or its meaning, or another check."""
    if not isinstance(key, str) or (kind, key) in _OTHER_KEYS:
        return _OTHER_KEYS.get((str(kind), str(key)))
    found = [each for each in known if key in each.split("_")] or [
        each for each in _SYNONYMS.get(key, ()) if each in known
    ]
    return f"did you mean `{found[0]}`?" if len(found) == 1 else None


def find_equivalent(name: object) -> str | None:
    """What to use instead of another tool's check; None for an unknown name."""
    if not isinstance(name, str):
        return None
    return _BY_NAME.get(name[:60].lower().replace("_", "-").removesuffix("metric"))
