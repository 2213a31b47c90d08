"""The tables of runs: one row per run, per suite of a run, per scenario of a run."""

from __future__ import annotations

from typing import get_args

from sqlalchemy import JSON, Boolean, Column, ForeignKey, Index, Integer, Table, false

from evalgate.adapters.store.schema.column_types import (
    METADATA,
    Amount,
    Blob,
    CleanText,
    EnumText,
    Integer64,
    Key,
    Score,
    UtcDateTime,
    require_one_of,
    require_scores,
)
from evalgate.models.comparison.comparison import ChangeKind
from evalgate.models.comparison.decision import GateVerdict
from evalgate.models.run.run import Verdict
from evalgate.models.store.stored_run import APPROVAL_STATES

RUNS = Table(
    "evalgate_runs",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("id", Key, nullable=False, unique=True),
    Column("suites", JSON, nullable=False),
    Column("verdict", EnumText(*get_args(GateVerdict)), nullable=False),
    Column("exit_code", Integer64, nullable=False),
    Column("report_only", Boolean, nullable=False),
    Column("branch", Key),
    Column("commit_id", Key),
    Column("pull_request", Integer64),
    Column("url", CleanText),
    Column("started_at", UtcDateTime, nullable=False),
    Column("completed_at", UtcDateTime, nullable=False),
    Column("duration_ms", Integer64, nullable=False),
    Column("evaluated", Integer64, nullable=False),
    Column("passed", Integer64, nullable=False),
    Column("failed", Integer64, nullable=False),
    Column("avg_score", Score),
    Column("regressions", Integer64, nullable=False),
    Column("improvements", Integer64, nullable=False),
    Column("degradations", Integer64, nullable=False),
    Column("score", Score),
    Column("pass_rate", Score),
    Column("cost_usd", Amount),
    Column("total_tokens", Integer64),
    Column("latency_p50_s", Amount),
    Column("latency_p95_s", Amount),
    Column("issues", JSON, nullable=False),
    Column("approval_status", EnumText(*APPROVAL_STATES), nullable=False),
    Column("approved_by", CleanText),
    Column("approval_comment", CleanText, nullable=False),
    Column("approval_at", UtcDateTime),
    Column("not_measured", Integer64, nullable=False, server_default="0"),
    require_one_of("verdict", get_args(GateVerdict), "run_verdict_is_known"),
    require_one_of("approval_status", APPROVAL_STATES, "run_approval_status_is_known"),
    *require_scores("run", ["avg_score", "score", "pass_rate"]),
    Index("evalgate_runs_by_time", "completed_at", "number"),
    Index("evalgate_runs_by_branch", "branch", "completed_at"),
)

RUN_RESULTS = Table(
    "evalgate_run_results",
    METADATA,
    Column("run", Integer, ForeignKey(RUNS.c.number, ondelete="CASCADE"), primary_key=True),
    Column("results", Blob, nullable=False),
)

RUN_SUITES = Table(
    "evalgate_run_suites",
    METADATA,
    Column("run", Integer, ForeignKey(RUNS.c.number, ondelete="CASCADE"), primary_key=True),
    Column("name", Key, primary_key=True),
    Column("position", Integer64, nullable=False),
    Column("verdict", EnumText(*get_args(GateVerdict)), nullable=False),
    Column("score", Score),
    Column("pass_rate", Score),
    Column("cost_usd", Amount),
    Column("total_tokens", Integer64),
    Column("latency_p50_s", Amount),
    Column("latency_p95_s", Amount),
    Column("dimensions", JSON, nullable=False),
    Column("branch", Key),
    Column("completed_at", UtcDateTime, nullable=False),
    Column("not_measured", Integer64, nullable=False, server_default="0"),
    require_one_of("verdict", get_args(GateVerdict), "run_suite_verdict_is_known"),
    *require_scores("run_suite", ["score", "pass_rate"]),
    Index("evalgate_run_suites_by_name", "name", "completed_at", "run"),
    Index("evalgate_run_suites_by_branch", "name", "branch", "completed_at", "run"),
)

SCENARIOS = Table(
    "evalgate_scenarios",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("digest", CleanText, nullable=False, unique=True),
    Column("suite", Key, nullable=False),
    Column("scenario_id", CleanText, nullable=False),
    Column("variant", CleanText),
    Index("evalgate_scenarios_by_suite", "suite"),
)

RUN_SCENARIOS = Table(
    "evalgate_run_scenarios",
    METADATA,
    Column("run", Integer, ForeignKey(RUNS.c.number, ondelete="CASCADE"), primary_key=True),
    Column("scenario", Integer, ForeignKey(SCENARIOS.c.number), primary_key=True),
    Column("position", Integer64, nullable=False),
    Column("verdict", EnumText(*get_args(Verdict)), nullable=False),
    Column("score", Score),
    Column("n", Integer64, nullable=False),
    Column("passed", Integer64, nullable=False),
    Column("pass_rate", Score),
    Column("dimensions", JSON, nullable=False),
    Column("cost_usd", Amount),
    Column("latency_s", Amount),
    Column("tokens", Amount),
    Column("change", EnumText(*get_args(ChangeKind))),
    Column("trace_sha256", Key),
    Column("branch", Key),
    Column("completed_at", UtcDateTime, nullable=False),
    Column("quarantined", Boolean, nullable=False, server_default=false()),
    Column("not_measured", Integer64, nullable=False, server_default="0"),
    require_one_of("verdict", get_args(Verdict), "run_scenario_verdict_is_known"),
    require_one_of("change", get_args(ChangeKind), "run_scenario_change_is_known"),
    *require_scores("run_scenario", ["score", "pass_rate"]),
    Index("evalgate_run_scenarios_by_time", "scenario", "completed_at", "run"),
    Index("evalgate_run_scenarios_by_branch", "scenario", "branch", "completed_at", "run"),
    Index("evalgate_run_scenarios_by_trace", "trace_sha256"),
)
