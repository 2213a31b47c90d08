"""Results documents for tests in a line or two, always in the schema that the gate writes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import convert

from evalgate.models.comparison.comparison import CallsDiff, Cause
from evalgate.models.comparison.trajectory import TrajectoryDiff
from evalgate.models.results.document_names import RESULTS_SCHEMA
from evalgate.models.run.trial_doc import AssertionDoc, LocationDoc, TrialDoc

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc

FIELDS = {
    "PASS": "passed",
    "FAIL": "failed",
    "PARTIAL": "partial",
    "HARD_FAIL": "hard_fails",
    "MISSING": "missing",
    "ERROR": "errors",
    "NOT_EVALUABLE": "not_evaluable",
}
STATUS = {"PASS": "passed", "HARD_FAIL": "hard_fail", "ERROR": "error", "NOT_EVALUABLE": "not_evaluable"}
KINDS = ("regressed", "broken", "improved", "fixed", "new", "inconclusive")


def an_assertion(name: str = "check", outcome: str = "passed", **changes: Any) -> AssertionDoc:
    fields = {
        "name": name,
        "type": "jmespath",
        "outcome": outcome,
        "score": 1.0 if outcome == "passed" else 0.0,
        "weight": 1.0,
        "required": False,
        "reason": "as expected" if outcome == "passed" else "response.content lacks 'refund'",
        "location": LocationDoc("evals/support.yaml", 12, 9),
        "evidence": None,
        **changes,
    }
    return convert(fields, AssertionDoc)


def a_trace(number: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"t{number}",
        "path": f"traces/{number}.json",
        "format": "native",
        "sha256": "0" * 64,
        "line": None,
        "record": None,
        **changes,
    }


def a_trial(number: int = 0, status: str = "passed", **changes: Any) -> TrialDoc:
    fields = {
        "trial": number,
        "trace": a_trace(number),
        "status": status,
        "score": 1.0 if status == "passed" else 0.0,
        "cost_usd": 0.01,
        "latency_seconds": 2.0,
        "total_tokens": 900,
        "input_tokens": 800,
        "output_tokens": 100,
        "tool_calls": ["lookup_order"],
        "reason": None,
        "assertions": [an_assertion(outcome="passed" if status == "passed" else "failed")],
        **changes,
    }
    return convert(fields, TrialDoc)


def a_change(kind: str, **changes: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "flags": [],
        "score_delta": None,
        "reason": f"it is {kind}",
        "increases": [],
        "previous_verdict": None,
        "p_value": None,
        **{name: convert(value, RECORDS[name]) if name in RECORDS else value for name, value in changes.items()},
    }


RECORDS = {"behaviour": TrajectoryDiff, "calls": CallsDiff, "cause": Cause}
"""The fields of a change that are records; tests write them as they are in a document, too."""


def some_calls(before: list[str], now: list[str]) -> CallsDiff:
    return CallsDiff(0, before, 0, now)


def a_scenario(id_: str = "refund", verdict: str = "PASS", change: Any = None, **changes: Any) -> dict[str, Any]:
    trials = [] if verdict == "MISSING" else [a_trial(0, STATUS.get(verdict, "failed"))]
    trials = changes.pop("trials", trials)
    passed = sum(trial.status == "passed" for trial in trials)
    return {
        "id": id_,
        "variant": None,
        "verdict": verdict,
        "score": 1.0 if verdict == "PASS" else 0.0,
        "threshold": 0.8,
        "n": len(trials),
        "pass_rate": passed / len(trials) if trials else None,
        "pass_rate_interval": None,
        "dimensions": None,
        "reason": None,
        "location": LocationDoc("evals/support.yaml", 7, 5),
        "change": a_change(change) if isinstance(change, str) else change,
        "trials": trials,
        **changes,
    }


def a_suite(name: str, scenarios: list[dict[str, Any]], verdict: str = "pass") -> dict[str, Any]:
    scores = [scenario["score"] or 0.0 for scenario in scenarios]
    return {
        "suite": name,
        "path": f"evals/{name}.yaml",
        "verdict": verdict,
        "score": sum(scores) / len(scores) if scores else None,
        "scenarios": scenarios,
        "variants": [],
    }


def some_figures(scenarios: int = 20, **changes: Any) -> dict[str, Any]:
    return {
        "scenarios": scenarios,
        "trials": 4 * scenarios,
        "pass_rate": 0.75,
        "pass_rate_interval": [0.53, 0.89],
        "pass_k": [
            {"k": 1, "pass_at_k": 0.8, "pass_hat_k": 0.8},
            {"k": 4, "pass_at_k": 0.95, "pass_hat_k": 0.6},
        ],
        "score": 0.82,
        "score_min": 0.1,
        "score_p50": 0.9,
        "score_p95": 1.0,
        "cost_usd": 1.6,
        "cost_mean_usd": 0.02,
        "total_tokens": 72_000,
        "tokens_mean": 900.0,
        "latency_p50_s": 2.0,
        "latency_p95_s": 4.5,
        "lost_checks": [],
        "delta": None,
        **changes,
    }


def a_delta(**changes: Any) -> dict[str, Any]:
    return {
        "scenarios": 18,
        "pass_rate": -0.1,
        "pass_rate_interval": [-0.25, 0.06],
        "pass_k": [
            {"k": 1, "pass_at_k": -0.1, "pass_hat_k": -0.1},
            {"k": 4, "pass_at_k": 0.0, "pass_hat_k": -0.2},
        ],
        "score": -0.04,
        "score_interval": [-0.1, 0.02],
        "score_min": 0.0,
        "score_p50": 0.0,
        "score_p95": 0.0,
        "cost_usd": 0.4,
        "cost_mean_usd": 0.005,
        "total_tokens": -800,
        "tokens_mean": -10.0,
        "latency_p50_s": 0.25,
        "latency_p95_s": None,
        **changes,
    }


def a_lost_check(name: str = "check", **changes: Any) -> dict[str, Any]:
    return {
        "suite": "support",
        "name": name,
        "type": "jmespath",
        "required": True,
        "failed": 12,
        "scenarios": 5,
        "weight_lost": 10.5,
        **changes,
    }


def a_variant(name: str = "flat", **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "scenarios": 4,
        "passed": 3,
        "pass_rate": 0.75,
        "trials": 4,
        "correct_tool": {"held": 4, "of": 4},
        "correct_count": {"held": 3, "of": 4},
        "input_tokens": 1200.25,
        "output_tokens": 80.0,
        "total_tokens": 1280.25,
        "cost_usd": 0.012,
        "latency_seconds": 2.5,
        **changes,
    }


def a_reason(code: str, message: str, **changes: Any) -> dict[str, Any]:
    return {"code": code, "message": message, **changes}


def results(
    suites: list[dict[str, Any]], verdict: str = "pass", exit_code: int | None = None, **changes: Any
) -> ResultsDoc:
    codes = {"pass": 0, "fail": 1, "cannot_judge": 3, "invalid": 2}
    document: Any = {
        "schema": RESULTS_SCHEMA,
        "evalgate_version": "0.1.0",
        "created_at": "2026-01-02T03:04:05Z",
        "commit": "c0ffee" + "0" * 34,
        "verdict": verdict,
        "exit_code": codes[verdict] if exit_code is None else exit_code,
        "report_only": False,
        "reasons": [],
        "summary": None if verdict == "invalid" else _summary(suites, len(changes.get("removed", []))),
        "baseline": None,
        "suites": suites,
        "removed": [],
        "unclaimed": [],
        "warnings": [],
        "approvals": [],
        "command": "evalgate run suite.yaml",
        **changes,
    }
    return document


def a_baseline(status: str = "exact", **changes: Any) -> dict[str, Any]:
    sha = None if status in ("none", "unreachable", "expired") else "ba5e" + "0" * 36
    return {
        "status": status,
        "sha": sha,
        "age_seconds": 7200,
        "path": None,
        "distance": None,
        "summary": None,
        **changes,
    }


def _summary(suites: list[dict[str, Any]], removed: int) -> dict[str, Any]:
    scenarios = [scenario for suite in suites for scenario in suite["scenarios"]]
    trials = [trial for scenario in scenarios for trial in scenario["trials"]]
    kinds = Counter(scenario["change"]["kind"] for scenario in scenarios if scenario["change"])
    costs = [trial.cost_usd for trial in trials]
    verdicts = Counter(scenario["verdict"] for scenario in scenarios)
    known = sorted(trial.latency_seconds for trial in trials if trial.latency_seconds is not None)
    return {
        "scenarios": len(scenarios),
        **{field: verdicts[verdict] for verdict, field in FIELDS.items()},
        "skipped": 0,
        "regressions": kinds["regressed"] + kinds["broken"],
        "improvements": kinds["improved"] + kinds["fixed"],
        **{kind: kinds[kind] for kind in KINDS},
        "removed": removed,
        "score": sum(scenario["score"] or 0.0 for scenario in scenarios) / len(scenarios) if scenarios else None,
        "pass_rate": verdicts["PASS"] / len(scenarios) if scenarios else None,
        "cost_usd": None if None in costs or not costs else sum(costs),
        "latency_p50_s": known[len(known) // 2] if known else None,
        "latency_p95_s": known[-1] if known else None,
        "total_tokens": None if not trials else sum(trial.total_tokens or 0 for trial in trials),
        "checks": {
            outcome: sum(each.outcome == outcome for trial in trials for each in trial.assertions)
            for outcome in ("passed", "failed", "not_evaluable", "skipped", "error")
        },
    }
