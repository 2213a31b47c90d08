"""Builds `standings.json` from results, and reads it back as untrusted data."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from evalgate.errors import OverLimit, SettingError
from evalgate.models.comparison.baseline_run import build_baseline_run
from evalgate.models.results.document_names import STANDINGS_SCHEMA
from evalgate.models.run.run import AgentParts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, TrialDoc
    from evalgate.models.results.standings import ResultsIdentity, ScenarioColumns, StandingsDoc, TrialColumnsDoc

MAX_BYTES = 64_000_000
MAX_CONTAINERS, MAX_VALUES = 1_000_000, 15_000_000
"""Most brackets and commas, as for results."""


class _IndexTable:
    """Distinct values, each with the index of its first occurrence; entries refer to that index."""

    def __init__(self) -> None:
        self._indexes: dict[Any, int] = {}

    def index_of(self, value: Any) -> int:
        return self._indexes.setdefault(value, len(self._indexes))

    def list_values(self) -> list[Any]:
        return list(self._indexes)


def standings_of_results(document: ResultsDoc) -> StandingsDoc:
    """Builds what a comparison reads of a finished run; each trial is decoded once and not kept."""
    texts, calls, agents = _IndexTable(), _IndexTable(), _IndexTable()
    scenarios = [each for suite in document["suites"] for each in suite["scenarios"]]
    rows = [
        [_row(trial, texts, calls, agents) for trial in each["trials"] if _is_measured(trial)] for each in scenarios
    ]
    found: StandingsDoc = {
        "schema": STANDINGS_SCHEMA,
        "created_at": document["created_at"],
        "commit": document["commit"],
        "summary": document["summary"],
        "approvals": document["approvals"],
        "suites": [{"suite": suite["suite"], "scenarios": len(suite["scenarios"])} for suite in document["suites"]],
        "scenarios": _scenario_columns(scenarios, list(map(len, rows)), texts),
        "trials": _trial_columns(chain.from_iterable(rows)),
        "texts": texts.list_values(),
        "calls": [list(names) for names in calls.list_values()],
    }
    if any(map(any, agents.list_values())):
        found["agents"] = [list(parts) for parts in agents.list_values()]
    else:
        del found["trials"]["agent"]
    return found


def build_baseline_from_results(document: ResultsDoc, fingerprint: str = "") -> BaselineRun:
    """Builds the baseline of a comparison from a results document."""
    return build_baseline_run(standings_of_results(document), document, fingerprint)


def _scenario_columns(scenarios: Sequence[ScenarioDoc], counts: list[int], texts: _IndexTable) -> ScenarioColumns:
    columns: ScenarioColumns = {
        "id": [each["id"] for each in scenarios],
        "variant": _omit_if_unknown([each["variant"] for each in scenarios]),
        "verdict": [texts.index_of(each["verdict"]) for each in scenarios],
        "score": _omit_if_unknown([each["score"] for each in scenarios]),
        "n": counts,
        "unread": [
            place for place, each in enumerate(scenarios) if each["verdict"] == "ERROR" and each["location"] is None
        ],
    }
    unmeasured = [
        place
        for place, (each, count) in enumerate(zip(scenarios, counts, strict=True))
        if each["verdict"] == "NOT_EVALUABLE" and count < len(each["trials"])
    ]
    if unmeasured:
        columns["unmeasured"] = unmeasured
    return columns


def _is_measured(trial: TrialDoc) -> bool:
    return trial["status"] != "not_measured"


def _row(trial: TrialDoc, texts: _IndexTable, calls: _IndexTable, agents: _IndexTable) -> tuple[Any, ...]:
    trace = trial["trace"]
    return (
        *(trial["trial"], trial["status"] == "passed", trial["score"], trial["cost_usd"]),
        *(trial["latency_seconds"], trial.get("total_tokens"), calls.index_of(tuple(trial["tool_calls"]))),
        *(texts.index_of(trace["path"]), trace["line"], trace["record"], trial.get("pricing")),
        agents.index_of(tuple(trace.get(name) for name in AgentParts._fields)),
    )


def _trial_columns(rows: Iterable[tuple[Any, ...]]) -> TrialColumnsDoc:
    columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(12)]
    numbers, passed, scores, costs, latencies, tokens, calls, paths, lines, records, pricing, agents = columns
    found: TrialColumnsDoc = {
        "trial": numbers,
        "passed": passed,
        "score": _omit_if_unknown(scores),
        "cost_usd": _omit_if_unknown(costs),
        "latency_seconds": _omit_if_unknown(latencies),
        "total_tokens": _omit_if_unknown(tokens),
        "tool_calls": calls,
        "path": paths,
        "line": _omit_if_unknown(lines),
        "record": _omit_if_unknown(records),
        "agent": agents,
    }
    if any(pricing):
        found["pricing"] = pricing
    return found


def _omit_if_unknown(column: list[Any]) -> list[Any] | None:
    """Returns a column, or None if it has no known value."""
    return column if column.count(None) < len(column) else None


def dump_standings(document: StandingsDoc, results: ResultsIdentity) -> bytes | None:
    """Encodes the document with the identity of its results; None if it is too large to be read back."""
    import orjson

    content = orjson.dumps({**document, "results": results})
    return content if len(content) <= MAX_BYTES else None


def load_standings(data: bytes, results: ResultsIdentity, *, what: str = "standings.json") -> StandingsDoc:
    """Reads a document back; checks each column, and that it belongs to these results.

    Raises SettingError, which names `what` and the wrong field, and OverLimit.
    """
    import orjson

    from evalgate.reporting.results.standings_shape import check_standings

    if data.count(b"[") + data.count(b"{") > MAX_CONTAINERS or data.count(b",") > MAX_VALUES:
        raise OverLimit(f"{what} holds more values than any run writes")
    try:
        document: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise SettingError(f"{what} is not valid JSON: error at line {error.lineno}, column {error.colno}") from None
    problem = check_standings(document)
    if problem:
        raise SettingError(f"{what} is not a valid {STANDINGS_SCHEMA} document: {problem}")
    if document["results"] != results:
        raise SettingError(f"{what} does not belong to the results.json next to it")
    return cast("StandingsDoc", document)
