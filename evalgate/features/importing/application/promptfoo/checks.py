"""A check of promptfoo as an assertion, or why it can't be one."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from evalgate.features.importing.application.lines import CODE, build_grade
from evalgate.features.importing.application.promptfoo.expression_checks import carry_expression
from evalgate.features.importing.application.promptfoo.run_checks import RUN_CHECKS
from evalgate.features.importing.application.promptfoo.text_checks import TEXT_CHECKS, OriginCheck
from evalgate.features.importing.application.promptfoo.variables import fill_in
from evalgate.features.importing.models import CannotCarry, CarriedCheck

if TYPE_CHECKING:
    from collections.abc import Mapping

NOT, SET = "not-", "assert-set"
CHECKS = {**TEXT_CHECKS, **RUN_CHECKS, "javascript": carry_expression}
MODEL = (
    "a model judges it: give it a `metric` and a `threshold`, so that promptfoo's results hold its score and a"
    " `recorded_score` can check it"
)
SCORE = (
    "is another measure than `similarity` has; compare with `metric: rouge_l` or `bleu` and a `min_score` of your own"
)
SYNTAX = "promptfoo's own parser decides it; a `regex` or a custom evaluator may do"
MODELS = (
    *("llm-rubric", "agent-rubric", "g-eval", "factuality", "model-graded-factuality", "model-graded-closedqa"),
    *("answer-relevance", "context-faithfulness", "context-recall", "context-relevance", "conversation-relevance"),
    *("similar", "similar:cosine", "similar:dot", "similar:euclidean", "classifier", "moderation", "guardrails", "pi"),
    *("search-rubric", "research-rubric", "trajectory:goal-success", "noise-sensitivity"),
)
REASONS = {
    **dict.fromkeys(("python", "ruby"), f"{CODE}; write it as a check with a `path`"),
    "webhook": "another server decides it, and a gate asks none",
    **dict.fromkeys(("select-best", "max-score"), "it compares the outputs of several providers; see docs/migrate.md"),
    **dict.fromkeys(("rouge-n", "rouge-l", "rouge-s", "bleu", "gleu", "meteor"), SCORE),
    "levenshtein": "`metric: levenshtein` of `similarity` limits the share of characters that differ, not their number",
    **dict.fromkeys(("is-sql", "contains-sql", "is-xml", "contains-xml", "is-html", "contains-html"), SYNTAX),
    "contains-json": f"{SYNTAX}; `is_json` demands that the whole answer is JSON",
    **dict.fromkeys(("perplexity", "perplexity-score"), "traces hold no probabilities of tokens"),
    **dict.fromkeys(
        ("trace-span-count", "trace-span-duration", "trace-error-spans"),
        "it counts spans of promptfoo's tracing, of which a trace here holds only the calls",
    ),
}


def carry_check(check: Mapping[str, Any], variables: Mapping[str, Any]) -> CarriedCheck:
    """The assertion for a check, without weight and `required`; raises CannotCarry."""
    kind = check.get("type")
    if not isinstance(kind, str) or not kind:
        raise CannotCarry("it has no type")
    if kind == SET:
        return _carry_set(check, variables)
    if check.get("transform"):
        raise CannotCarry("its `transform` is JavaScript, which is never executed here; check a `path` of the answer")
    base = kind.removeprefix(NOT)
    if base in MODELS:
        return _carry_score(check, base, variables, is_negated=base != kind)
    if base not in CHECKS:
        unknown = "this type of check is not known here"
        raise CannotCarry(
            "it belongs to promptfoo's red team" if base.startswith("promptfoo:") else REASONS.get(base, unknown)
        )
    value = check.get("value") if base == "javascript" else fill_in(check.get("value"), variables)
    carried = CHECKS[base](OriginCheck(base, value, check.get("threshold"), base != kind))
    return carried if base == kind else CarriedCheck(_negate(carried.entry), carried.difference)


def _negate(entry: dict[str, Any]) -> dict[str, Any]:
    """The opposite. Of JSON that is compared an answer without JSON has it too, as in promptfoo."""
    if entry.get("path") == "response.json":
        return {"any_of": [{"not": {"type": "is_json"}}, {"not": entry}]}
    return {"not": entry}


def _carry_score(
    check: Mapping[str, Any], kind: str, variables: Mapping[str, Any], *, is_negated: bool
) -> CarriedCheck:
    """The score that a model gave, if promptfoo's results hold it by a name and a threshold decides."""
    metric, threshold = fill_in(check.get("metric"), variables), check.get("threshold")
    is_plain = not is_negated and not isinstance(threshold, bool) and isinstance(threshold, int | float)
    if kind in ("moderation", "guardrails") or not (is_plain and isinstance(metric, str) and metric):
        raise CannotCarry(MODEL, None if is_negated else build_grade(metric, threshold))
    return CarriedCheck(
        {"type": "recorded_score", "name": metric, "min": threshold}, "the model's grade as promptfoo recorded it"
    )


def _carry_set(group: Mapping[str, Any], variables: Mapping[str, Any]) -> CarriedCheck:
    """A set with a threshold: so many of its checks must pass. All of them must be carried, and weigh the same."""
    members, threshold = group.get("assert"), group.get("threshold")
    if not isinstance(members, list) or not members or not all(isinstance(each, dict) for each in members):
        raise CannotCarry("it has no checks")
    if any(each.get("type") == SET for each in members):
        raise CannotCarry("a set within a set; promptfoo refuses it too")
    found: list[CarriedCheck] = []
    for each in members:
        try:
            found.append(carry_check(each, variables))
        except CannotCarry as error:
            raise CannotCarry(f"of its checks {each.get('type')} can't be carried over: {error}") from None
    difference = "; ".join(dict.fromkeys(each.difference for each in found if each.difference))
    entries = [each.entry for each in found]
    if threshold is None:
        return CarriedCheck({"all_of": entries}, difference)
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise CannotCarry("its threshold is no number above 0, up to 1")
    if len({each.get("weight", 1) for each in members}) > 1 or any(
        each.get("type") in ("tool-call-f1", *MODELS) for each in members
    ):
        raise CannotCarry("its checks weigh differently or give parts of a score, and a group here counts checks")
    least = ceil(Fraction(str(threshold)) * len(entries))
    return CarriedCheck({"at_least": {"k": least, "of": entries}}, difference)
