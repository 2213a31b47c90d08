"""Whether a value has the shape of `evalgate.results/1`; checked by hand, for a baseline must load fast.

Fields that later versions of the document added may be absent and are filled in; fields nobody knows stay.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from evalgate.models.results import SCHEMA
from evalgate.models.run import MAX_SCENARIOS
from evalgate.reporting.exports import approvals_doc
from evalgate.reporting.exports import results_fields as fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalgate.reporting.exports.results_fields import Shape, Types

MAX_SHOWN = 60
LARGEST_AMOUNT = 1e15
LARGEST_SUM = 1e24
MOST_DAYS = 4_000_000
VERDICTS = frozenset({"pass", "fail", "cannot_judge", "invalid"})

_Place = tuple[Any, ...]


class _Mistake(Exception):
    def __init__(self, place: _Place, what: str) -> None:
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
        super().__init__(f"{path.lstrip('.')} {what}".lstrip())


def check(document: Any, *, whole: bool) -> str | None:
    """What is wrong with a document, or None. Absent optional fields are filled in, in place."""
    try:
        _document(document)
        scenarios = 0
        for suite, at in _records(document, "suites", fields.SUITE, ()):
            _bound(suite, "score", 1, at)
            scenarios += len(suite["scenarios"])
            if scenarios > MAX_SCENARIOS:
                raise _Mistake((), f"it holds more than {MAX_SCENARIOS:,} scenarios")
            for scenario, place in _records(suite, "scenarios", fields.SCENARIO, at):
                _scenario(scenario, place, whole=whole)
            _variants(suite, at)
            _figures(suite, at)
    except _Mistake as mistake:
        return str(mistake)
    return None


def _document(document: Any) -> None:
    if not isinstance(document, dict):
        raise _Mistake((), "it is no object")
    schema = document.get("schema")
    if schema != SCHEMA:
        shown = repr(schema[:MAX_SHOWN]) if isinstance(schema, str) else "nothing"
        raise _Mistake((), f"its schema says {shown}")
    _record(document, fields.DOCUMENT, ())
    if not _is_moment(document["created_at"]):
        raise _Mistake(("created_at",), "is no RFC 3339 time")
    if document["verdict"] not in VERDICTS:
        raise _Mistake(("verdict",), "is none of " + ", ".join(sorted(VERDICTS)))
    if document["summary"] is None and document["verdict"] != "invalid":
        raise _Mistake(("summary",), "is null, and only an invalid run has none")
    _summary(document, ())
    _maybe(document, "baseline", fields.BASELINE, ())
    if document["baseline"] is not None:
        _baseline(document["baseline"], ("baseline",))
    _figures(document, ())
    _maybe(document, "comparison", fields.COMPARISON, ())
    if document.get("comparison") is not None:
        _bound(document["comparison"], "expected_false_alarms", MAX_SCENARIOS, ("comparison",))
    _lists(document)
    _quarantines(document)
    _history(document)
    _weakenings(document)


def _baseline(baseline: dict[str, Any], place: _Place) -> None:
    _summary(baseline, place)
    _maybe(baseline, "drift", fields.DRIFT, place)
    if baseline.get("drift") is not None:
        for _ in _records(baseline["drift"], "evaluators", fields.CHANGED_EVALUATOR, (*place, "drift")):
            pass


def _summary(parent: dict[str, Any], place: _Place) -> None:
    _maybe(parent, "summary", fields.SUMMARY, place)
    summary, at = parent["summary"], (*place, "summary")
    if summary is None:
        return
    for name in ("score", "pass_rate"):
        _bound(summary, name, 1, at)
    for name in (*fields.COUNTS, *fields.FIGURES):
        _bound(summary, name, LARGEST_SUM, at)
    if summary.get("checks") is not None:
        if type(summary["checks"]) is not dict:
            raise _Mistake((*at, "checks"), "is not an object")
        _maybe(summary, "checks", fields.CHECKS, at)


def _lists(document: dict[str, Any]) -> None:
    for reason, place in _records(document, "reasons", fields.REASON, ()):
        _maybe(reason, "location", fields.LOCATION, place)
    for removed, place in _records(document, "removed", fields.REMOVED, ()):
        _bound(removed, "score", 1, place)
    for approval, place in _records(document, "approvals", approvals_doc.APPROVAL, ()):
        _maybe(approval, "location", fields.LOCATION, place)
        _maybe(approval, "limit", approvals_doc.LIMIT, place)
        _maybe(approval, "provenance", approvals_doc.PROVENANCE, place)
        _texts(approval, "trace", place)
        if approval.get("checks") is not None:
            _texts(approval, "checks", place)
        _bound(approval, "days_left", MOST_DAYS, place, least=-MOST_DAYS)
    for name, shape in (("unclaimed", fields.UNCLAIMED), ("warnings", fields.WARNING)):
        for _ in _records(document, name, shape, ()):
            pass


def _quarantines(document: dict[str, Any]) -> None:
    if document.get("quarantines") is None:
        return
    from evalgate.reporting.exports.quarantine_doc import QUARANTINE

    for quarantine, place in _records(document, "quarantines", QUARANTINE, ()):
        _maybe(quarantine, "location", fields.LOCATION, place)
        _bound(quarantine, "scenarios", MAX_SCENARIOS, place)
        _bound(quarantine, "days_left", MOST_DAYS, place, least=-MOST_DAYS)


def _history(document: dict[str, Any]) -> None:
    if document.get("history") is None:
        return
    from evalgate.reporting.exports import history_doc as shapes

    _maybe(document, "history", shapes.HISTORY, ())
    history, at = document["history"], ("history",)
    for run, place in _records(history, "runs", shapes.PAST_RUN, at):
        for name in ("score", "pass_rate"):
            _bound(run, name, 1, place)
        _bound(run, "cost_usd", LARGEST_SUM, place)
    for flaky, place in _records(history, "flaky", shapes.FLAKY, at):
        for name in ("runs", "passed", "flips"):
            _bound(flaky, name, LARGEST_AMOUNT, place)


def _weakenings(document: dict[str, Any]) -> None:
    if document.get("weakenings") is None:
        return
    from evalgate.reporting.exports.weakenings_doc import WEAKENING

    for weakening, place in _records(document, "weakenings", WEAKENING, ()):
        _maybe(weakening, "location", fields.LOCATION, place)
        _bound(weakening, "scenarios", MAX_SCENARIOS, place)


def _cause(change: dict[str, Any], place: _Place) -> None:
    if change.get("cause") is not None:
        from evalgate.reporting.exports.weakenings_doc import CAUSE

        _maybe(change, "cause", CAUSE, place)


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _bound(parent: Mapping[str, Any], name: str, most: float, place: _Place, least: float = 0) -> None:
    """Nothing that a sum or a test would choke on."""
    if parent[name] is not None and not least <= parent[name] <= most:
        raise _Mistake((*place, name), f"is not between {least:g} and {most:g}")


def _scenario(scenario: dict[str, Any], place: _Place, *, whole: bool) -> None:
    _bound(scenario, "score", 1, place)
    _maybe(scenario, "change", fields.CHANGE, place)
    _maybe(scenario, "location", fields.LOCATION, place)
    change = scenario["change"]
    if change is not None:
        _bound(change, "score_delta", 1, (*place, "change"), least=-1)
        _texts(change, "flags", (*place, "change"))
        _texts(change, "increases", (*place, "change"))
        _maybe(change, "calls", fields.CALLS, (*place, "change"))
        for name in ("before", "now") if change.get("calls") else ():
            _texts(change["calls"], name, (*place, "change", "calls"))
        _cause(change, (*place, "change"))
        if change.get("behaviour") is not None:
            _behaviour(change["behaviour"], (*place, "change", "behaviour"))
    _interval(scenario, "pass_rate_interval", place)
    for trial, at in _records(scenario, "trials", fields.TRIAL, place):
        _bound(trial, "score", 1, at)
        for name in fields.AMOUNTS:
            _bound(trial, name, LARGEST_AMOUNT, at)
        _record(trial["trace"], fields.TRACE, (*at, "trace"))
        _texts(trial, "tool_calls", at)
        if trial.get("pricing") is not None:
            _pricing(trial["pricing"], (*at, "pricing"))
        if whole:
            for assertion, spot in _records(trial, "assertions", fields.ASSERTION, at):
                _maybe(assertion, "location", fields.LOCATION, spot)


def _behaviour(behaviour: dict[str, Any], place: _Place) -> None:
    from evalgate.reporting.exports import behaviour_fields as shapes

    _record(behaviour, shapes.BEHAVIOUR, place)
    _maybe(behaviour, "first", shapes.DEPARTURE, place)
    for name in ("status", "error"):
        _maybe(behaviour, name, shapes.SIDES, place)
    for step, at in _records(behaviour, "steps", shapes.STEP, place):
        for name, shape in shapes.OF_STEP:
            _maybe(step, name, shape, at)
        for _ in _records(step, "changes", shapes.ARGUMENT, at):
            pass
    for name, shape in (("said", shapes.SAID), ("response", shapes.PART)):
        for _ in _records(behaviour, name, shape, place):
            pass
    for figure, at in _records(behaviour, "figures", shapes.FIGURE, place):
        for name in ("before", "now"):
            _bound(figure, name, LARGEST_AMOUNT, at)


def _pricing(pricing: dict[str, Any], place: _Place) -> None:
    _record(pricing, fields.PRICING, place)
    _texts(pricing, "missing_models", place)
    for name in ("usd", *fields.PRICED):
        _bound(pricing, name, LARGEST_AMOUNT, place)
    if pricing["usage"] is None:
        return
    for row, at in _records(pricing, "usage", fields.USAGE, place):
        for name in fields.MODEL_TOKENS:
            _bound(row, name, LARGEST_AMOUNT, at)


def _figures(parent: Mapping[str, Any], place: _Place) -> None:
    """Figures of a suite or of the run, and how they moved."""
    _maybe(parent, "figures", fields.RUN_FIGURES, place)
    figures, at = parent.get("figures"), (*place, "figures")
    if figures is None:
        return
    _amounts(figures, at, least=0)
    for check, spot in _records(figures, "lost_checks", fields.LOST_CHECK, at):
        _bound(check, "weight_lost", LARGEST_SUM, spot)
    _maybe(figures, "delta", fields.DELTA, at)
    if figures["delta"] is not None:
        _interval(figures["delta"], "score_interval", (*at, "delta"))
        _amounts(figures["delta"], (*at, "delta"), least=-1)


def _amounts(figures: Mapping[str, Any], place: _Place, *, least: int) -> None:
    _interval(figures, "pass_rate_interval", place)
    for name in fields.SCORES:
        _bound(figures, name, 1, place, least)
    for name in fields.SUMS:
        _bound(figures, name, LARGEST_SUM, place, least * LARGEST_SUM)
    for each, at in _records(figures, "pass_k", fields.PASS_K, place):
        for name in ("pass_at_k", "pass_hat_k"):
            _bound(each, name, 1, at, least)


def _interval(parent: Mapping[str, Any], name: str, place: _Place) -> None:
    interval = parent[name]
    if interval is not None and [type(end) in fields.NUMBER for end in interval] != [True, True]:
        raise _Mistake((*place, name), "is no pair of numbers")
    if interval is not None and not all(-1 <= end <= 1 for end in interval):
        raise _Mistake((*place, name), "is not between -1 and 1")


def _variants(suite: dict[str, Any], place: _Place) -> None:
    for variant, at in _records(suite, "variants", fields.VARIANT, place):
        for name in ("correct_tool", "correct_count"):
            _record(variant[name], fields.SHARE, (*at, name))
        for name in fields.AMOUNTS:
            _bound(variant, name, LARGEST_AMOUNT, at)


def _record(value: dict[str, Any], shape: Shape, place: _Place) -> None:
    for name, types, when_absent in shape:
        if name in value:
            if type(value[name]) not in types:
                raise _Mistake((*place, name), f"is not {_wanted(types)}")
        elif when_absent == "refused":
            raise _Mistake((*place, name), "is missing")
        elif when_absent == "filled in":
            value[name] = [] if types is fields.LIST else None


def _wanted(types: Types) -> str:
    narrower = {int} if float in types else set()
    return " or ".join(word for kind, word in fields.NAMES.items() if kind in types - narrower)


def _records(
    parent: Mapping[str, Any], name: str, shape: Shape, place: _Place
) -> Iterator[tuple[dict[str, Any], _Place]]:
    for index, value in enumerate(parent[name]):
        at = (*place, name, index)
        if type(value) is not dict:
            raise _Mistake(at, "is not an object")
        _record(value, shape, at)
        yield value, at


def _maybe(parent: Mapping[str, Any], name: str, shape: Shape, place: _Place) -> None:
    if parent.get(name) is not None:
        _record(parent[name], shape, (*place, name))


def _texts(parent: Mapping[str, Any], name: str, place: _Place) -> None:
    if any(type(item) is not str for item in parent[name]):
        raise _Mistake((*place, name), "holds something that is not text")
