"""Converts runs to rows and rows to runs."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from evalgate.errors import SettingError
from evalgate.features.store.adapters.evaluations import dump_issues, parse_issues
from evalgate.features.store.adapters.schema import values as stored_values
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.history.stored_run import (
    RunApproval,
    RunFacts,
    RunIssues,
    RunTotals,
    ScenarioHistoryEntry,
    StoredScenarioRow,
    StoredSuiteRow,
)

if TYPE_CHECKING:
    from sqlalchemy import Row

MAX_RESULTS_BYTES = 256_000_000
"""Limit for unpacked results in bytes, the same as for a results.json file."""
_FASTEST_LEVEL = 1
_FACTS = (
    *("id", "verdict", "exit_code", "report_only", "repository", "branch", "pull_request", "url", "started_at"),
    *("completed_at", "duration_ms", "score", "pass_rate", "cost_usd", "total_tokens", "latency_p50_s"),
    *("latency_p95_s", "not_measured"),
)
_SUITE = (
    *("name", "verdict", "score", "pass_rate", "cost_usd", "total_tokens", "latency_p50_s", "latency_p95_s"),
    *("dimensions", "not_measured"),
)
_SCENARIO = (
    *("verdict", "score", "n", "passed", "pass_rate", "dimensions", "cost_usd", "latency_s", "tokens"),
    *("change", "trace_sha256", "quarantined", "not_measured"),
)


def dump_facts(facts: RunFacts) -> dict[str, Any]:
    """Encodes a run as a row."""
    return {
        **{name: getattr(facts, name) for name in _FACTS},
        **facts.totals._asdict(),
        "suites": list(facts.suites),
        "commit_id": facts.commit,
        "issues": {
            "by_category": dict(facts.issues.by_category),
            "by_severity": dict(facts.issues.by_severity),
            "top": dump_issues(facts.issues.top),
        },
        **dump_approval(facts.approval),
    }


def dump_approval(approval: RunApproval) -> dict[str, Any]:
    """Encodes the decision about a run as columns of its row."""
    return {
        "approval_status": approval.status,
        "approved_by": approval.approved_by,
        "approval_comment": approval.comment,
        "approval_at": approval.at,
    }


def parse_facts(row: Row[Any]) -> RunFacts:
    """Decodes a run from its row."""
    data = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    issues = stored_values.mapping(data["issues"])
    counts = (
        stored_values.counts(issues.get("by_category")),
        stored_values.counts(issues.get("by_severity")),
    )
    plain: dict[str, Any] = {name: data[name] for name in _FACTS}
    return RunFacts(
        **plain,
        suites=stored_values.texts(data["suites"]),
        commit=data["commit_id"],
        totals=RunTotals(*(data[name] for name in RunTotals._fields)),
        issues=RunIssues(*counts, parse_issues(issues.get("top"))),
        approval=parse_approval(row),
    )


def parse_approval(row: Row[Any]) -> RunApproval:
    """Decodes the decision about a run from a row with its columns."""
    return RunApproval(row.approval_status, row.approved_by, row.approval_comment, row.approval_at)


def dump_suite(suite: StoredSuiteRow) -> dict[str, Any]:
    """Encodes a suite as a row, without the run."""
    return {name: getattr(suite, name) for name in _SUITE} | {"dimensions": dict(suite.dimensions)}


def parse_suite(row: Row[Any]) -> StoredSuiteRow:
    """Decodes a suite from its row."""
    data = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    plain: dict[str, Any] = {name: data[name] for name in _SUITE}
    return StoredSuiteRow(**plain | {"dimensions": stored_values.scores(data["dimensions"])})


def dump_scenario(scenario: StoredScenarioRow) -> dict[str, Any]:
    """Encodes a scenario as a row, without run and scenario number."""
    return {name: getattr(scenario, name) for name in _SCENARIO} | {"dimensions": dict(scenario.dimensions)}


def parse_scenario(row: Row[Any]) -> StoredScenarioRow:
    """Decodes a scenario from its row joined with its name."""
    data = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    plain: dict[str, Any] = {name: data[name] for name in _SCENARIO}
    plain["dimensions"] = stored_values.scores(data["dimensions"])
    return StoredScenarioRow(key=ScenarioKey(data["suite"], data["scenario_id"], data["variant"]), **plain)


def parse_sighting(row: Row[Any]) -> ScenarioHistoryEntry:
    """Decodes a scenario in a run from their joined rows."""
    data = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    return ScenarioHistoryEntry(
        data["run_id"], data["completed_at"], data["branch"], data["commit_id"], parse_scenario(row)
    )


def pack(results: bytes) -> bytes:
    """Compresses a results document."""
    return zlib.compress(results, _FASTEST_LEVEL)


def unpack(packed: bytes, max_bytes: int = MAX_RESULTS_BYTES) -> bytes:
    """Decompresses a results document; raises SettingError if it is damaged or too large."""
    inflater = zlib.decompressobj()
    try:
        results = inflater.decompress(packed, max_bytes)
    except zlib.error:
        raise SettingError("the results of a stored run are damaged") from None
    if not inflater.eof:
        raise SettingError("the results of a stored run are damaged, or larger than those of any run")
    return results
