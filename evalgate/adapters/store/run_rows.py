"""Converts runs to rows and rows to runs."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from evalgate.adapters.store.evaluations import issue_values, issues_of
from evalgate.adapters.store.schema import stored_values
from evalgate.errors import SettingError
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.store.stored_run import (
    RunApproval,
    RunFacts,
    RunIssues,
    RunTotals,
    Sighting,
    StoredScenarioRow,
    StoredSuiteRow,
)

if TYPE_CHECKING:
    from sqlalchemy import Row

MOST_RESULTS = 256_000_000
"""Limit for unpacked results in bytes, the same as for a results.json file."""
_QUICKLY = 1
_FACTS = (
    *("id", "verdict", "exit_code", "report_only", "branch", "pull_request", "url", "started_at"),
    *("completed_at", "duration_ms", "score", "pass_rate", "cost_usd", "total_tokens", "latency_p50_s"),
    "latency_p95_s",
)
_SUITE = (
    *("name", "verdict", "score", "pass_rate", "cost_usd", "total_tokens", "latency_p50_s", "latency_p95_s"),
    "dimensions",
)
_SCENARIO = (
    *("verdict", "score", "n", "passed", "pass_rate", "dimensions", "cost_usd", "latency_s", "tokens"),
    *("change", "trace_sha256", "quarantined"),
)


def facts_values(facts: RunFacts) -> dict[str, Any]:
    """Encodes a run as a row."""
    return {
        **{name: getattr(facts, name) for name in _FACTS},
        **facts.totals._asdict(),
        "suites": list(facts.suites),
        "commit_id": facts.commit,
        "issues": {
            "by_category": dict(facts.issues.by_category),
            "by_severity": dict(facts.issues.by_severity),
            "top": issue_values(facts.issues.top),
        },
        **approval_values(facts.approval),
    }


def approval_values(approval: RunApproval) -> dict[str, Any]:
    """Encodes the decision about a run as columns of its row."""
    return {
        "approval_status": approval.status,
        "approved_by": approval.approved_by,
        "approval_comment": approval.comment,
        "approval_at": approval.at,
    }


def facts_of(row: Row[Any]) -> RunFacts:
    """Decodes a run from its row."""
    told = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    issues = stored_values.mapping(told["issues"])
    counted = (
        stored_values.counts(issues.get("by_category")),
        stored_values.counts(issues.get("by_severity")),
    )
    plain: dict[str, Any] = {name: told[name] for name in _FACTS}
    return RunFacts(
        **plain,
        suites=stored_values.texts(told["suites"]),
        commit=told["commit_id"],
        totals=RunTotals(*(told[name] for name in RunTotals._fields)),
        issues=RunIssues(*counted, issues_of(issues.get("top"))),
        approval=approval_of(row),
    )


def approval_of(row: Row[Any]) -> RunApproval:
    """Decodes the decision about a run from a row with its columns."""
    return RunApproval(row.approval_status, row.approved_by, row.approval_comment, row.approval_at)


def suite_values(suite: StoredSuiteRow) -> dict[str, Any]:
    """Encodes a suite as a row, without the run."""
    return {name: getattr(suite, name) for name in _SUITE} | {"dimensions": dict(suite.dimensions)}


def suite_of(row: Row[Any]) -> StoredSuiteRow:
    """Decodes a suite from its row."""
    told = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    plain: dict[str, Any] = {name: told[name] for name in _SUITE}
    return StoredSuiteRow(**plain | {"dimensions": stored_values.scores(told["dimensions"])})


def scenario_values(scenario: StoredScenarioRow) -> dict[str, Any]:
    """Encodes a scenario as a row, without run and scenario number."""
    return {name: getattr(scenario, name) for name in _SCENARIO} | {"dimensions": dict(scenario.dimensions)}


def scenario_of(row: Row[Any]) -> StoredScenarioRow:
    """Decodes a scenario from its row joined with its name."""
    told = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    plain: dict[str, Any] = {name: told[name] for name in _SCENARIO}
    plain["dimensions"] = stored_values.scores(told["dimensions"])
    return StoredScenarioRow(key=ScenarioKey(told["suite"], told["scenario_id"], told["variant"]), **plain)


def sighting_of(row: Row[Any]) -> Sighting:
    """Decodes a scenario in a run from their joined rows."""
    told = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    return Sighting(told["run_id"], told["completed_at"], told["branch"], told["commit_id"], scenario_of(row))


def pack(results: bytes) -> bytes:
    """Compresses a results document."""
    return zlib.compress(results, _QUICKLY)


def unpack(packed: bytes, most: int = MOST_RESULTS) -> bytes:
    """Decompresses a results document; raises SettingError if it is damaged or too large."""
    inflater = zlib.decompressobj()
    try:
        results = inflater.decompress(packed, most)
    except zlib.error:
        raise SettingError("the results of a stored run are damaged") from None
    if not inflater.eof:
        raise SettingError("the results of a stored run are damaged, or larger than any run would leave")
    return results
