"""Checks the shape of an `evalgate.results/1` document; by hand, as a baseline must load fast.

Fields that later versions added may be absent and are filled in; unknown fields are kept.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from evalgate.models.results.document_names import RESULTS_SCHEMA
from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.reporting.results import approvals_doc
from evalgate.reporting.results import results_fields as fields
from evalgate.reporting.results.results_checks import (
    MAX_DAYS,
    MAX_SUM,
    FieldPath,
    ShapeError,
    check_amounts,
    check_interval,
    check_optional,
    check_range,
    check_record,
    check_records,
    check_texts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_SCHEMA_SHOWN = 60
VERDICTS = frozenset({"pass", "fail", "cannot_judge", "invalid"})


def check_results(document: Any, *, with_assertions: bool) -> str | None:
    """Returns the first problem of a document, or None; fills in absent optional fields, in place."""
    try:
        _check_document(document)
        scenarios = 0
        for suite, at in check_records(document, "suites", fields.SUITE, ()):
            check_range(suite, "score", 1, at)
            scenarios += len(suite["scenarios"])
            if scenarios > MAX_SCENARIOS:
                raise ShapeError((), f"it holds more than {MAX_SCENARIOS:,} scenarios")
            for scenario, scenario_path in check_records(suite, "scenarios", fields.SCENARIO, at):
                _check_scenario(scenario, scenario_path, with_assertions=with_assertions)
            _check_variants(suite, at)
            _check_statistics(suite, at)
    except ShapeError as error:
        return str(error)
    return None


def _check_document(document: Any) -> None:
    if not isinstance(document, dict):
        raise ShapeError((), "it is not an object")
    schema = document.get("schema")
    if schema != RESULTS_SCHEMA:
        shown = repr(schema[:MAX_SCHEMA_SHOWN]) if isinstance(schema, str) else "missing"
        raise ShapeError((), f"its schema is {shown}")
    check_record(document, fields.DOCUMENT, ())
    check_time(document, "created_at")
    if document["verdict"] not in VERDICTS:
        raise ShapeError(("verdict",), "is not one of " + ", ".join(sorted(VERDICTS)))
    if document["summary"] is None and document["verdict"] != "invalid":
        raise ShapeError(("summary",), "is null, which is valid only for an invalid run")
    check_summary(document, ())
    check_optional(document, "baseline", fields.BASELINE, ())
    if document["baseline"] is not None:
        _check_baseline(document["baseline"], ("baseline",))
    _check_statistics(document, ())
    check_optional(document, "comparison", fields.COMPARISON, ())
    if document.get("comparison") is not None:
        check_range(document["comparison"], "expected_false_alarms", MAX_SCENARIOS, ("comparison",))
    _check_lists(document)
    check_optional(document, "rules", fields.RULES, ())
    if document.get("quarantines") is not None:
        from evalgate.reporting.results.quarantine_doc import check_quarantines

        check_quarantines(document)
    if document.get("history") is not None:
        from evalgate.reporting.results.history_doc import check_history

        check_history(document)
    _check_weakenings(document)


def _check_baseline(baseline: dict[str, Any], path: FieldPath) -> None:
    check_summary(baseline, path)
    check_optional(baseline, "drift", fields.DRIFT, path)
    if baseline.get("drift") is not None:
        for _ in check_records(baseline["drift"], "evaluators", fields.CHANGED_EVALUATOR, (*path, "drift")):
            pass


def check_summary(parent: dict[str, Any], path: FieldPath) -> None:
    """Checks the counts and figures of a run; raises ShapeError."""
    check_optional(parent, "summary", fields.SUMMARY, path)
    summary, at = parent["summary"], (*path, "summary")
    if summary is None:
        return
    for name in ("score", "pass_rate"):
        check_range(summary, name, 1, at)
    for name in (*fields.COUNTS, *fields.SUMMARY_FIGURES):
        check_range(summary, name, MAX_SUM, at)
    if summary.get("checks") is not None:
        if type(summary["checks"]) is not dict:
            raise ShapeError((*at, "checks"), "is not an object")
        check_optional(summary, "checks", fields.CHECKS, at)


def _check_lists(document: dict[str, Any]) -> None:
    for reason, path in check_records(document, "reasons", fields.REASON, ()):
        check_optional(reason, "location", fields.LOCATION, path)
    for removed, path in check_records(document, "removed", fields.REMOVED, ()):
        check_range(removed, "score", 1, path)
    check_approvals(document)
    for name, shape in (("unclaimed", fields.UNCLAIMED), ("warnings", fields.WARNING)):
        for _ in check_records(document, name, shape, ()):
            pass


def check_approvals(document: dict[str, Any]) -> None:
    """Checks the approvals; raises ShapeError."""
    for approval, path in check_records(document, "approvals", approvals_doc.APPROVAL, ()):
        check_optional(approval, "location", fields.LOCATION, path)
        check_optional(approval, "limit", approvals_doc.LIMIT, path)
        check_optional(approval, "provenance", approvals_doc.PROVENANCE, path)
        check_texts(approval, "trace", path)
        if approval.get("checks") is not None:
            check_texts(approval, "checks", path)
        check_range(approval, "days_left", MAX_DAYS, path, minimum=-MAX_DAYS)


def _check_weakenings(document: dict[str, Any]) -> None:
    if document.get("weakenings") is None:
        return
    from evalgate.reporting.results.weakenings_doc import WEAKENING

    for weakening, path in check_records(document, "weakenings", WEAKENING, ()):
        check_optional(weakening, "location", fields.LOCATION, path)
        check_range(weakening, "scenarios", MAX_SCENARIOS, path)


def _check_cause(change: dict[str, Any], path: FieldPath) -> None:
    if change.get("cause") is not None:
        from evalgate.reporting.results.weakenings_doc import CAUSE

        check_optional(change, "cause", CAUSE, path)


def check_time(document: Mapping[str, Any], name: str) -> None:
    """Checks a time, which needs a UTC offset; raises ShapeError."""
    try:
        has_zone = datetime.fromisoformat(document[name]).tzinfo is not None
    except ValueError:
        has_zone = False
    if not has_zone:
        raise ShapeError((name,), "is not an RFC 3339 time")


def _check_scenario(scenario: dict[str, Any], path: FieldPath, *, with_assertions: bool) -> None:
    check_range(scenario, "score", 1, path)
    check_optional(scenario, "change", fields.CHANGE, path)
    check_optional(scenario, "location", fields.LOCATION, path)
    if scenario["change"] is not None:
        _check_change(scenario["change"], (*path, "change"))
    check_interval(scenario, "pass_rate_interval", path)
    if scenario["dimensions"] or scenario.get("golden") is not None:
        _check_golden(scenario, path)
    for trial, at in check_records(scenario, "trials", fields.TRIAL, path):
        check_range(trial, "score", 1, at)
        check_amounts(trial, fields.AMOUNTS, at)
        check_record(trial["trace"], fields.TRACE, (*at, "trace"))
        check_texts(trial, "tool_calls", at)
        if trial.get("pricing") is not None:
            check_pricing(trial["pricing"], (*at, "pricing"))
        if trial.get("golden") is not None:
            from evalgate.reporting.results.golden_fields import check_golden_trial

            check_golden_trial(trial, at)
        if with_assertions:
            for assertion, spot in check_records(trial, "assertions", fields.ASSERTION, at):
                check_optional(assertion, "location", fields.LOCATION, spot)


def _check_change(change: dict[str, Any], path: FieldPath) -> None:
    check_range(change, "score_delta", 1, path, minimum=-1)
    check_texts(change, "flags", path)
    check_texts(change, "increases", path)
    if "comes_with" in change:
        check_texts(change, "comes_with", path)
    check_optional(change, "calls", fields.CALLS, path)
    for name in ("before", "now") if change.get("calls") else ():
        check_texts(change["calls"], name, (*path, "calls"))
    _check_cause(change, path)
    if change.get("behaviour") is not None:
        _check_trajectory_diff(change["behaviour"], (*path, "behaviour"))


def _check_golden(scenario: dict[str, Any], path: FieldPath) -> None:
    from evalgate.reporting.results.golden_fields import check_dimensions, check_golden

    check_dimensions(scenario, "dimensions", path)
    if scenario.get("golden") is not None:
        check_golden(scenario, path)


def _check_trajectory_diff(trajectory_diff: dict[str, Any], path: FieldPath) -> None:
    from evalgate.reporting.results import trajectory_fields as shapes

    check_record(trajectory_diff, shapes.TRAJECTORY_DIFF, path)
    check_optional(trajectory_diff, "first", shapes.FIRST_DIVERGENCE, path)
    for name in ("status", "error"):
        check_optional(trajectory_diff, name, shapes.TEXT_PAIR, path)
    for step, at in check_records(trajectory_diff, "steps", shapes.STEP, path):
        for name, shape in shapes.STEP_RECORDS:
            check_optional(step, name, shape, at)
        for _ in check_records(step, "changes", shapes.VALUE_DIFFERENCE, at):
            pass
    for name, shape in (("said", shapes.UTTERANCE), ("response", shapes.TEXT_PART)):
        for _ in check_records(trajectory_diff, name, shape, path):
            pass
    for figure, at in check_records(trajectory_diff, "figures", shapes.FIGURE_DELTA, path):
        check_amounts(figure, ("before", "now"), at)


def check_pricing(pricing: dict[str, Any], path: FieldPath) -> None:
    """Checks how a cost was computed; raises ShapeError."""
    check_record(pricing, fields.PRICING, path)
    check_texts(pricing, "missing_models", path)
    check_amounts(pricing, ("usd", *fields.PRICED), path)
    if pricing["usage"] is None:
        return
    for row, at in check_records(pricing, "usage", fields.USAGE, path):
        check_amounts(row, fields.MODEL_TOKENS, at)


def _check_statistics(parent: Mapping[str, Any], path: FieldPath) -> None:
    """Checks the statistics of a suite or the run, and their deltas."""
    check_optional(parent, "figures", fields.STATISTICS, path)
    statistics, at = parent.get("figures"), (*path, "figures")
    if statistics is None:
        return
    _check_numbers(statistics, at, minimum=0)
    for check, spot in check_records(statistics, "lost_checks", fields.LOST_CHECK, at):
        check_range(check, "weight_lost", MAX_SUM, spot)
    check_optional(statistics, "delta", fields.DELTA, at)
    if statistics["delta"] is not None:
        check_interval(statistics["delta"], "score_interval", (*at, "delta"))
        _check_numbers(statistics["delta"], (*at, "delta"), minimum=-1)


def _check_numbers(statistics: Mapping[str, Any], path: FieldPath, *, minimum: int) -> None:
    check_interval(statistics, "pass_rate_interval", path)
    for name in fields.SCORES:
        check_range(statistics, name, 1, path, minimum)
    for name in fields.SUMS:
        check_range(statistics, name, MAX_SUM, path, minimum * MAX_SUM)
    for each, at in check_records(statistics, "pass_k", fields.PASS_K, path):
        for name in ("pass_at_k", "pass_hat_k"):
            check_range(each, name, 1, at, minimum)


def _check_variants(suite: dict[str, Any], path: FieldPath) -> None:
    for variant, at in check_records(suite, "variants", fields.VARIANT, path):
        for name in ("correct_tool", "correct_count"):
            check_record(variant[name], fields.SHARE, (*at, name))
        check_amounts(variant, fields.AMOUNTS, at)
