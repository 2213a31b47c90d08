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
    LARGEST_SUM,
    MOST_DAYS,
    Mistake,
    Place,
    amounts,
    bound,
    interval,
    maybe,
    record,
    records,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_SHOWN = 60
VERDICTS = frozenset({"pass", "fail", "cannot_judge", "invalid"})


def check(document: Any, *, whole: bool) -> str | None:
    """Returns the first problem of a document, or None; fills in absent optional fields, in place."""
    try:
        _document(document)
        scenarios = 0
        for suite, at in records(document, "suites", fields.SUITE, ()):
            bound(suite, "score", 1, at)
            scenarios += len(suite["scenarios"])
            if scenarios > MAX_SCENARIOS:
                raise Mistake((), f"it holds more than {MAX_SCENARIOS:,} scenarios")
            for scenario, place in records(suite, "scenarios", fields.SCENARIO, at):
                _scenario(scenario, place, whole=whole)
            _variants(suite, at)
            _figures(suite, at)
    except Mistake as mistake:
        return str(mistake)
    return None


def _document(document: Any) -> None:
    if not isinstance(document, dict):
        raise Mistake((), "it is no object")
    schema = document.get("schema")
    if schema != RESULTS_SCHEMA:
        shown = repr(schema[:MAX_SHOWN]) if isinstance(schema, str) else "nothing"
        raise Mistake((), f"its schema says {shown}")
    record(document, fields.DOCUMENT, ())
    check_moment(document, "created_at")
    if document["verdict"] not in VERDICTS:
        raise Mistake(("verdict",), "is none of " + ", ".join(sorted(VERDICTS)))
    if document["summary"] is None and document["verdict"] != "invalid":
        raise Mistake(("summary",), "is null, and only an invalid run has none")
    check_summary(document, ())
    maybe(document, "baseline", fields.BASELINE, ())
    if document["baseline"] is not None:
        _baseline(document["baseline"], ("baseline",))
    _figures(document, ())
    maybe(document, "comparison", fields.COMPARISON, ())
    if document.get("comparison") is not None:
        bound(document["comparison"], "expected_false_alarms", MAX_SCENARIOS, ("comparison",))
    _lists(document)
    maybe(document, "rules", fields.RULES, ())
    if document.get("quarantines") is not None:
        from evalgate.reporting.results.quarantine_doc import check_quarantines

        check_quarantines(document)
    if document.get("history") is not None:
        from evalgate.reporting.results.history_doc import check_history

        check_history(document)
    _weakenings(document)


def _baseline(baseline: dict[str, Any], place: Place) -> None:
    check_summary(baseline, place)
    maybe(baseline, "drift", fields.DRIFT, place)
    if baseline.get("drift") is not None:
        for _ in records(baseline["drift"], "evaluators", fields.CHANGED_EVALUATOR, (*place, "drift")):
            pass


def check_summary(parent: dict[str, Any], place: Place) -> None:
    """Checks the counts and figures of a run; raises ShapeError."""
    maybe(parent, "summary", fields.SUMMARY, place)
    summary, at = parent["summary"], (*place, "summary")
    if summary is None:
        return
    for name in ("score", "pass_rate"):
        bound(summary, name, 1, at)
    for name in (*fields.COUNTS, *fields.FIGURES):
        bound(summary, name, LARGEST_SUM, at)
    if summary.get("checks") is not None:
        if type(summary["checks"]) is not dict:
            raise Mistake((*at, "checks"), "is not an object")
        maybe(summary, "checks", fields.CHECKS, at)


def _lists(document: dict[str, Any]) -> None:
    for reason, place in records(document, "reasons", fields.REASON, ()):
        maybe(reason, "location", fields.LOCATION, place)
    for removed, place in records(document, "removed", fields.REMOVED, ()):
        bound(removed, "score", 1, place)
    check_approvals(document)
    for name, shape in (("unclaimed", fields.UNCLAIMED), ("warnings", fields.WARNING)):
        for _ in records(document, name, shape, ()):
            pass


def check_approvals(document: dict[str, Any]) -> None:
    """Checks the approvals; raises ShapeError."""
    for approval, place in records(document, "approvals", approvals_doc.APPROVAL, ()):
        maybe(approval, "location", fields.LOCATION, place)
        maybe(approval, "limit", approvals_doc.LIMIT, place)
        maybe(approval, "provenance", approvals_doc.PROVENANCE, place)
        texts(approval, "trace", place)
        if approval.get("checks") is not None:
            texts(approval, "checks", place)
        bound(approval, "days_left", MOST_DAYS, place, least=-MOST_DAYS)


def _weakenings(document: dict[str, Any]) -> None:
    if document.get("weakenings") is None:
        return
    from evalgate.reporting.results.weakenings_doc import WEAKENING

    for weakening, place in records(document, "weakenings", WEAKENING, ()):
        maybe(weakening, "location", fields.LOCATION, place)
        bound(weakening, "scenarios", MAX_SCENARIOS, place)


def _cause(change: dict[str, Any], place: Place) -> None:
    if change.get("cause") is not None:
        from evalgate.reporting.results.weakenings_doc import CAUSE

        maybe(change, "cause", CAUSE, place)


def check_moment(document: Mapping[str, Any], name: str) -> None:
    """Checks a time, which needs a UTC offset; raises ShapeError."""
    try:
        has_zone = datetime.fromisoformat(document[name]).tzinfo is not None
    except ValueError:
        has_zone = False
    if not has_zone:
        raise Mistake((name,), "is no RFC 3339 time")


def _scenario(scenario: dict[str, Any], place: Place, *, whole: bool) -> None:
    bound(scenario, "score", 1, place)
    maybe(scenario, "change", fields.CHANGE, place)
    maybe(scenario, "location", fields.LOCATION, place)
    if scenario["change"] is not None:
        _change(scenario["change"], (*place, "change"))
    interval(scenario, "pass_rate_interval", place)
    if scenario["dimensions"] or scenario.get("golden") is not None:
        _golden(scenario, place)
    for trial, at in records(scenario, "trials", fields.TRIAL, place):
        bound(trial, "score", 1, at)
        amounts(trial, fields.AMOUNTS, at)
        record(trial["trace"], fields.TRACE, (*at, "trace"))
        texts(trial, "tool_calls", at)
        if trial.get("pricing") is not None:
            check_pricing(trial["pricing"], (*at, "pricing"))
        if trial.get("golden") is not None:
            from evalgate.reporting.results.golden_fields import check_golden_trial

            check_golden_trial(trial, at)
        if whole:
            for assertion, spot in records(trial, "assertions", fields.ASSERTION, at):
                maybe(assertion, "location", fields.LOCATION, spot)


def _change(change: dict[str, Any], place: Place) -> None:
    bound(change, "score_delta", 1, place, least=-1)
    texts(change, "flags", place)
    texts(change, "increases", place)
    maybe(change, "calls", fields.CALLS, place)
    for name in ("before", "now") if change.get("calls") else ():
        texts(change["calls"], name, (*place, "calls"))
    _cause(change, place)
    if change.get("behaviour") is not None:
        _behaviour(change["behaviour"], (*place, "behaviour"))


def _golden(scenario: dict[str, Any], place: Place) -> None:
    from evalgate.reporting.results.golden_fields import check_dimensions, check_golden

    check_dimensions(scenario, "dimensions", place)
    if scenario.get("golden") is not None:
        check_golden(scenario, place)


def _behaviour(behaviour: dict[str, Any], place: Place) -> None:
    from evalgate.reporting.results import trajectory_fields as shapes

    record(behaviour, shapes.BEHAVIOUR, place)
    maybe(behaviour, "first", shapes.DEPARTURE, place)
    for name in ("status", "error"):
        maybe(behaviour, name, shapes.SIDES, place)
    for step, at in records(behaviour, "steps", shapes.STEP, place):
        for name, shape in shapes.OF_STEP:
            maybe(step, name, shape, at)
        for _ in records(step, "changes", shapes.ARGUMENT, at):
            pass
    for name, shape in (("said", shapes.SAID), ("response", shapes.PART)):
        for _ in records(behaviour, name, shape, place):
            pass
    for figure, at in records(behaviour, "figures", shapes.FIGURE, place):
        amounts(figure, ("before", "now"), at)


def check_pricing(pricing: dict[str, Any], place: Place) -> None:
    """Checks how a cost was computed; raises ShapeError."""
    record(pricing, fields.PRICING, place)
    texts(pricing, "missing_models", place)
    amounts(pricing, ("usd", *fields.PRICED), place)
    if pricing["usage"] is None:
        return
    for row, at in records(pricing, "usage", fields.USAGE, place):
        amounts(row, fields.MODEL_TOKENS, at)


def _figures(parent: Mapping[str, Any], place: Place) -> None:
    """Checks the statistics of a suite or the run, and their deltas."""
    maybe(parent, "figures", fields.RUN_FIGURES, place)
    figures, at = parent.get("figures"), (*place, "figures")
    if figures is None:
        return
    _amounts(figures, at, least=0)
    for check, spot in records(figures, "lost_checks", fields.LOST_CHECK, at):
        bound(check, "weight_lost", LARGEST_SUM, spot)
    maybe(figures, "delta", fields.DELTA, at)
    if figures["delta"] is not None:
        interval(figures["delta"], "score_interval", (*at, "delta"))
        _amounts(figures["delta"], (*at, "delta"), least=-1)


def _amounts(figures: Mapping[str, Any], place: Place, *, least: int) -> None:
    interval(figures, "pass_rate_interval", place)
    for name in fields.SCORES:
        bound(figures, name, 1, place, least)
    for name in fields.SUMS:
        bound(figures, name, LARGEST_SUM, place, least * LARGEST_SUM)
    for each, at in records(figures, "pass_k", fields.PASS_K, place):
        for name in ("pass_at_k", "pass_hat_k"):
            bound(each, name, 1, at, least)


def _variants(suite: dict[str, Any], place: Place) -> None:
    for variant, at in records(suite, "variants", fields.VARIANT, place):
        for name in ("correct_tool", "correct_count"):
            record(variant[name], fields.SHARE, (*at, name))
        amounts(variant, fields.AMOUNTS, at)
