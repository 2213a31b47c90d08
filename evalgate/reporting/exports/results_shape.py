"""Whether a value has the shape of `evalgate.results/1`; checked by hand, for a baseline must load fast.

Fields that later versions of the document added may be absent and are filled in; fields nobody knows stay.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.models.results import SCHEMA
from evalgate.models.run import MAX_SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_SHOWN = 60
LARGEST_AMOUNT = 1e15
_AMOUNTS = ("cost_usd", "latency_seconds", "total_tokens")

_Types = frozenset[type]
_TEXT: _Types = frozenset({str})
_MAYBE_TEXT: _Types = frozenset({str, type(None)})
_NUMBER: _Types = frozenset({int, float})
_MAYBE_NUMBER: _Types = frozenset({int, float, type(None)})
_COUNT: _Types = frozenset({int})
_MAYBE_COUNT: _Types = frozenset({int, type(None)})
_FLAG: _Types = frozenset({bool})
_LIST: _Types = frozenset({list})
_MAYBE_LIST: _Types = frozenset({list, type(None)})
_RECORD: _Types = frozenset({dict})
_MAYBE_RECORD: _Types = frozenset({dict, type(None)})
_NAMES = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
VERDICTS = frozenset({"pass", "fail", "cannot_judge", "invalid"})


class _Field(NamedTuple):
    name: str
    types: _Types
    when_absent: Literal["refused", "filled in", "fine"] = "refused"


_Shape = tuple[_Field, ...]


def _optional(types: _Types, *names: str) -> _Shape:
    return tuple(_Field(name, types, when_absent="filled in") for name in names)


def _needed(types: _Types, *names: str) -> _Shape:
    return tuple(_Field(name, types) for name in names)


_DOCUMENT: _Shape = (
    *_needed(_TEXT, "evalgate_version", "created_at", "verdict"),
    *_needed(_COUNT, "exit_code"),
    *_needed(_FLAG, "report_only"),
    *_needed(_LIST, "reasons", "suites", "removed", "unclaimed", "warnings", "approvals"),
    *_needed(_MAYBE_RECORD, "summary", "baseline"),
    *_optional(_MAYBE_TEXT, "commit"),
)
_SUMMARY: _Shape = (
    *_needed(
        _COUNT,
        *("scenarios", "passed", "failed", "partial", "hard_fails", "missing", "errors", "not_evaluable"),
        *("skipped", "regressions", "improvements", "regressed", "broken", "improved", "fixed", "new"),
        *("removed", "inconclusive"),
    ),
    *_optional(_MAYBE_NUMBER, "score", "pass_rate", "cost_usd", "latency_p50_s", "latency_p95_s"),
    *_optional(_MAYBE_COUNT, "total_tokens"),
)
_BASELINE: _Shape = (
    *_needed(_TEXT, "status"),
    *_optional(_MAYBE_TEXT, "sha", "path"),
    *_optional(_MAYBE_COUNT, "age_seconds", "distance"),
    *_optional(_MAYBE_RECORD, "summary"),
)
_REASON: _Shape = (
    *_needed(_TEXT, "code", "message"),
    *(_Field(name, _MAYBE_TEXT, "fine") for name in ("suite", "scenario", "variant")),
    _Field("location", _MAYBE_RECORD, "fine"),
)
_SUITE: _Shape = (
    *_needed(_TEXT, "suite", "path", "verdict"),
    *_optional(_MAYBE_NUMBER, "score"),
    *_needed(_LIST, "scenarios"),
)
_SCENARIO: _Shape = (
    *_needed(_TEXT, "id", "verdict"),
    *_needed(_NUMBER, "threshold"),
    *_needed(_COUNT, "n"),
    *_needed(_LIST, "trials"),
    *_optional(_MAYBE_TEXT, "variant", "reason"),
    *_optional(_MAYBE_NUMBER, "score", "pass_rate"),
    *_optional(_MAYBE_LIST, "pass_rate_interval"),
    *_optional(_MAYBE_RECORD, "dimensions", "location", "change"),
)
_CHANGE: _Shape = (
    *_needed(_TEXT, "kind", "reason"),
    *_needed(_LIST, "flags"),
    *_optional(_LIST, "increases"),
    *_optional(_MAYBE_NUMBER, "score_delta", "p_value"),
    *_optional(_MAYBE_TEXT, "previous_verdict"),
)
_TRIAL: _Shape = (
    *_needed(_COUNT, "trial"),
    *_needed(_RECORD, "trace"),
    *_needed(_TEXT, "status"),
    *_needed(_LIST, "assertions"),
    *_optional(_LIST, "tool_calls"),
    *_optional(_MAYBE_NUMBER, "score", "cost_usd", "latency_seconds"),
    *_optional(_MAYBE_COUNT, "total_tokens"),
    *_optional(_MAYBE_TEXT, "reason"),
)
_TRACE: _Shape = (
    *_needed(_TEXT, "path", "format"),
    *_optional(_MAYBE_TEXT, "id", "sha256"),
    *_optional(_MAYBE_COUNT, "line", "record"),
)
_ASSERTION: _Shape = (
    *_needed(_TEXT, "name", "type", "outcome", "reason"),
    *_needed(_NUMBER, "score", "weight"),
    *_needed(_FLAG, "required"),
    *_optional(_MAYBE_RECORD, "location", "evidence"),
)
_LOCATION: _Shape = (*_needed(_TEXT, "file"), *_optional(_MAYBE_COUNT, "line", "column"))
_REMOVED: _Shape = (
    *_needed(_TEXT, "suite", "id", "verdict"),
    *_optional(_MAYBE_TEXT, "variant"),
    *_optional(_MAYBE_NUMBER, "score"),
)
_UNCLAIMED: _Shape = (
    *_needed(_TEXT, "suite", "path"),
    *_optional(_MAYBE_TEXT, "id", "scenario_id"),
    *_optional(_MAYBE_COUNT, "line", "record"),
)
_WARNING: _Shape = (*_needed(_TEXT, "code", "message"), *_optional(_MAYBE_TEXT, "where"))


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
        for suite, at in _records(document, "suites", _SUITE, ()):
            scenarios += len(suite["scenarios"])
            if scenarios > MAX_SCENARIOS:
                raise _Mistake((), f"it holds more than {MAX_SCENARIOS:,} scenarios")
            for scenario, place in _records(suite, "scenarios", _SCENARIO, at):
                _scenario(scenario, place, whole=whole)
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
    _record(document, _DOCUMENT, ())
    if not _is_moment(document["created_at"]):
        raise _Mistake(("created_at",), "is no RFC 3339 time")
    if document["verdict"] not in VERDICTS:
        raise _Mistake(("verdict",), "is none of " + ", ".join(sorted(VERDICTS)))
    if document["summary"] is None and document["verdict"] != "invalid":
        raise _Mistake(("summary",), "is null, and only an invalid run has none")
    _maybe(document, "summary", _SUMMARY, ())
    _maybe(document, "baseline", _BASELINE, ())
    if document["baseline"] is not None:
        _maybe(document["baseline"], "summary", _SUMMARY, ("baseline",))
    _lists(document)


def _lists(document: dict[str, Any]) -> None:
    for reason, place in _records(document, "reasons", _REASON, ()):
        _maybe(reason, "location", _LOCATION, place)
    for removed, place in _records(document, "removed", _REMOVED, ()):
        _bound(removed, "score", 1, place)
    for name, shape in (("unclaimed", _UNCLAIMED), ("warnings", _WARNING)):
        for _ in _records(document, name, shape, ()):
            pass


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _bound(parent: Mapping[str, Any], name: str, most: float, place: _Place) -> None:
    """Nothing that a sum or a test would choke on."""
    if parent[name] is not None and not 0 <= parent[name] <= most:
        raise _Mistake((*place, name), f"is not between 0 and {most:g}")


def _scenario(scenario: dict[str, Any], place: _Place, *, whole: bool) -> None:
    _bound(scenario, "score", 1, place)
    _maybe(scenario, "change", _CHANGE, place)
    _maybe(scenario, "location", _LOCATION, place)
    change = scenario["change"]
    if change is not None:
        _texts(change, "flags", (*place, "change"))
        _texts(change, "increases", (*place, "change"))
    interval = scenario["pass_rate_interval"]
    if interval is not None and [type(end) in _NUMBER for end in interval] != [True, True]:
        raise _Mistake((*place, "pass_rate_interval"), "is no pair of numbers")
    for trial, at in _records(scenario, "trials", _TRIAL, place):
        _bound(trial, "score", 1, at)
        for name in _AMOUNTS:
            _bound(trial, name, LARGEST_AMOUNT, at)
        _record(trial["trace"], _TRACE, (*at, "trace"))
        _texts(trial, "tool_calls", at)
        if whole:
            for assertion, spot in _records(trial, "assertions", _ASSERTION, at):
                _maybe(assertion, "location", _LOCATION, spot)


def _record(value: dict[str, Any], shape: _Shape, place: _Place) -> None:
    for name, types, when_absent in shape:
        if name in value:
            if type(value[name]) not in types:
                raise _Mistake((*place, name), f"is not {_wanted(types)}")
        elif when_absent == "refused":
            raise _Mistake((*place, name), "is missing")
        elif when_absent == "filled in":
            value[name] = [] if types is _LIST else None


def _wanted(types: _Types) -> str:
    narrower = {int} if float in types else set()
    return " or ".join(word for kind, word in _NAMES.items() if kind in types - narrower)


def _records(
    parent: Mapping[str, Any], name: str, shape: _Shape, place: _Place
) -> Iterator[tuple[dict[str, Any], _Place]]:
    for index, value in enumerate(parent[name]):
        at = (*place, name, index)
        if type(value) is not dict:
            raise _Mistake(at, "is not an object")
        _record(value, shape, at)
        yield value, at


def _maybe(parent: Mapping[str, Any], name: str, shape: _Shape, place: _Place) -> None:
    if parent.get(name) is not None:
        _record(parent[name], shape, (*place, name))


def _texts(parent: Mapping[str, Any], name: str, place: _Place) -> None:
    if any(type(item) is not str for item in parent[name]):
        raise _Mistake((*place, name), "holds something that is not text")
